import { describe, expect, test } from "vitest";
import { bubblewrapArgs, type SandboxPlan } from "./bubblewrap.ts";

const plan: SandboxPlan = {
  writable: ["/home/me/work"],
  temporary: "/tmp/varve-x",
  fresh: ["/var/tmp"],
  hiddenDirectories: ["/run", "/home/me/.varve"],
  hiddenFiles: ["/home/me/.netrc"],
  shown: ["/home/me/.varve/output/tab"],
  network: "closed",
  cwd: "/home/me/work",
};

/** What stands at a path at the end, as `bwrap` would do it: the last mount on it or on what holds it. */
function seenAt(args: readonly string[], path: string): string {
  const starts = ["--ro-bind", "--ro-bind-try", "--bind", "--tmpfs", "--dev", "--proc"];
  let seen = "";
  for (const [i, arg] of args.entries()) {
    if (!starts.includes(arg)) continue;
    const point = args[arg.includes("bind") ? i + 2 : i + 1] ?? "";
    if (point === "/" || path === point || path.startsWith(`${point}/`)) seen = `${arg} ${point}`;
  }
  return seen;
}

describe("the arguments of a sandbox", () => {
  test("[TOOL-121] what holds a hidden place below a writable one is a mount, up to but not into what is hidden", () => {
    const hidden = ["/home/me/work/a/b/state", "/home/me/work/a/b/state/x/y", "/home/me/other/z"];
    const args = bubblewrapArgs({ ...plan, hiddenDirectories: hidden, hiddenFiles: ["/home/me/work/c/.netrc"] });
    const bound = args.flatMap((arg, i) => (arg === "--bind" ? [args[i + 2]] : [])).sort();
    expect(bound).toEqual(["/home/me/work", "/home/me/work/a", "/home/me/work/a/b", "/home/me/work/c", "/tmp"]);
    expect(seenAt(args, "/home/me/work/a/b/state/x/z")).toBe("--tmpfs /home/me/work/a/b/state");
  });

  test.each([
    ["/etc/passwd", "--ro-bind /"],
    ["/home/me", "--ro-bind /"],
    ["/home/me/work/src", "--bind /home/me/work"],
    ["/home/me/.varve/token", "--tmpfs /home/me/.varve"],
    ["/home/me/.varve/output/tab/x.txt", "--ro-bind-try /home/me/.varve/output/tab"],
    ["/home/me/.varve/output/other/x.txt", "--tmpfs /home/me/.varve"],
    ["/home/me/.netrc", "--ro-bind /home/me/.netrc"],
    ["/run/docker.sock", "--tmpfs /run"],
    ["/tmp/x", "--bind /tmp"],
    ["/var/tmp/x", "--tmpfs /var/tmp"],
    ["/proc/1/environ", "--proc /proc"],
    ["/dev/sda", "--dev /dev"],
  ])("[TOOL-120] at %s stands %s", (path, seen) => {
    expect(seenAt(bubblewrapArgs(plan), path)).toBe(seen);
  });

  test.each([
    ["a workspace that holds the home", { writable: ["/home/me"] }, "/home/me/.varve/token", "--tmpfs /home/me/.varve"],
    ["a workspace that holds all", { writable: ["/"] }, "/home/me/.varve/token", "--tmpfs /home/me/.varve"],
    ["a workspace that holds all", { writable: ["/"] }, "/run/x.sock", "--tmpfs /run"],
    ["a workspace that holds all", { writable: ["/"] }, "/srv/x", "--bind /"],
    ["a workspace below /tmp", { writable: ["/tmp/a/ws"] }, "/tmp/a/ws/f", "--bind /tmp/a/ws"],
    ["a workspace in a hidden place", { writable: ["/run/me/ws"] }, "/run/me/ws/f", "--bind /run/me/ws"],
  ])("[TOOL-120] %s: what is hidden stays hidden (%j, %s)", (_, change, path, seen) => {
    expect(seenAt(bubblewrapArgs({ ...plan, ...change }), path)).toBe(seen);
  });

  test("[TOOL-120] what is hidden is sealed after everything is mounted", () => {
    const args = bubblewrapArgs(plan);
    for (const path of plan.hiddenDirectories) {
      const sealed = args.findIndex((arg, i) => arg === "--remount-ro" && args[i + 1] === path);
      expect(sealed).toBeGreaterThan(Math.max(args.lastIndexOf("--tmpfs"), args.lastIndexOf("--ro-bind-try")));
    }
  });

  test.each([
    ["closed", true],
    ["open", false],
  ] as const)("[TOOL-123] network %s", (network, alone) => {
    expect(bubblewrapArgs({ ...plan, network }).includes("--unshare-net")).toBe(alone);
  });

  test("[TOOL-122] processes and capabilities are its own, and it ends with what started it", () => {
    const args = bubblewrapArgs(plan);
    for (const arg of ["--unshare-pid", "--unshare-ipc", "--die-with-parent", "--new-session"]) {
      expect(args).toContain(arg);
    }
    expect(args[args.indexOf("--cap-drop") + 1]).toBe("ALL");
  });
});
