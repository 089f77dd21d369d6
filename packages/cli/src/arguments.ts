/** The command line as one of the commands, or the sentence that says what is wrong with it. */
import { resolve } from "node:path";
import { parseArgs } from "node:util";

export interface StartCommand {
  readonly command: "start";
  readonly host: string;
  readonly port: number;
  readonly home: string;
  readonly allowHosts: readonly string[];
  readonly trustProxies: readonly string[];
  readonly publicUrl: string | undefined;
  readonly importDb: string | undefined;
  readonly open: boolean;
}
export interface SendCommand {
  readonly command: "send";
  readonly home: string;
  /** Null: a new tab. */
  readonly tab: string | null;
  readonly text: string;
  readonly wait: boolean;
  readonly cwd: string;
  readonly model: string | undefined;
  readonly permissions: string | undefined;
}
export interface LedgerCommand {
  readonly command: "ledger";
  /** Absolute. */
  readonly file: string;
  readonly json: boolean;
}
export type TokenCommand = { readonly command: "token"; readonly home: string } & (
  | { readonly act: "list" }
  /** `days`: none means until it is removed. */
  | { readonly act: "add"; readonly name: string; readonly days: number | undefined }
  | { readonly act: "remove"; readonly id: string }
);
export type CommandLine =
  | StartCommand
  | TokenCommand
  | SendCommand
  | { readonly command: "link"; readonly home: string }
  | { readonly command: "tail"; readonly home: string; readonly tab: string; readonly from: number }
  | LedgerCommand
  | { readonly command: "help" }
  | { readonly command: "version" }
  | { readonly command: "wrong"; readonly sentence: string };

interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly userHome: string;
  readonly cwd: string;
}

const defaultPort = 4477;
const defaultHost = "127.0.0.1";
const permissionModes = ["read", "ask", "edits", "allow"];

const common = {
  home: { type: "string" },
  help: { type: "boolean", short: "h" },
  version: { type: "boolean", short: "v" },
} as const;
const flags = {
  start: {
    ...common,
    host: { type: "string" },
    port: { type: "string" },
    "allow-host": { type: "string", multiple: true },
    "trust-proxy": { type: "string", multiple: true },
    "public-url": { type: "string" },
    "import-db": { type: "string" },
    "no-open": { type: "boolean" },
  },
  link: common,
  token: { ...common, days: { type: "string" } },
  send: {
    ...common,
    new: { type: "boolean" },
    wait: { type: "boolean" },
    cwd: { type: "string" },
    model: { type: "string" },
    permissions: { type: "string" },
  },
  tail: { ...common, from: { type: "string" } },
  ledger: { help: common.help, json: { type: "boolean" } },
} as const;

const commandNames = ["link", "token", "send", "tail", "ledger"] as const;

export function parseCommandLine(args: readonly string[], around: Surroundings): CommandLine {
  const [first = ""] = args;
  const named = commandNames.find((name) => name === first) ?? null;
  try {
    switch (named) {
      case "link":
        return linkCommand(args.slice(1), around);
      case "token":
        return tokenCommand(args.slice(1), around);
      case "send":
        return sendCommand(args.slice(1), around);
      case "tail":
        return tailCommand(args.slice(1), around);
      case "ledger":
        return ledgerCommand(args.slice(1), around);
      case null:
        return startCommand(args, around);
    }
  } catch (error) {
    // `parseArgs` says in one sentence which flag it does not know or what it lacks.
    return wrong(
      error instanceof Error ? (error.message.split(". To specify")[0] ?? "") : "The arguments are not understood",
    );
  }
}

const wrong = (sentence: string): CommandLine => ({ command: "wrong", sentence });

function startCommand(args: readonly string[], around: Surroundings): CommandLine {
  const { values, positionals } = parseArgs({ args: [...args], options: flags.start, allowPositionals: true });
  if (values.help) return { command: "help" };
  if (values.version) return { command: "version" };
  if (positionals.length > 0) return wrong(`Unknown command '${positionals[0]}'`);
  const { env } = around;
  const port = parsePort(values.port ?? env.VARVE_PORT);
  if (port === null) return wrong(`'${values.port ?? env.VARVE_PORT}' is not a port: a number from 0 to 65535`);
  return {
    command: "start",
    host: values.host ?? given(env.VARVE_HOST) ?? defaultHost,
    port,
    home: homeOf(values.home, around),
    allowHosts: listed(values["allow-host"], env.VARVE_ALLOW_HOSTS),
    trustProxies: listed(values["trust-proxy"], env.VARVE_TRUST_PROXIES),
    publicUrl: values["public-url"] ?? given(env.VARVE_PUBLIC_URL),
    importDb: values["import-db"] === undefined ? undefined : resolve(around.cwd, values["import-db"]),
    open: values["no-open"] !== true,
  };
}

function linkCommand(args: readonly string[], around: Surroundings): CommandLine {
  const { values } = parseArgs({ args: [...args], options: flags.link });
  return values.help ? { command: "help" } : { command: "link", home: homeOf(values.home, around) };
}

function tokenCommand(args: readonly string[], around: Surroundings): CommandLine {
  const { values, positionals } = parseArgs({ args: [...args], options: flags.token, allowPositionals: true });
  if (values.help) return { command: "help" };
  const [act, subject] = positionals;
  const home = homeOf(values.home, around);
  if (values.days !== undefined && (act !== "add" || !/^[1-9]\d{0,3}$/.test(values.days))) {
    return wrong("--days goes with 'token add' and takes a whole number of days");
  }
  const days = values.days === undefined ? undefined : Number(values.days);
  if (act === "list" && positionals.length === 1) return { command: "token", act, home };
  if (subject !== undefined && positionals.length === 2) {
    if (act === "add") return { command: "token", act, home, name: subject, days };
    if (act === "remove") return { command: "token", act, home, id: subject };
  }
  return wrong("'token' takes 'add NAME', 'list' or 'remove ID'");
}

function sendCommand(args: readonly string[], around: Surroundings): CommandLine {
  const { values, positionals } = parseArgs({ args: [...args], options: flags.send, allowPositionals: true });
  if (values.help) return { command: "help" };
  const fresh = values.new === true;
  const wanted = fresh ? 1 : 2;
  if (positionals.length !== wanted) {
    return wrong(fresh ? "'send --new' takes one text" : "'send' takes a tab (or --new) and one text; quote the text");
  }
  if (!fresh && (values.cwd ?? values.model ?? values.permissions) !== undefined) {
    return wrong("--cwd, --model and --permissions belong to a new tab: use them with --new");
  }
  if (values.permissions !== undefined && !permissionModes.includes(values.permissions)) {
    return wrong(`--permissions is one of ${permissionModes.join(", ")}`);
  }
  return {
    command: "send",
    home: homeOf(values.home, around),
    tab: fresh ? null : (positionals[0] ?? ""),
    text: positionals.at(-1) ?? "",
    wait: values.wait === true,
    cwd: resolve(around.cwd, values.cwd ?? "."),
    model: values.model,
    permissions: values.permissions,
  };
}

function tailCommand(args: readonly string[], around: Surroundings): CommandLine {
  const { values, positionals } = parseArgs({ args: [...args], options: flags.tail, allowPositionals: true });
  if (values.help) return { command: "help" };
  const [tab] = positionals;
  if (tab === undefined || positionals.length > 1) return wrong("'tail' takes one tab");
  const from = values.from ?? "0";
  if (!/^\d{1,15}$/.test(from)) return wrong(`--from takes a seq: a whole number, not '${from}'`);
  return { command: "tail", home: homeOf(values.home, around), tab, from: Number(from) };
}

function ledgerCommand(args: readonly string[], around: Surroundings): CommandLine {
  const { values, positionals } = parseArgs({ args: [...args], options: flags.ledger, allowPositionals: true });
  if (values.help) return { command: "help" };
  const [file] = positionals;
  if (file === undefined || positionals.length > 1) {
    return wrong("'ledger' takes one recording of pi (~/.pi/agent/sessions) or Claude Code (~/.claude/projects)");
  }
  return { command: "ledger", file: resolve(around.cwd, file), json: values.json === true };
}

function homeOf(flag: string | undefined, { env, userHome, cwd }: Surroundings): string {
  return resolve(cwd, flag ?? given(env.VARVE_HOME) ?? resolve(userHome, ".varve"));
}

/** Values of a flag that may be given several times, and of its variable; either may hold several with commas. */
const listed = (flag: readonly string[] | undefined, variable: string | undefined): readonly string[] =>
  [...(flag ?? []), variable ?? ""].flatMap((text) => text.split(",")).flatMap((text) => text.trim() || []);

/** An empty variable counts as unset. */
const given = (text: string | undefined): string | undefined => (text === undefined || text === "" ? undefined : text);

function parsePort(text: string | undefined): number | null {
  if (text === undefined || text === "") return defaultPort;
  if (!/^\d{1,5}$/.test(text)) return null;
  const port = Number(text);
  return port <= 65_535 ? port : null;
}
