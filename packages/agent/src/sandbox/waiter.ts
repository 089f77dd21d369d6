/**
 * What runs inside of the sandbox beside the command: a shell that starts it, tells how it ended, and waits until nothing
 * else is left in there. Pure texts; the file descriptors are agreed upon with the starter.
 *
 * 3 takes words about the command: "up" before it starts, what the shell says of a signal that killed it, its code.
 * 4 is held by the server: when it closes, the server is gone, and the sandbox ends.
 */
import { constants } from "node:os";
import { markVariable } from "../tools/shell-env.ts";

/** Where programs in the sandbox find the way to the hosts that are allowed. It is alone with them on its network. */
export const bridgePort = 39_218;

/**
 * $0 shell, $1 command, $2 mark; for a bridge $3 node, $4 its script, $5 the socket. Process 1 and this shell are there as
 * long as the sandbox is, so more names than those in /proc are what the command left running.
 */
export const waiterScript = [
  "exec 2>&3; own=2",
  'if [ -n "$3" ]; then own=3; exec 5< <(NODE_OPTIONS= exec "$3" -e "$4" "$5" 2>/dev/null 3>&- 4<&-); read -r -u 5 _; fi',
  "echo up >&3",
  `${markVariable}="$2" "$0" -c "$1" 2>&1 3>&- 4<&- 5<&-`,
  'echo "=$?" >&3',
  "while :; do set -- /proc/[0-9]*; [ $# -le $own ] && exit 0; read -r -t 1 -u 4 _; [ $? -le 128 ] && exit 0; done",
].join("\n");

/** A program for node: whatever connects to the port is connected to the socket. */
export const bridgeScript = `
const net = require("net");
const server = net.createServer((near) => {
  const far = net.connect(process.argv[1]);
  const end = () => { near.destroy(); far.destroy(); };
  near.on("error", end).on("close", end);
  far.on("error", end).on("close", end);
  near.pipe(far).pipe(near);
});
server.maxConnections = 256;
server.on("error", () => process.exit(1));
server.listen(${bridgePort}, "127.0.0.1", () => console.log("up"));
`;

/** Variables that lead programs to the bridge. */
export function proxyVariables(direct: boolean): Readonly<Record<string, string>> {
  const url = `http://127.0.0.1:${bridgePort}`;
  const around = direct ? "localhost,127.0.0.1,::1" : "";
  const names = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"];
  const passed: readonly (readonly [string, string])[] = names.map((name) => [name, url]);
  return { ...Object.fromEntries(passed), NO_PROXY: around, no_proxy: around, NODE_USE_ENV_PROXY: "1" };
}

export interface Told {
  /** The command was started. */
  readonly up: boolean;
  /** Null while it runs. */
  readonly exit: { readonly code: number | null; readonly signal: string | null } | null;
}

/** What the words on descriptor 3 say so far. */
export function toldOf(words: string): Told {
  const lines = words.split("\n").slice(0, -1);
  const up = lines.indexOf("up");
  const end = lines.findIndex((line, i) => i > up && /^=\d+$/.test(line));
  if (up === -1 || end === -1) return { up: up !== -1, exit: null };
  const code = Number(lines[end]?.slice(1));
  // A shell tells of most signals in words; of these it does not.
  const silent = ["SIGINT", "SIGPIPE", "SIGTERM"];
  const signal = Object.entries(constants.signals).find(([, number]) => number === code - 128)?.[0];
  const killed = signal !== undefined && (end > up + 1 || silent.includes(signal));
  return { up: true, exit: killed ? { code: null, signal } : { code, signal: null } };
}
