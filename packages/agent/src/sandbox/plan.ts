/** What the sandbox of a tab's command consists of, from what this machine has and what the person said. */
import { commandRoot, resolveReal, rootsOf, within } from "../tools/boundary.ts";
import type { FileOperations, SandboxOperations, SandboxStart, ToolOperations } from "../tools/operations.ts";
import { ToolFault } from "../tools/outcome.ts";
import type { ToolPlace } from "../tools/tool.ts";
import { bubblewrapArgs, type SandboxPlan } from "./bubblewrap.ts";
import { type HostRule, parseHostRule } from "./host-list.ts";
import { sandboxLimits } from "./limits.ts";
import { mountsOf, namesOf } from "./mount-table.ts";
import { privatePlaces } from "./private-places.ts";
import { proxyVariables } from "./waiter.ts";

/** How a command of this tab will run, or why it may not. */
export type SandboxVerdict =
  | { readonly kind: "none" }
  | { readonly kind: "sandboxed"; readonly program: string }
  | { readonly kind: "missing"; readonly reason: string }
  | { readonly kind: "refused"; readonly words: string };

export async function sandboxFor({ sandbox }: ToolOperations, place: ToolPlace): Promise<SandboxVerdict> {
  const mode = place.sandbox?.mode ?? "off";
  if (mode === "off") return { kind: "none" };
  const found = (await sandbox?.find()) ?? { available: false, reason: "This server has none." };
  if (found.available) return { kind: "sandboxed", program: found.program };
  if (mode === "on") return { kind: "missing", reason: found.reason };
  return {
    kind: "refused",
    words: `The command was not run: this tab's commands need a sandbox, and there is none. ${found.reason} The person can install it, or set the tab's sandbox to "on" or "off".`,
  };
}

export interface Prepared {
  readonly start: SandboxStart;
  /** In place of what the environment says of these names; null: not to be passed on. */
  readonly variables: Readonly<Record<string, string | null>>;
  /** To be called when the command and all that it left have ended. */
  readonly close: () => void;
}

/** Ways to programs outside, which could do for the command what it may not do itself. */
const waysOut: readonly string[] = [
  ...["SSH_AUTH_SOCK", "SSH_AGENT_PID", "GPG_AGENT_INFO", "DBUS_SESSION_BUS_ADDRESS", "DBUS_SYSTEM_BUS_ADDRESS"],
  ...["XDG_RUNTIME_DIR", "DISPLAY", "WAYLAND_DISPLAY", "DOCKER_HOST", "TMUX", "STY", "KITTY_LISTEN_ON"],
  ...["VSCODE_IPC_HOOK_CLI", "VSCODE_GIT_IPC_HANDLE", "BROWSER"],
];

export async function prepareSandbox(operations: ToolOperations, place: ToolPlace, program: string): Promise<Prepared> {
  const { files, sandbox } = operations;
  if (sandbox === undefined) throw new ToolFault("This server has no sandbox.");
  const hosts = place.sandbox?.network ?? [];
  const open = hosts.includes("*");
  const rules = open ? [] : hosts.map(ruleOf);
  const temporary = await sandbox.temporary(place.tabId);
  const plan = await planFor({ files, sandbox, place }, { temporary, network: open ? "open" : "closed" });
  const proxy = rules.length === 0 ? null : await sandbox.openProxy(rules, temporary);
  const direct = !rules.some(({ name }) => name === "localhost" || name.startsWith("127.") || name === "::1");
  return {
    start: { program, args: bubblewrapArgs(plan), socket: proxy === null ? null : `/tmp/${proxy.name}` },
    variables: {
      ...Object.fromEntries(waysOut.map((name) => [name, null])),
      TMPDIR: "/tmp",
      ...(proxy === null ? {} : proxyVariables(direct)),
    },
    close: () => proxy?.close(),
  };
}

function ruleOf(text: string): HostRule {
  const rule = parseHostRule(text);
  if (rule === null)
    throw new ToolFault(`The tab's network names ${text}, which is no host. The person can change that.`);
  return rule;
}

interface Surroundings {
  readonly files: FileOperations;
  readonly sandbox: SandboxOperations;
  readonly place: ToolPlace;
}

async function planFor(
  { files, sandbox, place }: Surroundings,
  given: Pick<SandboxPlan, "temporary" | "network">,
): Promise<SandboxPlan> {
  const cwd = await commandRoot(files, place);
  const roots = await rootsOf(files, place);
  const mounts = mountsOf(await sandbox.mountTable());
  const { real: home, facts: homeFacts } = await resolveReal(files, place.home);
  // Moved or renamed it could be anywhere, and nothing would hide it.
  if (homeFacts?.kind !== "directory") throw new ToolFault("VARVE_HOME is not in its place: the command was not run.");
  const homes = namesOf(home, mounts);
  if (homes.length > sandboxLimits.namesMax) throw new ToolFault("VARVE_HOME has too many names here to be hidden.");
  const wanted = [...homes, ...privatePlaces.map((path) => `${files.userHome}/${path}`)];
  const present = await Promise.all(wanted.map((path) => resolveReal(files, path)));
  const shells = await Promise.all(["/run", "/var/tmp"].map((path) => resolveReal(files, path)));
  const [run, varTmp] = shells.map(({ real, facts }) => (facts?.kind === "directory" ? [real] : []));
  // Whoever works in a private place was sent there by the person.
  const hidden = present.filter(({ real }) => !roots.includes(real));
  const directories = hidden.flatMap(({ real, facts }) => (facts?.kind === "directory" ? [real] : []));
  const settings = given.network === "open" ? [(await resolveReal(files, "/etc/resolv.conf")).real] : [];
  const other = within("/tmp", given.temporary) ? [] : [given.temporary];
  return {
    ...given,
    cwd,
    writable: roots,
    fresh: (varTmp ?? []).filter((path) => path !== "/tmp"),
    hiddenDirectories: [...new Set([...(run ?? []), ...directories, ...other])],
    hiddenFiles: [...new Set(hidden.flatMap(({ real, facts }) => (facts?.kind === "file" ? [real] : [])))],
    shown: [files.spillFolder(place.tabId), ...settings.filter((path) => within("/run", path))],
  };
}
