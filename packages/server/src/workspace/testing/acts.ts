/** What tests of the workspace do and look at again and again. */
import { isFault, type LogId } from "@varve/protocol";
import type { ScriptItem } from "@varve/sim";
import type { Rig } from "./rig.ts";

export const says = (text: string): ScriptItem => ({ blocks: [{ type: "text", text }] });
export const calls = (name: string, ...ids: readonly string[]): ScriptItem => ({
  blocks: ids.map((id) => ({ type: "tool_use" as const, id, name, input: {} })),
});
export const works = (...ids: readonly string[]): ScriptItem => calls("work", ...ids);

export const send = (rig: Rig, id: string, text: string, delivery?: "steer" | "queue" | "stop") =>
  rig.workspace.send(rig.tab, { id: rig.id(id), text, ...(delivery && { delivery }) }, "test");

export const stateOf = (rig: Rig): string => {
  const record = rig.workspace.get(rig.tab);
  return isFault(record) ? record.code : record.state;
};
export const idle = (rig: Rig) => (): boolean => stateOf(rig) === "idle";
export const toolRuns = (rig: Rig): Promise<void> => rig.until("the tool runs", () => rig.works.size > 0);

export const logOf = (rig: Rig): LogId => {
  const record = rig.workspace.get(rig.tab);
  if (isFault(record)) throw new Error(record.message);
  return record.logId;
};

export const queueOf = async (rig: Rig): Promise<readonly string[]> => {
  const head = await rig.workspace.head(rig.tab);
  return isFault(head) ? [] : head.queue.map(({ id, state, text }) => `${id}:${state}:${text}`);
};
export const texts = async (rig: Rig): Promise<readonly string[]> =>
  (await rig.rows()).flatMap((row) => (row.type === "text" ? [`${row.role}:${row.data.text}`] : []));
export const ends = async (rig: Rig): Promise<readonly string[]> =>
  (await rig.rows()).flatMap((row) => (row.type === "system" && row.data.kind === "turn-end" ? [row.data.reason] : []));

/** The id of the question that the tab waits for, once it does. */
export const question = async (rig: Rig) => {
  await rig.until("it asks", () => stateOf(rig) === "waiting");
  const head = await rig.workspace.head(rig.tab);
  const wait = isFault(head) ? undefined : head.status.waits[0];
  if (wait === undefined) throw new Error("no question");
  return wait.askId;
};
