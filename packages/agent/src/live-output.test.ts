import { memoryLog } from "@varve/log";
import { limits } from "@varve/protocol";
import { createFakeClock, createFakeIds } from "@varve/sim";
import { expect, test } from "vitest";
import { fakeToolBox, ok } from "./testing/fake-tools.ts";
import { call, finish, say, scriptModel } from "./testing/script-model.ts";
import { startTab, wordsOf } from "./testing/world.ts";
import type { ToolRun } from "./tools/tool.ts";

/** A turn whose one tool stands still until the test lets it end. */
async function running() {
  const clock = createFakeClock();
  const model = scriptModel(clock, [
    [call("A", "bash", {}), finish("tool-calls")],
    [...say("fine"), finish()],
  ]);
  let begun: (run: ToolRun) => void = () => undefined;
  let end: (text: string) => void = () => undefined;
  const run = new Promise<ToolRun>((resolve) => {
    begun = resolve;
  });
  const tools = fakeToolBox([
    {
      name: "bash",
      run: (tool) => {
        begun(tool);
        return new Promise((resolve) => {
          end = (text) => resolve(ok(text));
        });
      },
    },
  ]);
  const tab = await startTab({ log: memoryLog(), clock, ids: createFakeIds(), tools, models: model.models });
  await tab.send("go");
  return { tab, clock, tool: await run, end: (text: string) => end(text) };
}

test("[LOOP-15] output is an open block of the call, and the result is sealed under its id", async () => {
  const { tab, tool, end } = await running();
  tool.output("one\n");
  tool.output("two\n");
  const [[id, open] = expect.fail("an open block")] = [...tab.open];
  expect(open).toMatchObject({
    text: "one\ntwo\n",
    block: { role: "tool", type: "tool_result", callId: "A", step: 0 },
  });
  end("one\ntwo");
  await tab.idle();
  expect(tab.rows.find((row) => row.id === id)).toMatchObject({ type: "tool_result", data: { result: "one\ntwo" } });
});

test("[LOOP-15] past the live limit only the register moves: total bytes and the end, four times a second", async () => {
  const { tab, clock, tool, end } = await running();
  tool.output("x".repeat(limits.liveOutputCharsMax - 1));
  await clock.advance(1_000);
  expect(tab.outputs.size).toBe(0);
  for (let line = 0; line < 100; line++) tool.output(`é${line}\n`);
  expect([...tab.open.values()][0]?.text.length).toBe(limits.liveOutputCharsMax);
  expect(tab.outputs.size).toBe(0);
  await clock.advance(limits.outputIntervalMs);
  const output = tab.outputs.get("A") ?? expect.fail("a register");
  const rest = Array.from({ length: 100 }, (_, line) => `é${line}\n`).join("");
  expect(output.bytes).toBe(limits.liveOutputCharsMax - 1 + Buffer.byteLength(rest));
  expect(output.tail).toHaveLength(limits.outputTailChars);
  expect(output.tail.endsWith(rest)).toBe(true);
  end("done");
  await tab.idle();
  expect(clock.pending()).toBe(0);
});

test("[LOOP-15] a tool without output opens nothing, and words after its end are ignored", async () => {
  const { tab, tool, end } = await running();
  end("quiet");
  await tab.idle();
  tool.output("late");
  expect(tab.opened).toHaveLength(1);
  expect(tab.open.size).toBe(0);
  expect(wordsOf(tab.rows)).toContain("result:A=quiet");
});
