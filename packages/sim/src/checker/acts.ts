/** Which acts are possible in a state. What carries things on stands first: it is what settles a world. */
import { canPage, type PageSide, type Told } from "./driver.ts";
import { alphabet } from "./owner.ts";
import type { Act, Budgeted, Line, Setting, Verb, World } from "./world.ts";

const openMax = 2;
const sides: readonly (readonly [Verb, PageSide])[] = [
  ["older", "older"],
  ["newer", "newer"],
  ["to-end", "end"],
];

/** Acts that only carry on what was begun. */
const carrying: ReadonlySet<Verb> = new Set<Verb>([
  "closed",
  "connect",
  "command",
  "frame",
  "attach",
  "serve-page",
  "take-page",
  "verify",
]);
export const carries = (act: Act): boolean => carrying.has(act.do);

export function actsOf(world: World, setting: Setting): readonly Act[] {
  const left = (verb: Budgeted): boolean => (world.budget[verb] ?? 0) > 0;
  const acts: Act[] = [];
  for (const [client, line] of world.lines.entries()) {
    for (const verb of carryingActs(line)) acts.push({ do: verb, client });
  }
  for (const [client, line] of world.lines.entries()) {
    for (const verb of networkActs(line, setting, left)) acts.push({ do: verb, client });
    for (const act of personActs(line, setting, left)) acts.push({ ...act, client });
  }
  return [...acts, ...ownerActs(world, left)];
}

function carryingActs(line: Line): readonly Verb[] {
  const { client } = line;
  const verbs: Verb[] = [];
  if (line.down.length > 0) verbs.push("frame");
  if (line.said.length > 0) verbs.push("command");
  if (line.served && line.client.sub.kind === "live" && !line.attached) verbs.push("attach");
  if (client.page !== null) verbs.push(client.page.answer === null ? "serve-page" : "take-page");
  if (client.unsure.length > 0) verbs.push("verify");
  if (line.up && !line.served && line.down.length === 0) verbs.push("closed");
  if (!line.up) verbs.push("connect");
  return verbs;
}

type Left = (verb: Budgeted) => boolean;

function networkActs(line: Line, { scope }: Setting, left: Left): readonly Verb[] {
  const verbs: Verb[] = [];
  if (line.up && left("cut")) verbs.push("cut");
  if (scope.lateFrames === true && line.lateDown.length > 0) verbs.push("late-frame");
  if (scope.lateCommands === true && line.lateSaid.length > 0) verbs.push("late-command");
  if (line.copies.length > 0) verbs.push("copy");
  const [first, second] = line.down;
  if (first !== undefined && left("again")) verbs.push("again");
  if (first !== undefined && second !== undefined && canSwap(first, second) && left("swap")) verbs.push("swap");
  const merges = first?.frame.type === "ops" && second?.frame.type === "ops";
  if (merges && left("merge")) verbs.push("merge");
  return verbs;
}

/** A head that answers a subscription keeps its place: what follows it on a connection never comes before it. */
const canSwap = (first: Told, second: Told): boolean =>
  ![first, second].some(({ frame }) => frame.type === "head" && frame.re !== undefined);

function personActs(line: Line, { off }: Setting, left: Left): readonly Act[] {
  const { client } = line;
  const { view } = client;
  const acts: Act[] = [];
  if (left("send")) acts.push({ do: "send" });
  const isSubscribed = client.sub.kind !== "off";
  for (let on = 0; on < view.state.queue.size; on++) {
    if (isSubscribed && left("cancel")) acts.push({ do: "cancel", on });
    if (isSubscribed && left("edit")) acts.push({ do: "edit", on });
  }
  if (left("reload")) acts.push({ do: "reload" });
  if (left("page")) for (const [verb, side] of sides) if (canPage(client, side)) acts.push({ do: verb });
  if (view.attached && view.reading === "older") acts.push({ do: "bottom" });
  const hasLive = view.outbox.pending.length + view.state.queue.size > 0;
  if (off === "live-rows-stay" && hasLive && left("evict")) acts.push({ do: "evict" });
  return acts;
}

function ownerActs(world: World, left: Left): readonly Act[] {
  const { owner } = world;
  const isRunning = owner.status.state === "running";
  const acts: Act[] = [];
  if (left("remote-send")) acts.push({ do: "remote-send" });
  for (let on = 0; on < owner.queue.length; on++) {
    if (left("remote-cancel")) acts.push({ do: "remote-cancel", on });
    if (left("remote-edit")) acts.push({ do: "remote-edit", on });
  }
  if (isRunning && owner.queue.length > 0) acts.push({ do: "consume" });
  if (isRunning && left("end")) acts.push({ do: "end" });
  if (isRunning && left("open") && owner.open.length < openMax) acts.push({ do: "open" });
  for (const [on, { text }] of owner.open.entries()) {
    if (left("grow") && text.length < alphabet.length) acts.push({ do: "grow", on });
    acts.push({ do: "seal", on });
    if (left("drop")) acts.push({ do: "drop", on });
  }
  for (const verb of ["crash", "retake", "backup"] as const) if (left(verb)) acts.push({ do: verb });
  if (left("clear") && !isRunning) acts.push({ do: "clear" });
  if (left("back") && !isRunning && owner.former !== null) acts.push({ do: "back" });
  if (world.backup !== null)
    for (const verb of ["restore", "set-back"] as const) if (left(verb)) acts.push({ do: verb });
  return acts;
}
