/** What a pattern over a program's words can be trusted with: programs whose arguments make them run others are told apart. */
import { gitDemand } from "./git-facts.ts";
import { isLong, isShort, mayBeOption } from "./options.ts";
import { awkDemand, sedDemand } from "./script-facts.ts";
import { type Demand, strictest } from "./shell-part.ts";
import type { ShellWord } from "./shell-word.ts";
import { steersPrograms } from "./variables.ts";

const list = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** Act with another person's rights, or on another machine: asked each time. */
const beyond = list("sudo doas su sudoedit pkexec run0 runuser setpriv ssh scp sftp rsh mosh telnet slogin autossh");

/** Their business is to run something else, or they can be talked into it from inside: only their exact text is allowed. */
const starters = list(`
  env command builtin exec nohup setsid nice ionice time timeout stdbuf xargs eval trap source . alias unalias
  sh bash dash zsh ksh mksh fish csh tcsh busybox toybox watch parallel entr script expect unbuffer screen tmux nsenter
  unshare chroot flock strace ltrace gdb lldb perf valgrind taskset chrt numactl setarch linux32 linux64 prlimit choom
  systemd-run systemd-nspawn firejail bwrap proot fakeroot dbus-run-session dbus-launch xvfb-run faketime start-stop-daemon
  docker podman nerdctl kubectl crictl lxc lxc-attach flatpak snap at batch crontab nix nix-shell nix-build guix direnv
  vi vim nvim view ex ed emacs nano pico joe less more most man info mail mutt lynx w3m ftp lftp gnuplot
  sqlite3 psql mysql mariadb m4 dc socat nc ncat netcat openssl run-parts runcon sg newgrp torsocks proxychains tsocks
  concurrently nodemon onchange chokidar hyperfine doppler op aws-vault dotenv cross-env cross-env-shell npm-run-all mise asdf
`);

/** They change the shell that runs what comes behind them, in ways that no reading follows. */
const shellChangers = list(`
  hash enable set shopt unset bind complete compopt compgen fc getopts mapfile readarray read let history alias unalias local
`);
const declarers = list("export declare typeset readonly local");

/** They fetch a program and run it: a pattern spells its name out. */
const launchers = list("npx pnpx bunx uvx pipx");

/** They run a text; without one they run what comes in. */
const interpreters =
  /^(python|pypy|node|nodejs|deno|bun|tsx|ts-node|perl|ruby|php|lua|luajit|tclsh|julia|Rscript|R|irb|ghci|swift|pwsh|osascript|gawk|psql)[\d.]*$/;

/** What runs no program, whatever its arguments are. */
const harmless = list(": true false echo printf test [ pwd exit return break continue shift wait times");

interface Hazards {
  /** Long options, without dashes; a shortened one counts. */
  readonly long?: readonly string[];
  /** Letters of short options, alone or in a cluster. */
  readonly short?: string;
  /** Any word. */
  readonly word?: RegExp;
  /** The first word. */
  readonly first?: RegExp;
}

/** An act that pnpm does not know is a program that it runs, any of the system's too; an option in front may hide one. */
const pnpmOther =
  /^(?!(add|audit|build|ci|i|install|licenses|list|ls|outdated|rebuild|rb|remove|rm|run|start|t|test|up|update|why)$|$)/;

/** By program: arguments that make it run, load or open what the pattern does not name. */
const hazards: ReadonlyMap<string, Hazards> = new Map<string, Hazards>([
  [
    "tar",
    {
      long: [
        "to-command",
        "checkpoint-action",
        "use-compress-program",
        "rsh-command",
        "info-script",
        "new-volume-script",
        "rmt-command",
        // A line of the list may be an option.
        "files-from",
      ],
      short: "IFT",
      word: /:/,
      // Letters without a dash, for which it looks in the first word only.
      first: /^[^-]*[IFT]/,
    },
  ],
  ["find", { word: /^-(delete|fprint|fprint0|fprintf|fls|files0-from)$/ }],
  ["fd", { long: ["exec", "exec-batch"], short: "xX" }],
  ["fdfind", { long: ["exec", "exec-batch"], short: "xX" }],
  ["rg", { long: ["pre", "hostname-bin", "search-zip"], short: "z" }],
  ["sort", { long: ["compress-program", "output"], short: "o" }],
  ["diff3", { long: ["diff-program"] }],
  ["sdiff", { long: ["diff-program", "output"], short: "o" }],
  ["shuf", { long: ["output"], short: "o" }],
  ["split", { long: ["filter"] }],
  ["rsync", { long: ["rsh", "rsync-path"], short: "e", word: /:/ }],
  ["cpio", { long: ["rsh-command"], short: "FIO" }],
  ["zip", { long: ["unzip-command"], short: "T" }],
  ["wget", { long: ["execute", "use-askpass", "config"], short: "e" }],
  ["curl", { long: ["config"], short: "K" }],
  ["patch", { long: ["ed"], short: "e" }],
  ["make", { long: ["eval", "file", "makefile", "directory", "include-dir"], short: "fCIE", word: /=/ }],
  ["gmake", { long: ["eval", "file", "makefile", "directory", "include-dir"], short: "fCIE", word: /=/ }],
  ["cc", { word: /^(-wrapper|-fplugin|-B|-specs|--specs|@)/ }],
  ["gcc", { word: /^(-wrapper|-fplugin|-B|-specs|--specs|@)/ }],
  ["g++", { word: /^(-wrapper|-fplugin|-B|-specs|--specs|@)/ }],
  ["clang", { word: /^(-fplugin|-load|-B|@)/ }],
  ["go", { word: /^-{1,2}(exec|toolexec|vettool)/ }],
  ["cargo", { long: ["config"], word: /^\+/ }],
  ["tcpdump", { short: "z" }],
  ["npm", nodePackages("exec|x|explore|config|set|edit|init|create|innit")],
  ["pnpm", { ...nodePackages("exec|dlx|create|config|set|env"), first: pnpmOther }],
  ["yarn", nodePackages("exec|dlx|create|config|set|node")],
  ["bun", nodePackages("x|create|init")],
]);

function nodePackages(acts: string): Hazards {
  return {
    long: [
      "script-shell",
      "shell",
      "prefix",
      "userconfig",
      "globalconfig",
      "node-options",
      "git",
      "editor",
      "viewer",
      "browser",
      "call",
      "dir",
      "cwd",
      "config",
    ],
    short: "cC",
    word: new RegExp(`^(${acts})$`),
  };
}

export interface ProgramFacts extends Demand {
  /** How many words a pattern must spell out. */
  readonly named: number;
  /** It may turn out to run anything, when a word of it is not known. */
  readonly runsAny: boolean;
}

/** How clearly a rule must speak that allows this program with these words. */
export function programFacts(words: readonly ShellWord[]): ProgramFacts {
  const [program, ...args] = words;
  const value = program?.value ?? null;
  if (value === null)
    return { needs: "person", why: "its program is not known before it runs", named: 0, runsAny: false };
  const name = value.slice(value.lastIndexOf("/") + 1);
  const bare = value === name;
  const up = value.split("/").includes("..")
    ? [{ needs: "exact", why: "its program's path leads upwards" } as const]
    : [];
  const demand = strictest([...up, ...demands(name, args, bare)]);
  return { ...demand, named: launchers.has(name) ? 2 : 0, runsAny: starters.has(name) || beyond.has(name) };
}

function demands(name: string, args: readonly ShellWord[], bare: boolean): readonly Demand[] {
  if (beyond.has(name)) return [{ needs: "person", why: `${name} is asked each time` }];
  if (declarers.has(name) && bare) return [declared(args)];
  if (shellChangers.has(name) && bare) return [{ needs: "person", why: "it changes the shell that runs what follows" }];
  if (bare && name === "command" && /^-[vV]$/.test(args[0]?.value ?? "")) return [{ needs: "nothing" }];
  if (starters.has(name)) return [starterDemand(name, args)];
  if (name === "git") return [gitDemand(args)];
  if (name === "sed") return [sedDemand(args)];
  if (/^[gmn]?awk$/.test(name)) return [awkDemand(args)];
  if (launchers.has(name) && (args[0] === undefined || args[0].value === null || args[0].sure.startsWith("-"))) {
    return [{ needs: "exact", why: `${name} runs other programs` }];
  }
  if (interpreters.test(name) && isFedProgram(args)) return [{ needs: "person", why: "it runs what it reads" }];
  const known = hazards.get(name);
  if (known !== undefined) return [hazardDemand(known, args)];
  if (harmless.has(name) && bare && !setsVariable(name, args)) return [{ needs: "nothing" }];
  return [{ needs: "rule" }];
}

/** `printf -v` and `wait -p` write a variable, `test -v` evaluates what is in one. */
function setsVariable(name: string, args: readonly ShellWord[]): boolean {
  if (name === "printf")
    return args[0]?.sure.startsWith("-v") === true || (args[0] !== undefined && mayBeOption(args[0]));
  if (name === "wait") return args.some((word) => word.sure.startsWith("-") || mayBeOption(word));
  return /^(test|\[)$/.test(name) && args.some((word) => word.sure.startsWith("-v") || mayBeOption(word));
}

function declared(args: readonly ShellWord[]): Demand {
  for (const { value, sure } of args) {
    const name = /^[A-Za-z_]\w*/.exec(sure)?.[0] ?? "";
    if (value === null || sure.startsWith("-") || name === "" || steersPrograms(name)) {
      return { needs: "person", why: `sets ${name === "" ? "variables" : name} for what follows` };
    }
  }
  return { needs: "exact", why: "sets variables for what follows" };
}

function starterDemand(name: string, args: readonly ShellWord[]): Demand {
  const isShell = /^((ba|da|z|k|mk|fi|tc|c)?sh)$/.test(name);
  const isFile = args.some(({ value }) => value !== null && !value.startsWith("-"));
  const isFed = isShell && (!isFile || args.some(({ sure }) => /^-[a-z]*s/.test(sure)));
  if (isFed && args.every(({ value }) => value !== "--version" && value !== "--help")) {
    return { needs: "person", why: "it runs what it reads" };
  }
  return { needs: "exact", why: `${name} runs other programs` };
}

/** Whether nothing in the words says what an interpreter runs. */
function isFedProgram(args: readonly ShellWord[]): boolean {
  const isFile = ({ value, sure }: ShellWord) =>
    value === null ? sure !== "" && sure[0] !== "-" : /^[^-]/.test(value);
  const isText = ({ sure }: ShellWord) => /^-([a-zA-Z]*[cemprhvV]|-)/.test(sure) && sure !== "--";
  return (
    args.some(({ value }) => value === "-" || value === "/dev/stdin") ||
    !args.some((word) => isFile(word) || isText(word))
  );
}

function hazardDemand({ long = [], short = "", word, first }: Hazards, args: readonly ShellWord[]): Demand {
  if (args.some(mayBeOption)) return { needs: "person", why: "an argument is not known before it runs" };
  const isHazard =
    first?.test(args[0]?.sure ?? "") === true ||
    args.some(({ sure }) => isLong(sure, long) || isShort(sure, short) || word?.test(sure) === true);
  return isHazard
    ? { needs: "exact", why: "its arguments can make it run other programs or write elsewhere" }
    : { needs: "rule" };
}
