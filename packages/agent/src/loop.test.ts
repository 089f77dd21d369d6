import { memoryLog, verifyRows } from "@varve/log";
import { fault } from "@varve/protocol";
import { createFakeClock, createFakeIds, settle } from "@varve/sim";
import { describe, expect, test } from "vitest";
import type { TurnLimits } from "./limits.ts";
import type { Decide } from "./permission/decide-contract.ts";
import { type FakeTool, fakeToolBox, ok } from "./testing/fake-tools.ts";
import type { Answer } from "./testing/script-model.ts";
import { call, finish, say, scriptModel } from "./testing/script-model.ts";
import { startTab, wordsOf } from "./testing/world.ts";
import { isKind } from "./turn-rows.ts";

const echo: FakeTool = { name: "echo", run: () => ok("done") };

async function world(
  answers: readonly Answer[],
  options: {
    readonly tools?: readonly FakeTool[];
    readonly decide?: Decide;
    readonly limits?: Partial<TurnLimits>;
    readonly unknownModel?: boolean;
  } = {},
) {
  const clock = createFakeClock();
  const model = scriptModel(clock, answers);
  const tools = fakeToolBox(options.tools ?? [echo]);
  const log = memoryLog();
  const unknown = async () => fault("unknown-model", "There is no such model.");
  const models = options.unknownModel === true ? { ...model.models, resolve: unknown } : model.models;
  const tab = await startTab({ ...options, log, clock, ids: createFakeIds(), tools, models });
  return { clock, model, tools, tab, log, requests: model.requests };
}

const echoed = (id: string): Answer => [call(id, "echo", {}), finish("tool-calls")];

describe("a turn", () => {
  test("[LOOP-1] runs step by step from its rows to a turn-end", async () => {
    const { tab, requests } = await world([
      [...say("Looking."), call("A", "echo", {}), finish("tool-calls")],
      [...say("Fine."), finish()],
    ]);
    await tab.send("go");
    await tab.idle();
    expect(wordsOf(tab.rows)).toEqual([
      "user:go",
      "text:Looking.",
      "call:A",
      "result:A=done",
      "text:Fine.",
      "end:done",
    ]);
    expect(requests).toHaveLength(2);
    expect(verifyRows(tab.rows)).toEqual([]);
  });

  test("[LOOP-1] each step has its request row in front and its usage row behind", async () => {
    const { tab } = await world([echoed("A"), [...say("x"), finish()]]);
    await tab.send("go");
    await tab.idle();
    const kinds = wordsOf(tab.rows, { all: true });
    expect(kinds).toEqual([
      "prefix",
      "model-changed",
      "user:go",
      "request",
      "call:A",
      "usage",
      "result:A=done",
      "request",
      "text:x",
      "usage",
      "end:done",
    ]);
    expect(tab.rows.map((row) => row.step)).toEqual([0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1]);
  });

  test("[LOOP-18] each request extends the one before it, and carries the frozen system and tools", async () => {
    const { tab, requests } = await world([echoed("A"), echoed("B"), [...say("x"), finish()], [...say("y"), finish()]]);
    await tab.send("go");
    await tab.idle();
    await tab.send("more");
    await tab.idle();
    const bodies = requests.map(({ prompt }) =>
      JSON.stringify(prompt.map(({ role, content }) => [role, content])).slice(0, -1),
    );
    for (const [index, body] of bodies.entries())
      if (index > 0) expect(body.startsWith(bodies[index - 1] ?? "-")).toBe(true);
    expect(requests.map(({ tools }) => tools?.map((tool) => tool.name))).toEqual([
      ["echo"],
      ["echo"],
      ["echo"],
      ["echo"],
    ]);
  });

  test("[LOOP-19] an answer without a word ends the turn with a notice", async () => {
    const { tab } = await world([[finish()]]);
    await tab.send("go");
    await tab.idle();
    expect(wordsOf(tab.rows)).toEqual(["user:go", "notice:empty-answer", "end:done"]);
  });

  test("[LOOP-19] a model that is not there fails the turn in words", async () => {
    const { tab } = await world([], { unknownModel: true });
    await tab.send("go");
    await tab.idle();
    expect(wordsOf(tab.rows)).toEqual(["user:go", "error:unknown-model", "end:error"]);
  });
});

test("[LOOP-20] thinking that the provider left out is told", async () => {
  const dropped = [{ type: "drop_block", path: "messages.1.content.0", reason: "prefix_mismatch" }];
  const end = { ...finish(), providerMetadata: { anthropic: { inputTransformations: dropped } } };
  const { tab } = await world([[...say("fine"), end]]);
  await tab.send("go");
  await tab.idle();
  expect(wordsOf(tab.rows)).toEqual(["user:go", "text:fine", "notice:thinking-dropped", "end:done"]);
});

describe("steers", () => {
  test("[LOOP-10] H01 a message sent in the middle stands behind the step's results", async () => {
    let sent: Promise<unknown> = Promise.resolve();
    const { tab, requests } = await world([echoed("A"), [...say("ok"), finish()]], {
      tools: [
        {
          name: "echo",
          run: async () => {
            sent = tab.send("use vitest", "steer");
            await sent;
            return ok("done");
          },
        },
      ],
    });
    await tab.send("go");
    await tab.idle();
    expect(wordsOf(tab.rows)).toEqual(["user:go", "call:A", "result:A=done", "user:use vitest", "text:ok", "end:done"]);
    expect(tab.rows.find((row) => row.type === "text" && row.data.text === "use vitest")).toMatchObject({ step: 0 });
    expect(requests).toHaveLength(2);
  });

  test("[LOOP-10] one that comes during an answer without calls begins the next turn", async () => {
    const { tab } = await world([
      [
        { type: "text-start", id: "t" },
        { type: "text-delta", id: "t", delta: "a" },
        { type: "text-end", id: "t" },
        finish(),
      ],
      [...say("b"), finish()],
    ]);
    await tab.send("go");
    await tab.until(() => tab.open.size > 0);
    await tab.send("and this", "steer");
    await tab.idle();
    expect(wordsOf(tab.rows)).toEqual(["user:go", "text:a", "end:done", "user:and this", "text:b", "end:done"]);
  });

  test("[LOOP-10] a queued message waits for the end of the turn, and goes alone", async () => {
    const { tab } = await world(
      [echoed("A"), [...say("a"), finish()], [...say("b"), finish()], [...say("c"), finish()]],
      {
        tools: [
          {
            name: "echo",
            run: async () => {
              await tab.send("q1", "queue");
              await tab.send("q2", "queue");
              return ok("done");
            },
          },
        ],
      },
    );
    await tab.send("go");
    await tab.idle();
    expect(wordsOf(tab.rows).filter((word) => !word.startsWith("call") && !word.startsWith("result"))).toEqual([
      "user:go",
      "text:a",
      "end:done",
      "user:q1",
      "text:b",
      "end:done",
      "user:q2",
      "text:c",
      "end:done",
    ]);
  });
});

describe("calls", () => {
  test("[LOOP-3] H02 results are sealed as they complete, and go out in call order", async () => {
    let release: () => void = () => undefined;
    const slow: FakeTool = {
      name: "slow",
      run: () =>
        new Promise((resolve) => {
          release = () => resolve(ok("a"));
        }),
    };
    const quick: FakeTool = { name: "quick", run: () => ok("b") };
    const { tab, requests } = await world(
      [
        [call("A", "slow", {}), call("B", "quick", {}), finish("tool-calls")],
        [...say("x"), finish()],
      ],
      { tools: [slow, quick] },
    );
    await tab.send("go");
    await tab.until(() => tab.rows.some((row) => row.type === "tool_result"));
    release();
    await tab.idle();
    expect(wordsOf(tab.rows).slice(1, 5)).toEqual(["call:A", "call:B", "result:B=b", "result:A=a"]);
    const results = requests[1]?.prompt.findLast((message) => message.role === "tool");
    expect(results?.content.map((part) => "toolCallId" in part && part.toolCallId)).toEqual(["A", "B"]);
  });

  test("[LOOP-4] a call that cannot be prepared yet waits for what earlier calls of its step write", async () => {
    const files = new Set<string>();
    const write: FakeTool = {
      name: "write",
      lock: () => "a.txt",
      run: async () => {
        await settle();
        files.add("a.txt");
        return ok("written");
      },
    };
    const edit: FakeTool = {
      name: "edit",
      lock: () => "a.txt",
      error: () => (files.has("a.txt") ? undefined : "there is no file a.txt"),
      run: () => ok("edited"),
    };
    const step = [call("A", "write", {}), call("B", "edit", {}), call("C", "edit", {}), finish("tool-calls")];
    const { tab } = await world([step, [...say("."), finish()]], { tools: [edit, write] });
    await tab.send("go");
    await tab.idle();
    expect(wordsOf(tab.rows).filter((word) => word.startsWith("result"))).toEqual([
      "result:A=written",
      "result:B=edited",
      "result:C=edited",
    ]);
  });

  test("[LOOP-4] calls with one lock run one after another in call order, and prepare again", async () => {
    const order: string[] = [];
    const write: FakeTool = {
      name: "write",
      lock: (args) => String(args.path),
      run: async (_run, args) => {
        order.push(`begin ${args.n}`);
        await settle();
        order.push(`end ${args.n}`);
        return ok("w");
      },
    };
    const args = (n: number, path: string) => ({ n, path });
    const { tab, tools } = await world(
      [
        [
          call("A", "write", args(1, "x")),
          call("B", "write", args(2, "y")),
          call("C", "write", args(3, "x")),
          finish("tool-calls"),
        ],
        [...say("."), finish()],
      ],
      { tools: [write] },
    );
    await tab.send("go");
    await tab.idle();
    expect(order.indexOf("begin 3")).toBeGreaterThan(order.indexOf("end 1"));
    expect(order.indexOf("begin 2")).toBeLessThan(order.indexOf("end 1"));
    expect(tools.prepared.filter((word) => word.includes('"n":3'))).toHaveLength(2);
    expect(tools.prepared.filter((word) => word.includes('"n":1'))).toHaveLength(1);
  });

  test.each<[string, string, string, readonly FakeTool[]]>([
    ["an unknown tool", "nope", "{}", [echo]],
    ["arguments that are no object", "echo", '{"a":', [echo]],
    ["arguments that the tool refuses", "echo", "{}", [{ ...echo, error: () => "path is missing" }]],
    ["a tool that throws", "echo", "{}", [{ name: "echo", run: () => Promise.reject(new Error("boom")) }]],
  ])("[LOOP-3] %s: the call gets an error result and the turn goes on", async (_name, tool, args, tools) => {
    const { tab } = await world(
      [
        [call("A", tool, args), finish("tool-calls")],
        [...say("sorry"), finish()],
      ],
      { tools },
    );
    await tab.send("go");
    await tab.idle();
    const words = wordsOf(tab.rows);
    expect(words[2]).toMatch(/^result!:A=.+/);
    expect(words.slice(3)).toEqual(["text:sorry", "end:done"]);
  });

  test("[LOOP-3] H06 a call whose arguments were cut by the length limit is told so and nothing runs", async () => {
    const ran: string[] = [];
    const bash: FakeTool = {
      name: "bash",
      run: (run) => {
        ran.push(run.callId);
        return ok("ran");
      },
    };
    const { tab } = await world(
      [
        [call("A", "bash", '{"command":"rm -rf /tmp/a'), finish("length")],
        [...say("again"), finish()],
      ],
      { tools: [bash] },
    );
    await tab.send("go");
    await tab.idle();
    expect(ran).toEqual([]);
    expect(wordsOf(tab.rows)[2]).toMatch(/^result!:A=arguments incomplete/);
    const written = tab.rows.find((row) => row.type === "tool_call");
    expect(written?.data).toMatchObject({ arguments: { _invalid: '{"command":"rm -rf /tmp/a' } });
  });

  test("[LOOP-3] an empty result is written as words, an over-long one is cut, and both are well-formed", async () => {
    const tools: readonly FakeTool[] = [
      { name: "empty", run: () => ok(" \n") },
      { name: "long", run: () => ok(`${"x".repeat(99)}😀`) },
    ];
    const { tab } = await world(
      [
        [call("A", "empty", {}), call("B", "long", {}), finish("tool-calls")],
        [...say("."), finish()],
      ],
      { tools, limits: { resultCharsMax: 100 } },
    );
    await tab.send("go");
    await tab.idle();
    const results = tab.rows.flatMap((row) => (row.type === "tool_result" ? [row.data.result] : []));
    expect(results.toSorted()).toEqual(["(no output)", "x".repeat(99)].toSorted());
  });

  test("[LOOP-15] pictures and whole outputs are kept as blobs before the result names them", async () => {
    const bytes = new Uint8Array([1, 2, 3]);
    const shot: FakeTool = {
      name: "shot",
      run: () => ({
        text: "a picture",
        isError: false,
        images: [{ bytes, mediaType: "image/png" }],
        spill: { bytes: new Uint8Array([4]), mediaType: "text/plain" },
        details: { summary: "one" },
      }),
    };
    const { tab, log, requests } = await world(
      [
        [call("A", "shot", {}), finish("tool-calls")],
        [...say("."), finish()],
      ],
      { tools: [shot] },
    );
    await tab.send("go");
    await tab.idle();
    const row = tab.rows.find((one) => one.type === "tool_result");
    const data = row?.type === "tool_result" ? row.data : expect.fail("a result");
    expect(data).toMatchObject({ images: [{ mediaType: "image/png" }], details: { summary: "one" } });
    const [image] = data.images ?? [];
    expect((await log.blobs.get(image?.blob ?? expect.fail("a picture")))?.bytes).toEqual(bytes);
    expect((await log.blobs.get(data.spill ?? expect.fail("a spill")))?.bytes).toEqual(new Uint8Array([4]));
    expect(JSON.stringify(requests[1]?.prompt)).toContain("AQID");
  });
});

describe("limits", () => {
  test("[LOOP-12] a turn that never ends by itself comes to a question", async () => {
    const { tab, requests } = await world(
      Array.from({ length: 9 }, (_, index) => echoed(`c${index}`)),
      { limits: { stepsMax: 3 } },
    );
    await tab.send("go");
    await tab.until(() => tab.questions().length > 0);
    expect(requests).toHaveLength(3);
    expect(wordsOf(tab.rows).at(-1)).toBe("result:c2=done");
  });

  test("[LOOP-13] an answer cut by the length limit goes on behind a visible continue, a limited number of times", async () => {
    const cut = (text: string): Answer => [...say(text), finish("length")];
    const { tab } = await world([cut("a"), cut("b"), cut("c")], { limits: { continuesMax: 2 } });
    await tab.send("go");
    await tab.idle();
    expect(wordsOf(tab.rows)).toEqual([
      "user:go",
      "text:a",
      "user:continue",
      "text:b",
      "user:continue",
      "text:c",
      "notice:length-limit",
      "end:done",
    ]);
  });

  test("[LOOP-13] one that had no room for a word is not continued", async () => {
    const { tab } = await world([[finish("length")]]);
    await tab.send("go");
    await tab.idle();
    expect(wordsOf(tab.rows)).toEqual(["user:go", "notice:length-limit", "end:done"]);
  });

  test("[LOOP-14] what a refused answer had begun is voided, and an error says what to do", async () => {
    const { tab, requests } = await world([
      [...say("I can"), finish("content-filter")],
      [...say("hello"), finish()],
    ]);
    await tab.send("go");
    await tab.idle();
    expect(wordsOf(tab.rows)).toEqual(["user:go", "text:I can", "void:0", "error:provider-refused", "end:error"]);
    await tab.send("hi");
    await tab.idle();
    expect(JSON.stringify(requests[1]?.prompt)).not.toContain("I can");
  });
});

describe("faults of ours", () => {
  test("[LOOP-17] a mistake in the middle ends the turn with its evidence, and the tab lives on", async () => {
    let broken = true;
    const decide: Decide = () => {
      if (broken) throw new Error("no rules");
      return { decision: "allow" };
    };
    const { tab } = await world([echoed("A"), [...say("fine"), finish()]], { decide });
    await tab.send("go");
    await tab.idle();
    expect(wordsOf(tab.rows).slice(-3)).toEqual([
      expect.stringMatching(/^result!:A=not run/),
      "error:internal",
      "end:error",
    ]);
    broken = false;
    await tab.send("again");
    await tab.idle();
    expect(wordsOf(tab.rows).slice(-2)).toEqual(["text:fine", "end:done"]);
  });

  test("[LOOP-16] when the owner is gone the loop stops at once and writes nothing", async () => {
    const { tab, log } = await world([echoed("A"), [...say("x"), finish()]], {
      tools: [
        {
          name: "echo",
          run: () => {
            tab.kill();
            return ok("done");
          },
        },
      ],
    });
    await tab.send("go");
    await settle();
    await settle();
    const page = await log.page({ logId: (await log.tabs())[0]?.logId ?? expect.fail("a tab"), limit: 100 });
    const rows = "rows" in page ? page.rows : expect.fail("a page");
    expect(rows.some((row) => isKind(row, "turn-end") || row.type === "tool_result")).toBe(false);
  });
});
