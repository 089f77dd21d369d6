/**
 * Files of a workspace whose change makes something else happen later, without anybody choosing to run the project: hooks,
 * what a shell, an editor, a package manager or a build service reads by itself, and what tells the next agent what to do.
 * Writing one counts as running, so that mode `edits` asks. Sources, tests and scripts of the project are not among them:
 * whoever runs those means to run what stands there now.
 */

/** Anywhere in the path. */
const folders = new Set([
  ...[
    ".git",
    ".varve",
    ".husky",
    ".githooks",
    ".lefthook",
    ".github",
    ".gitea",
    ".forgejo",
    ".gitlab",
    ".circleci",
    ".buildkite",
  ],
  ...[
    ".vscode",
    ".idea",
    ".zed",
    ".devcontainer",
    ".direnv",
    ".claude",
    ".cursor",
    ".codex",
    ".gemini",
    ".yarn",
    ".cargo",
  ],
]);
/** As the last name. */
const files = new Set([
  ...["agents.md", "agents.override.md", "claude.md", "claude.local.md", "gemini.md", ".cursorrules", ".mcp.json"],
  ...[
    ".envrc",
    ".bashrc",
    ".bash_profile",
    ".bash_aliases",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".inputrc",
    ".gdbinit",
    ".lldbinit",
  ],
  ...[".gitmodules", ".gitattributes", ".gitconfig", ".pre-commit-config.yaml", ".pre-commit-config.yml"],
  ...["lefthook.yml", "lefthook.yaml", ".lefthook.yml", ".overcommit.yml", ".huskyrc", ".lintstagedrc"],
  ...[".npmrc", ".pnpmfile.cjs", ".yarnrc", ".yarnrc.yml", ".exrc", ".nvimrc", ".vimrc", ".nvim.lua", ".dir-locals.el"],
  ...[".gitlab-ci.yml", ".travis.yml", "jenkinsfile", "azure-pipelines.yml", "bitbucket-pipelines.yml", ".drone.yml"],
  ...[
    "appveyor.yml",
    ".appveyor.yml",
    ".woodpecker.yml",
    "cloudbuild.yaml",
    ".mise.toml",
    "mise.toml",
    ".tool-versions",
  ],
  ...["sitecustomize.py", "usercustomize.py"],
]);

/** Whether a file by these names, from its root on, is one of those. Names are compared as file systems without case do. */
export function runsLater(names: readonly string[]): boolean {
  const plain = names.map((name) => name.toLowerCase());
  const last = plain.at(-1) ?? "";
  return plain.some((name) => folders.has(name)) || files.has(last) || /\.code-workspace$|\.pth$/.test(last);
}
