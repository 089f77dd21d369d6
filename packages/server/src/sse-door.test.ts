import { type Frame, limits } from "@varve/protocol";
import { createFakeClock } from "@varve/sim";
import { afterEach, describe, expect, test } from "vitest";
import { openSseDoor, parseEventId } from "./sse-door.ts";
import { endsTurn, rowsOf } from "./testing/frames.ts";
import { type House, openHouse } from "./testing/house.ts";
import { Stream } from "./testing/stream.ts";
import type { FrameSink, Workspace } from "./workspace/workspace-contract.ts";

const houses: House[] = [];
afterEach(async () => {
  for (const house of houses.splice(0)) await house[Symbol.asyncDispose]();
});
async function open(): Promise<House> {
  const house = await openHouse({
    script: [{ reply: { blocks: [{ type: "text", text: "hello there" }] }, times: "always" }],
  });
  houses.push(house);
  return house;
}

const follow = async (house: House, tab: string, lastEventId?: string): Promise<Stream> => {
  const host = "127.0.0.1:4477";
  const headers = {
    host,
    authorization: `Bearer ${house.parts.token}`,
    ...(lastEventId !== undefined && { "last-event-id": lastEventId }),
  };
  return new Stream(await house.parts.doors.app.request(`http://${host}/api/tabs/${tab}/events`, { headers }));
};

describe("event streams", () => {
  test("[SSE-1] one frame per data, no event names, a head first", async () => {
    const house = await open();
    const { id } = await house.tab();
    const stream = await follow(house, id);
    await stream.next((frame) => frame.type === "head");
    await house.call("POST", `/api/tabs/${id}/messages`, { id: "m1", text: "hello" });
    await stream.next(endsTurn);
    expect(stream.frames[0]).toMatchObject({ type: "head", mode: "reset", tail: 0 });
    for (const { data, comment } of stream.events) expect((data === null) !== (comment === null)).toBe(true);
    await stream.close();
    expect(house.parts.doors.connections().streams).toBe(0);
    expect(house.parts.workspace.counters().subscriptions).toBe(0);
  });

  test("[SSE-2] an id names the log and the newest row of its frame with that row's own term", async () => {
    const house = await open();
    const { id } = await house.tab();
    const stream = await follow(house, id);
    await house.call("POST", `/api/tabs/${id}/messages`, { id: "m1", text: "hello" });
    await stream.next(endsTurn);
    const withData = stream.events.filter(({ data }) => data !== null);
    for (const [at, frame] of stream.frames.entries()) {
      const last = rowsOf(frame).at(-1);
      const log = "log" in frame ? frame.log : "";
      const empty = frame.type === "head" && frame.tail === 0 ? `${log}:${frame.term}:0` : null;
      expect(withData[at]?.id).toBe(last === undefined ? empty : `${log}:${last.term}:${last.seq}`);
    }
    await stream.close();
  });

  test("[SSE-3] from any id that was ever given, a reader goes on behind that row without a gap or a repeat", async () => {
    const house = await open();
    const { id } = await house.tab();
    const stream = await follow(house, id);
    await house.call("POST", `/api/tabs/${id}/messages`, { id: "m1", text: "hello" });
    await stream.next(endsTurn);
    await stream.close();
    const tail = Math.max(...stream.frames.flatMap(rowsOf).map(({ seq }) => seq));
    for (const { id: eventId } of stream.events) {
      if (eventId === null) continue;
      const again = await follow(house, id, eventId);
      const head = await again.next((frame) => frame.type === "head");
      const from = Number(eventId.split(":")[2]);
      expect(head).toMatchObject({ mode: "append", from, tail });
      const seqs = head === null ? [] : rowsOf(head).map(({ seq }) => seq);
      expect(seqs).toEqual(Array.from({ length: tail - from }, (_, n) => from + n + 1));
      await again.close();
    }
  });

  test("[SSE-3] an id of another log or term begins anew with a reset", async () => {
    const house = await open();
    const { id } = await house.tab();
    await house.call("POST", `/api/tabs/${id}/messages`, { id: "m1", text: "hello" });
    for (const eventId of ["another:1:1", `${(await house.tab()).logId}:1:0`]) {
      const stream = await follow(house, id, eventId);
      expect(await stream.next((frame) => frame.type === "head")).toMatchObject({ mode: "reset" });
      await stream.close();
    }
    expect(parseEventId(null)).toBeNull();
    expect(parseEventId("")).toBeNull();
    expect(parseEventId("log:12:3")).toEqual({ log: "log", term: 12, seq: 3 });
  });

  test("[SSE-7] an id that the log cannot vouch for (another term at its seq, or beyond the end) begins anew, once", async () => {
    const house = await open();
    const { id } = await house.tab();
    const first = await follow(house, id);
    await house.call("POST", `/api/tabs/${id}/messages`, { id: "m1", text: "hello" });
    await first.next(endsTurn);
    await first.close();
    const last = first.events.findLast(({ id: eventId }) => eventId !== null)?.id ?? "";
    const [log = "", term = "", seq = ""] = last.split(":");
    const reset = [
      `${log}:${Number(term) - 1}:${seq}`,
      `${log}:${Number(term) + 1}:${seq}`,
      `${log}:${term}:${Number(seq) + 1}`,
      `${log}:${term}:999999999999999`,
    ];
    for (const eventId of reset) {
      const stream = await follow(house, id, eventId);
      const head = await stream.next((frame) => frame.type === "head");
      expect(head, eventId).toMatchObject({ mode: "reset", tail: Number(seq) });
      expect(head === null ? [] : rowsOf(head).map((row) => row.seq)).toEqual(
        Array.from({ length: Number(seq) }, (_, at) => at + 1),
      );
      await stream.close();
    }
    // Nothing was ever had of this log: every row is new, whatever the term.
    const fresh = await follow(house, id, `${log}:1:0`);
    expect(await fresh.next((frame) => frame.type === "head")).toMatchObject({ mode: "append", from: 0 });
    await fresh.close();
  });

  test("[SSE-7] an id of the log that a tab was pointed away from begins anew in the other", async () => {
    const house = await open();
    const { id, logId } = await house.tab();
    const first = await follow(house, id);
    await house.call("POST", `/api/tabs/${id}/messages`, { id: "m2", text: "hello" });
    await first.next(endsTurn);
    await first.close();
    const last = first.events.findLast(({ id: eventId }) => eventId !== null)?.id ?? "";
    await house.call("POST", `/api/tabs/${id}/clear`, {});
    const moved = await follow(house, id, last);
    const head = await moved.next((frame) => frame.type === "head");
    expect(head).toMatchObject({ mode: "reset", tail: 0, rows: [] });
    expect(head?.type === "head" && head.log !== logId).toBe(true);
    await moved.close();
    await house.call("POST", `/api/tabs/${id}/log`, { logId });
    const back = await follow(house, id, last);
    expect(await back.next((frame) => frame.type === "head")).toMatchObject({ mode: "append", log: logId, rows: [] });
    await back.close();
  });

  test("[SSE-4] a comment every fifteen seconds; a purged tab and a server that ends say bye", async () => {
    const house = await open();
    const { id } = await house.tab();
    const clock = createFakeClock();
    const door = openSseDoor({ workspace: house.parts.workspace, clock });
    const openOne = async (tab: string) => {
      const answer = await door.open({
        tab: tab as typeof id,
        lastEventId: null,
        holder: null,
        stillHolds: () => true,
        cut: () => undefined,
      });
      if (!(answer instanceof Response)) throw new Error(answer.message);
      return new Stream(answer);
    };
    const [first, second] = [await openOne(id), await openOne((await house.tab()).id)];
    const comments = () => first.events.filter(({ comment }) => comment !== null).length;
    while (comments() < 1) await first.read();
    await clock.advance(limits.pingIntervalMs);
    while (comments() < 2) await first.read();
    await house.call("DELETE", `/api/tabs/${id}`);
    await house.call("DELETE", `/api/tabs/${id}`);
    await clock.advance(limits.pingIntervalMs);
    expect(await first.next((frame) => frame.type === "bye")).toMatchObject({ code: "unknown-tab" });
    expect(await first.read()).toBe(false);
    expect(door.count()).toBe(1);
    door.close();
    expect(await second.next((frame) => frame.type === "bye")).toMatchObject({ code: "shutting-down" });
    expect(await second.read()).toBe(false);
    expect(clock.pending()).toBe(0);
  });

  test("[SSE-5] what a reader has not taken is counted, and one that takes nothing is cut off", async () => {
    const house = await open();
    const { id } = await house.tab();
    const sinks: FrameSink[] = [];
    let drained = 0;
    const subscribe: Workspace["subscribe"] = async (_command, sink) => {
      sinks.push(sink);
      return { focus: () => undefined, flush: () => undefined, drained: () => void drained++, close: () => undefined };
    };
    const workspace = Object.create(house.parts.workspace, {
      subscribe: { value: subscribe },
      get: { value: () => null },
    });
    let cuts = 0;
    const door = openSseDoor({ workspace, clock: createFakeClock() });
    const answer = await door.open({
      tab: id,
      lastEventId: null,
      holder: null,
      stillHolds: () => true,
      cut: () => void cuts++,
    });
    const [sink] = sinks;
    if (!(answer instanceof Response) || sink === undefined) throw new Error("no stream");
    const stream = new Stream(answer);
    await stream.read();
    expect(sink.buffered()).toBe(0);
    const frame: Frame = { type: "ping", ts: 1 };
    for (let n = 0; n < 100; n++) sink.send(frame);
    expect(sink.buffered()).toBe(100 * `data: ${JSON.stringify(frame)}\n\n`.length);
    drained = 0;
    while (stream.frames.length < 100) await stream.read();
    expect(sink.buffered()).toBe(0);
    expect(drained).toBe(1);
    sink.send(frame);
    sink.closeSlow();
    expect(cuts).toBe(1);
    expect(sink.buffered()).toBe(0);
    expect(await stream.read()).toBe(false);
    expect(door.count()).toBe(0);
  });
});
