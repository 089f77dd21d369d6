import { describe, expect, test } from "vitest";
import type { JsonObject } from "../json.ts";
import { createFakeProvider } from "./fake-provider.ts";
import { createSignatures } from "./signatures.ts";

const text = (words: string, more: object = {}) => ({ type: "text", text: words, ...more });
const user = (words: string) => ({ role: "user", content: [text(words)] });
const thinking = (words: string, signature: string) => ({ type: "thinking", thinking: words, signature });
const first = { model: "m", system: "SYS", tools: [{ name: "a" }], messages: [user("go")] };

/** A history with two bound blocks: one in each of two answers. */
function history() {
  const signatures = createSignatures({ acceptForeign: false });
  const s1 = signatures.issue(first, [], "one");
  const answer1 = { role: "assistant", content: [thinking("one", s1), text("A1")] };
  const second = { ...first, messages: [...first.messages, answer1, user("more")] };
  const s2 = signatures.issue(second, [text("A2")], "two");
  const answer2 = { role: "assistant", content: [text("A2"), thinking("two", s2), text("A3")] };
  const third = { ...first, messages: [...second.messages, answer2, user("last")] };
  return { signatures, third, answer1, answer2 };
}

describe("bound thinking", () => {
  const { signatures, third, answer1, answer2 } = history();
  const withMessages = (...messages: readonly unknown[]): JsonObject => ({ ...third, messages });
  const bare1 = { role: "assistant", content: [text("A1")] };

  test.each<[string, JsonObject]>([
    ["the same history", third],
    ["a longer one", withMessages(...third.messages, { role: "assistant", content: "x" }, user("y"))],
    ["breakpoints moved", { ...third, system: [text("SYS", { cache_control: { type: "ephemeral" } })] }],
    ["other settings", { ...third, max_tokens: 7, tool_choice: { type: "auto" } }],
    ["thinking stripped from the front", withMessages(user("go"), bare1, user("more"), answer2, user("last"))],
    ["all thinking stripped, text edited", withMessages(user("gone"), bare1, user("last"))],
  ])("valid: %s", (_name, body) => {
    expect(signatures.check(body)).toEqual({ problem: null, dropped: 0, mismatched: [] });
  });

  const bent2 = { ...answer2, content: [text("A2!"), ...answer2.content.slice(1)] };
  const cut2 = { ...answer2, content: [text("A2"), text("A3")] };
  test.each<[string, JsonObject]>([
    ["system changed", { ...third, system: "SYS2" }],
    ["a tool changed", { ...third, tools: [{ name: "a", description: "new" }] }],
    ["an earlier question edited", withMessages(user("go!"), answer1, user("more"), answer2, user("last"))],
    [
      "a block added to an earlier turn",
      withMessages(user("go"), answer1, user("more"), user("x"), answer2, user("last")),
    ],
    ["text before it in the same answer edited", withMessages(user("go"), answer1, user("more"), bent2, user("last"))],
    [
      "its own text edited",
      withMessages(
        user("go"),
        {
          ...answer1,
          content: [
            thinking(
              "1",
              String(answer1.content[0] && "signature" in answer1.content[0] ? answer1.content[0].signature : ""),
            ),
            text("A1"),
          ],
        },
        user("more"),
      ),
    ],
    ["moved to another place", withMessages(user("go"), bare1, user("more"), cut2, user("last"), answer1, user("x"))],
  ])("refused: %s", (_name, body) => {
    expect(signatures.check(body).problem).toMatch(/bound to a different conversation/);
  });

  test("[SIM-3] thinking dropped from the middle refuses what is behind it", () => {
    const s3 = signatures.issue(third, [], "three");
    const tail = [{ role: "assistant", content: [thinking("three", s3), text("A4")] }, user("end")];
    expect(signatures.check(withMessages(...third.messages, ...tail)).problem).toBeNull();
    const gap = withMessages(user("go"), answer1, user("more"), cut2, user("last"), ...tail);
    expect(signatures.check(gap).problem).toMatch(/messages\.5\.content\.0.*bound/);
  });

  test("a signature from elsewhere is refused, or let through when asked", () => {
    const foreign = withMessages(
      user("go"),
      { role: "assistant", content: [thinking("x", "S0"), text("y")] },
      user("z"),
    );
    expect(signatures.check(foreign).problem).toMatch(/Invalid `signature`/);
    expect(createSignatures({ acceptForeign: true }).check(foreign).problem).toBeNull();
  });

  test("[SIM-3] with drop_block nothing is refused and the drops are counted", () => {
    const dropping = { thinking: { type: "adaptive", block_binding: { prefix_mismatch_behavior: "drop_block" } } };
    expect(signatures.check({ ...third, ...dropping, system: "SYS2" })).toEqual({
      problem: null,
      dropped: 2,
      mismatched: ["messages.1.content.0", "messages.3.content.1"],
    });
  });

  test("another model does not see it and does not mind", () => {
    expect(signatures.check({ ...third, model: "n" })).toEqual({ problem: null, dropped: 2, mismatched: [] });
  });
});

test("[SIM-3] the server refuses over HTTP what it bound differently, and records what it dropped", async () => {
  await using provider = await createFakeProvider({
    reply: () => ({
      blocks: [
        { type: "thinking", text: "hm" },
        { type: "text", text: "A" },
      ],
    }),
  });
  const post = async (body: object) => {
    const response = await fetch(`${provider.url}/v1/messages`, {
      method: "POST",
      headers: { "x-api-key": "k", "anthropic-version": "2023-06-01" },
      body: JSON.stringify({ model: "m", max_tokens: 9, ...body }),
    });
    return { status: response.status, answer: await response.json() };
  };
  const { answer } = await post({ messages: [user("go")] });
  const said = { role: "assistant", content: answer.content };
  expect((await post({ messages: [user("go"), said, user("on")] })).status).toBe(200);
  const refused = await post({ messages: [user("gone"), said, user("on")] });
  expect(refused).toMatchObject({ status: 400, answer: { type: "error", error: { type: "invalid_request_error" } } });
  const binding = { type: "enabled", block_binding: { prefix_mismatch_behavior: "drop_block" } };
  const dropping = await post({ messages: [user("gone"), said, user("on")], thinking: binding });
  const transformations = [{ type: "drop_block", path: "messages.1.content.0", reason: "prefix_mismatch" }];
  expect(dropping).toMatchObject({ status: 200, answer: { input_transformations: transformations } });
  expect(provider.calls.map((call) => call.droppedThinking)).toEqual([0, 0, 0, 1]);
  expect(provider.calls.map((call) => call.refusal !== null)).toEqual([false, false, true, false]);
});

test("[SIM-2] headers, encoding and JSON are checked before anything else", async () => {
  await using provider = await createFakeProvider();
  const status = async (headers: Record<string, string>, body: string | Uint8Array<ArrayBuffer>) =>
    (await fetch(`${provider.url}/v1/messages`, { method: "POST", headers, body })).status;
  const version = { "anthropic-version": "2023-06-01" };
  expect(await status(version, "{}")).toBe(401);
  expect(await status({ "x-api-key": "k" }, "{}")).toBe(400);
  expect(await status({ "x-api-key": "k", ...version }, "{")).toBe(400);
  expect(await status({ "x-api-key": "k", ...version }, new Uint8Array([0x22, 0xff, 0x22]))).toBe(400);
  expect(provider.calls.map((call) => call.outcome())).toEqual(["refused", "refused", "refused", "refused"]);
});
