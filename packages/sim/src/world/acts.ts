/** The acts of a plan, carried out on a world as it is then. One that makes no sense there does nothing. */
import type { TabSnapshot } from "@varve/client";
import { type ChunkId, type Delivery, isFault, type PermissionMode, parseChunkId, type TabId } from "@varve/protocol";
import type { Device, Page } from "./page.ts";
import type { Act, Step } from "./plan.ts";
import type { World } from "./world.ts";

const deliveries = ["steer", "steer", "steer", "queue", "queue", "stop"] as const satisfies readonly Delivery[];

/** What an act finds: the tab in question, and a page that shows it. */
interface Scene {
  readonly world: World;
  readonly device: Device;
  readonly page: Page;
  readonly tab: TabId;
  readonly snapshot: TabSnapshot;
  readonly pick: number;
}

type PageAct = (scene: Scene) => unknown;

export function perform(world: World, step: Step): void {
  const fault = faults[step.act];
  const device = world.devices[step.who % world.devices.length];
  if (fault !== undefined) fault(world, step);
  else if (step.act === "open-page") device?.open();
  else if (step.act === "close-page") closePage(world, device);
  else if (device !== undefined) onPage(world, device, step);
}

function onPage(world: World, device: Device, step: Step): void {
  const { page } = device;
  if (page === null) return;
  const tab = device.tabs[step.tab % Math.max(1, device.tabs.length)];
  const shown = tab === undefined ? undefined : page.shown.get(tab);
  if (tab === undefined || shown === undefined) return;
  const snapshot = shown.handle.snapshot();
  void acts[step.act]?.({ world, device, page, tab, snapshot, pick: step.pick });
}

/** What had not reached the store of the device and was not taken by the server is lost with the page, as with any program. */
function closePage(world: World, device: Device | undefined): void {
  if (device === undefined || device.page === null) return;
  device.close();
  for (const { id, kept } of device.own.values()) {
    if (!kept && !world.disk.truth.inbox.has(id)) device.own.delete(id);
  }
}

const handleOf = ({ page, tab }: Scene) => page.shown.get(tab)?.handle;

/** One of the waiting messages. */
function waiting({ snapshot, pick }: Scene): ChunkId | undefined {
  return snapshot.queue[pick % Math.max(1, snapshot.queue.length)]?.id;
}

const onWaiting =
  (act: (scene: Scene, id: ChunkId) => unknown): PageAct =>
  (scene) => {
    const id = waiting(scene);
    return id === undefined ? undefined : act(scene, id);
  };

const acts: Partial<Readonly<Record<Act, PageAct>>> = {
  send: ({ page, tab, pick, device }) =>
    page.send(tab, `${device.name} says ${pick}`, deliveries[pick % deliveries.length] ?? "steer"),
  edit: onWaiting((scene, id) => handleOf(scene)?.edit(id, `edited ${scene.pick}`)),
  delivery: onWaiting((scene, id) => handleOf(scene)?.setDelivery(id, deliveries[scene.pick % 6] ?? "steer")),
  hold: onWaiting((scene, id) => handleOf(scene)?.hold(id)),
  release: onWaiting((scene, id) => handleOf(scene)?.release(id)),
  move: onWaiting((scene, id) => {
    const before = scene.snapshot.queue[Math.floor(scene.pick / 7) % (scene.snapshot.queue.length + 1)]?.id ?? null;
    return before === id ? undefined : handleOf(scene)?.move(id, before);
  }),
  cancel: onWaiting((scene, id) => handleOf(scene)?.cancel(id)),
  // As the page does: what is not shown to run is not stopped.
  stop: (scene) => (scene.snapshot.status.turnId === null ? undefined : handleOf(scene)?.stop()),
  "stop-call": (scene) => {
    const calls = openCalls(scene.snapshot);
    const callId = calls[scene.pick % Math.max(1, calls.length)];
    return callId === undefined ? undefined : handleOf(scene)?.stop(callId);
  },
  background: (scene) => {
    const calls = openCalls(scene.snapshot);
    const callId = calls[scene.pick % Math.max(1, calls.length)];
    return callId === undefined ? undefined : handleOf(scene)?.background(callId);
  },
  "check-sync": (scene) => handleOf(scene)?.checkSync(),
  answer: (scene) => answerOne(scene),
  resend: (scene) => {
    const { lost, pending } = scene.snapshot;
    const again = [...lost, ...pending.filter((entry) => entry.state === "refused")];
    const entry = again[scene.pick % Math.max(1, again.length)];
    return entry === undefined ? undefined : handleOf(scene)?.resend(entry.id);
  },
  older: (scene) => handleOf(scene)?.pageOlder(),
  newer: (scene) => handleOf(scene)?.pageNewer(),
  "to-end": (scene) => handleOf(scene)?.toEnd(),
  focus: (scene) => handleOf(scene)?.focus(scene.pick % 2 === 0),
  seen: (scene) => handleOf(scene)?.seen(scene.snapshot.window.hi),
  probe: ({ page }) => page.client.probe(),
  fork: async ({ world, device, tab, pick }) => {
    const seq = 1 + (pick % Math.max(1, world.disk.truth.tabs.get(tab)?.tail ?? 0));
    if (world.disk.truth.tabs.size >= 6) return;
    const made = await world.ask(async (workspace) => {
      const forked = await workspace.fork(tab, seq);
      // A model of its own tells its requests apart from those of the tab that it came from.
      if (!isFault(forked)) await workspace.patch(forked.id, { model: `sim/${forked.id}` });
      return forked;
    });
    if (made === null || isFault(made)) return;
    world.tabs.push(made.id);
    device.show(made.id);
  },
  clear: ({ world, tab }) => world.ask((workspace) => workspace.clear(tab)),
  "cut-and-resend": ({ world, tab, snapshot, pick, device }) => {
    const own = snapshot.rows.filter((row) => row.role === "user" && row.type === "text" && row.by !== undefined);
    const row = own[pick % Math.max(1, own.length)];
    const id = parseChunkId(`${device.name}r${world.queue.count}`);
    if (row === undefined || id === null) return;
    return world.ask((workspace) => workspace.resend(tab, { seq: row.seq, id, text: `instead ${pick}` }, device.name));
  },
  "point-back": ({ world, tab, pick }) =>
    world.ask(async (workspace) => {
      const logs = await workspace.logs(tab);
      const log = isFault(logs) ? undefined : logs[pick % Math.max(1, logs.length)];
      return log === undefined ? null : workspace.pointTo(tab, log.id);
    }),
  trash: ({ world, tab }) => world.ask((workspace) => workspace.patch(tab, { trashed: true })),
  "restore-tab": ({ world, tab }) => world.ask((workspace) => workspace.patch(tab, { trashed: false })),
  mode: ({ world, tab, pick }) => {
    const permissions: PermissionMode = pick % 2 === 0 ? "ask" : "allow";
    return world.ask((workspace) => workspace.patch(tab, { permissions }));
  },
};

function openCalls({ rows, status }: TabSnapshot): readonly string[] {
  if (status.turnId === null) return [];
  const results = new Set(rows.flatMap((row) => (row.type === "tool_result" ? [row.data.callId] : [])));
  return rows.flatMap((row) =>
    row.type === "tool_call" && row.turnId === status.turnId && !results.has(row.data.callId) ? [row.data.callId] : [],
  );
}

/** Answers one of the questions that are shown; two devices may answer the same one. */
export function answerOne(scene: Pick<Scene, "page" | "tab" | "snapshot" | "pick">): unknown {
  const { waits } = scene.snapshot.status;
  const wait = waits[scene.pick % Math.max(1, waits.length)];
  const handle = scene.page.shown.get(scene.tab)?.handle;
  if (wait === undefined || handle === undefined) return undefined;
  switch (wait.kind) {
    case "permission": {
      const verdict = (["once", "once", "tab", "deny"] as const)[scene.pick % 4] ?? "once";
      return handle.answer(wait.askId, { verdict });
    }
    case "ask":
      return handle.answer(wait.askId, { text: `answer ${scene.pick}` });
    case "limit":
      return handle.answer(wait.askId, { choice: scene.pick % 2 === 0 ? "go-on" : "stop" });
  }
}

const losses = ["nothing", "nothing", "the last write", "all"] as const;

const faults: Partial<Readonly<Record<Act, (world: World, step: Step) => void>>> = {
  cut: (world, { pick }) => linkOf(world, pick)?.cut(),
  "half-open-up": (world, { pick }) => linkOf(world, pick)?.halfOpen("up"),
  "half-open-down": (world, { pick }) => linkOf(world, pick)?.halfOpen("down"),
  again: (world, { pick }) => linkOf(world, pick)?.again(),
  slow: (world, { pick }) => {
    const link = linkOf(world, pick);
    if (link !== undefined) link.slowUntil = world.queue.now + (pick % 4_000);
  },
  crash: (world, { pick }) => world.crash({ downMs: pick % 3_000, loses: losses[pick % 4] ?? "nothing" }),
  "crash-at-write": (world, { pick }) => {
    world.disk.atWrite = {
      left: 1 + (pick % 5),
      when: pick % 3 === 0 ? "before" : "after",
      strike: () => world.crash({ downMs: pick % 2_000, loses: losses[pick % 4] ?? "nothing" }),
    };
  },
  restart: (world, { pick }) => world.restart(pick % 2_000),
  "disk-full": (world, { pick }) => {
    world.disk.fullUntil = world.queue.now + (pick % 4_000);
  },
  "answer-lost": (world, { pick }) => {
    world.disk.answersToLose = 1 + (pick % 2);
  },
  unreadable: (world, { pick }) => {
    world.disk.unreadableUntil = world.queue.now + (pick % 1_500);
  },
  "back-up": (world) => world.disk.backUp(),
  restore: (world, { pick }) => void world.restore(pick % 2_000, pick % 2 === 0).catch(world.broke),
  "clock-jump": (world, { who, pick }) => {
    const device = world.devices[who % (world.devices.length + 1)];
    const skew = device?.skew ?? world.skew;
    skew.ms += ((pick % 200) - 100) * 10_000;
  },
};

function linkOf(world: World, pick: number) {
  const links = [...world.network.links].filter((link) => link.open);
  return links[pick % Math.max(1, links.length)];
}
