/** A command moved to the background by the real tools, through the real doors. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { endsTurn, rowsOf } from "./testing/frames.ts";
import { type House, openHouse } from "./testing/house.ts";
import { Stream } from "./testing/stream.ts";

const command = "echo up; while [ ! -e go ]; do sleep .05; done; echo more > told";
let house: House;
beforeAll(async () => {
  house = await openHouse({
    script: [
      { blocks: [{ type: "tool_use", id: "c1", name: "bash", input: { command } }] },
      { blocks: [{ type: "text", text: "heard" }] },
    ],
  });
});
afterAll(() => house[Symbol.asyncDispose]());

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("[HTTP-31] a command that runs goes on as a job, and the steer that waited for it is answered", async () => {
  const { id } = await house.tab({ permissions: "allow", model: "openai-compatible/test-model" });
  const host = "127.0.0.1:4477";
  const headers = { host, authorization: `Bearer ${house.parts.token}` };
  const stream = new Stream(await house.parts.doors.app.request(`http://${host}/api/tabs/${id}/events`, { headers }));
  await house.call("POST", `/api/tabs/${id}/messages`, { id: "m1", text: "go" });
  await stream.next(
    (frame) => frame.type === "ops" && frame.ops.some((op) => op.op === "chunk-delta" && op.text.includes("up")),
  );
  await house.call("POST", `/api/tabs/${id}/messages`, { id: "s1", text: "hurry" });
  const move = () => house.call("POST", `/api/tabs/${id}/background`, { callId: "c1" });
  expect(await move()).toMatchObject({ status: 200, json: { moved: true } });
  await stream.next(endsTurn);
  const rows = stream.frames.flatMap(rowsOf);
  const said = rows.flatMap((row) => {
    if (row.type === "text") return [row.data.text];
    return row.type === "tool_result" ? [row.data.result] : [];
  });
  expect(said).toEqual(["go", "up\n⟨moved to the background; continues as job 1⟩", "hurry", "heard"]);
  expect(rows.find((row) => row.type === "tool_result")?.data).toMatchObject({ isError: false, details: { job: "1" } });
  expect(await move()).toMatchObject({ json: { moved: false } });
  expect(existsSync(join(house.project, "told"))).toBe(false);
  writeFileSync(join(house.project, "go"), "");
  while (!existsSync(join(house.project, "told"))) await nextTurn();
  await stream.close();
});
