/**
 * Places below the user's home that hold keys, passwords or what was typed: hidden from sandboxed commands, which have no
 * use for them and could carry them to a host that they may reach. Settings without keys and tools installed for the user
 * stay readable.
 */
export const privatePlaces: readonly string[] = [
  ...[".ssh", ".gnupg", ".password-store", ".local/share/keyrings", ".pki", ".local/share/kwalletd"],
  ...[
    ".netrc",
    "_netrc",
    ".git-credentials",
    ".config/git/credentials",
    ".config/gh",
    ".config/hub",
    ".config/glab-cli",
  ],
  ...[".aws", ".azure", ".config/gcloud", ".config/doctl", ".oci", ".boto", ".s3cfg", ".config/rclone", ".terraform.d"],
  ...[".kube", ".docker", ".config/containers/auth.json", ".vault-token", ".config/op", ".config/sops", ".fly"],
  ...[".npmrc", ".yarnrc.yml", ".pypirc", ".gem/credentials", ".cargo/credentials", ".cargo/credentials.toml"],
  ...[".m2/settings.xml", ".gradle/gradle.properties", ".composer/auth.json", ".config/composer/auth.json"],
  ...[
    ".nuget/NuGet/NuGet.Config",
    ".pgpass",
    ".my.cnf",
    ".mylogin.cnf",
    ".config/heroku",
    ".netlify",
    ".config/netlify",
  ],
  ...[
    ".mozilla",
    ".thunderbird",
    ".config/google-chrome",
    ".config/chromium",
    ".config/BraveSoftware",
    ".config/Bitwarden",
  ],
  ...[".bash_history", ".zsh_history", ".local/share/fish/fish_history", ".python_history", ".node_repl_history"],
  ...[".psql_history", ".mysql_history", ".sqlite_history", ".lesshst", ".viminfo"],
  ...[".claude", ".claude.json", ".codex", ".gemini", ".config/opencode", ".local/share/opencode", ".pi"],
];
