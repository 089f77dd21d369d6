/** What the bytes of a body must hold, through the real adapters. */
import { describe, expect, test } from "vitest";
import { makePrefixData } from "./prefix.ts";
import { modelScopeOf, wireTarget } from "./profile.ts";
import { anthropic } from "./profiles/anthropic.ts";
import {
  anthropicBody,
  anthropicModel,
  bodyBlocks,
  capture,
  compatibleModel,
  isPrefix,
  requestFor,
  wireMessages,
} from "./testing/capture.ts";
import { pixel, toCompatible, toMistral } from "./testing/folded.ts";
import { blobHash, C, E, K, logOf, N, P, R, RE, RI, T, testTools, U, UA } from "./testing/rows.ts";

const at = (step: number) => ({ step });
const t2 = { turn: "t2" };
const t3 = { turn: "t3" };
const image = { blob: blobHash("a"), mediaType: "image/png" };
const countOf = (text: string, what: string) => text.split(what).length - 1;
const threeSteps = logOf(
  P({ tools: testTools }),
  U("a"),
  K("s1"),
  T("t"),
  C("c1"),
  R("c1"),
  C("c2", "{}", at(1)),
  R("c2", "ok", at(1)),
  T("end", at(2)),
  U("b", t2),
);

describe("bodies", () => {
  test("[WIRE-1] B1: messages without breakpoints are a pure extension in bytes", async () => {
    const [second, third] = await Promise.all([6, 8].map((end) => anthropicBody(threeSteps.slice(0, end))));
    if (second === undefined || third === undefined) throw new Error("two bodies were asked for");
    expect(isPrefix(bodyBlocks(second), bodyBlocks(third))).toBe(true);
    const bytes = JSON.stringify(wireMessages(second));
    expect(JSON.stringify(wireMessages(third)).startsWith(bytes.slice(0, -1))).toBe(true);
  });

  test("[WIRE-4] B2: an early steer and a late one give equal bodies", async () => {
    const before = logOf(P(), U("a"), C("c1"), C("c2"), U("stop that"), R("c2"), RE("c1", "no"));
    const after = logOf(P(), U("a"), C("c1"), C("c2"), RE("c1", "no"), R("c2"), U("stop that"));
    expect((await anthropicBody(before)).text).toBe((await anthropicBody(after)).text);
  });

  test("[WIRE-24] B3: a streamed body and a plain one differ in `stream` alone", async () => {
    const request = requestFor(threeSteps);
    const streamed = await capture(request, anthropicModel("model-a"));
    const plain = await capture(request, anthropicModel("model-a"), "generate");
    const { stream, ...rest } = streamed.body;
    expect(stream).toBe(true);
    expect(JSON.stringify(rest)).toBe(plain.text);
  });

  test("[WIRE-24] B4: a ping differs from the last body in `max_tokens` and `stream` alone", async () => {
    const request = requestFor(threeSteps);
    const sent = await capture(request, anthropicModel("model-a"));
    const ping = { messages: request.messages, options: { ...request.options, maxOutputTokens: 0 } };
    const pinged = await capture(ping, anthropicModel("model-a"), "generate");
    const { stream: _, max_tokens: limit, ...rest } = sent.body;
    const { max_tokens: none, ...pingRest } = pinged.body;
    expect([limit, none]).toEqual([16_384, 0]);
    expect(JSON.stringify(pingRest)).toBe(JSON.stringify(rest));
  });

  test("[WIRE-22] B5: never more than four breakpoints, one in the last message", async () => {
    const ids = Array.from({ length: 25 }, (_, index) => `c${index}`);
    const rows = logOf(
      P(),
      U("a"),
      C("x"),
      R("x"),
      ...ids.map((id) => C(id, "{}", at(1))),
      ...ids.map((id) => R(id, "ok", at(1))),
    );
    const { text, body } = await anthropicBody(rows);
    expect(countOf(text, '"cache_control"')).toBe(4);
    expect(JSON.stringify(body.messages.at(-1))).toContain('"cache_control"');
  });

  test("[WIRE-24] B6: the set of betas is the same before and after the first file and note", async () => {
    const pdf = { blob: blobHash("b"), mediaType: "application/pdf", name: "a.pdf" };
    const rows = logOf(P({ tools: testTools }), U("a"), T("t"), N("note", t2), UA("see", [pdf], t2));
    const betas = async (end: number) => (await anthropicBody(rows.slice(0, end))).headers.get("anthropic-beta");
    const sorted = (text: string | null) => text?.split(",").sort();
    expect(sorted(await betas(2))).toEqual(sorted(await betas(5)));
  });

  test("[WIRE-23] B7: tools stand in the order of the snapshot, also names like integers", async () => {
    const named = ["z", "2", "10", "1"].map((name) => ({ name, description: "d", inputSchema: { type: "object" } }));
    const { body } = await anthropicBody(logOf(P({ tools: named }), U("a")));
    expect(body.tools?.map((tool) => tool.name)).toEqual(["1", "10", "2", "z"]);
    const chat = await capture(
      requestFor(logOf(P({ tools: named }), U("a")), { target: toCompatible }),
      compatibleModel("m"),
    );
    expect(chat.body.tools?.map((tool) => tool.function?.name)).toEqual(["1", "10", "2", "z"]);
  });

  test("[WIRE-2] B12: the first thing of every prompt is the system prompt", async () => {
    const rows = logOf(P(), N("in front"), U("a"), N("behind"), T("t"), U("b", t2));
    for (const end of [2, 3, 4, 6]) {
      const { body } = await anthropicBody(rows.slice(0, end));
      expect(body.system?.map((block) => block.text)).toEqual(["SYS"]);
    }
  });

  test("[WIRE-23] B13: a tool changed in code leaves the body of an old log as it was", async () => {
    const rows = logOf(P({ tools: testTools }), U("a"));
    const before = (await anthropicBody(rows)).text;
    const changed = testTools.map((tool) => ({ ...tool, description: "Changed in code." }));
    expect(makePrefixData({ system: ["SYS"], tools: changed }).hash).not.toBe(
      makePrefixData({ system: ["SYS"], tools: testTools }).hash,
    );
    const reopened = logOf(P({ tools: testTools }), U("a"));
    expect((await anthropicBody(reopened)).text).toBe(before);
    expect(before).not.toContain("Changed in code.");
  });

  test("[WIRE-16] B19: to another model and back, the first model's body is extended", async () => {
    const a = wireTarget(anthropic, "claude-opus-4-8");
    const b = wireTarget(anthropic, "claude-opus-4-7");
    const scopes = [modelScopeOf(anthropic, a.model), modelScopeOf(anthropic, b.model)] as const;
    const rows = logOf(
      P(),
      U("a"),
      K("sA", { scope: scopes[0] }),
      T("one"),
      U("b", t2),
      K("sB", { ...t2, scope: scopes[1] }),
      T("two", t2),
      U("c", t3),
    );
    const first = await anthropicBody(rows.slice(0, 5), { target: a });
    const other = await anthropicBody(rows.slice(0, 5), { target: b });
    const again = await anthropicBody(rows, { target: a });
    expect(isPrefix(bodyBlocks(first), bodyBlocks(again))).toBe(true);
    expect(first.text).toContain("sA");
    expect(other.text).not.toContain("sA");
    expect(again.text).not.toContain("sB");
  });

  test("[WIRE-15] B22: half an emoji in an old row leaves as U+FFFD", async () => {
    const rows = logOf(P(), U("a \ud83d"), T("b \ud83d"), C("c1", '{"p":"\\ud83d"}'), R("c1", "x\ud83d"));
    const { text, body } = await anthropicBody(rows);
    expect(text.isWellFormed()).toBe(true);
    expect(text).not.toMatch(/\\ud83d/i);
    expect(JSON.stringify(body)).toContain('"p":"\ufffd"');
  });

  test("[WIRE-21] images of a result stand in it, or behind the tool message", async () => {
    const rows = logOf(P(), U("a"), C("c1", "{}", { name: "read" }), RI("c1", "shown", [image]), U("q"));
    const inside = wireMessages(await anthropicBody(rows));
    const source = { type: "base64", media_type: "image/png", data: pixel };
    expect(inside).toMatchObject([
      {},
      {},
      {
        content: [
          {
            type: "tool_result",
            content: [
              { type: "text", text: "shown" },
              { type: "image", source },
            ],
          },
          { type: "text", text: "q" },
        ],
      },
    ]);
    const { body } = await capture(requestFor(rows, { target: toCompatible }), compatibleModel("m"));
    expect(body.messages.slice(3)).toMatchObject([
      { role: "tool", content: "shown" },
      { role: "user", content: [{ text: "[images from the result of read]" }, { type: "image_url" }] },
      { role: "user", content: "q" },
    ]);
  });

  test("[WIRE-21] an attachment makes one message with the text: text, then images", async () => {
    const rows = logOf(
      P(),
      UA("look", [{ ...image, name: "a.png" }]),
      E(),
      UA("  ", [{ ...image, name: "b.png" }], t2),
    );
    expect(wireMessages(await anthropicBody(rows))).toMatchObject([
      { role: "user", content: [{ type: "text", text: "look" }, { type: "image" }, { type: "image" }] },
    ]);
  });

  test("[WIRE-21] files that a provider would refuse become constant texts", async () => {
    const files = ["application/pdf", "application/zip", "text/plain"].map((mediaType, index) => ({
      blob: blobHash(String(index)),
      mediaType,
      name: `f${index}`,
    }));
    const rows = logOf(P(), UA("see", files));
    const { body } = await capture(requestFor(rows, { target: toCompatible }), compatibleModel("m"));
    expect(JSON.stringify(body.messages[1])).toContain("[attachment f0 (application/pdf) can't be sent to this model]");
    const native = await anthropicBody(rows);
    expect(native.text).toContain('"type":"document"');
    expect(native.text).toContain("[attachment f1 (application/zip) can't be sent to this model]");
  });

  test("[WIRE-12] arguments that touch the prototype arrive as one object at both providers", async () => {
    const args = '{"__proto__":{"x":1},"a":{"constructor":{"prototype":2}}}';
    const rows = logOf(P(), U("a"), C("c1", args), R("c1"));
    expect((await anthropicBody(rows)).text).toContain(`"input":${args}`);
    const { text } = await capture(requestFor(rows, { target: toCompatible }), compatibleModel("m"));
    expect(text).toContain(`"arguments":${JSON.stringify(args)}`);
  });

  test("[WIRE-12] integers beyond 2^53 stay verbatim where texts pass", async () => {
    const args = '{"id":12345678901234567890,"x":1.0}';
    const rows = logOf(P(), U("a"), C("c1", args), R("c1"));
    const { text } = await capture(requestFor(rows, { target: toCompatible }), compatibleModel("m"));
    expect(text).toContain(`"arguments":${JSON.stringify(args)}`);
  });

  test("[WIRE-20] a strict template gets one system message and alternating sides", async () => {
    const rows = logOf(P({ system: ["ONE", "TWO"] }), N("n"), U("a"), C("c1"), R("c1"), U("b"));
    const { body } = await capture(requestFor(rows, { target: toMistral }), compatibleModel("m"));
    expect(body.messages.map(({ role }) => role).join(" ")).toBe(
      "system user assistant user assistant tool assistant user",
    );
    expect(body.messages[0]?.content).toBe("ONE\n\nTWO");
  });

  test.each([
    ["claude-opus-5-5", "high"],
    ["claude-sonnet-5-5", "default"],
    ["claude-haiku-5-5", "low"],
    ["claude-fable-5-1", "medium"],
    ["claude-opus-4-8", "high"],
    ["claude-sonnet-4-6", "default"],
    ["claude-haiku-4-5", "high"],
    ["claude-3-5-haiku-latest", "high"],
    ["some-local-model", "high"],
  ] as const)("[WIRE-25] the adapter rewrites nothing for %s at effort %s", async (model, effort) => {
    const rows = logOf(P({ tools: testTools }), U("a"));
    const target = wireTarget(anthropic, model);
    const { body } = await capture(requestFor(rows, { target, effort }), anthropicModel(model));
    expect(body.max_tokens).toBeGreaterThan(0);
  });
});
