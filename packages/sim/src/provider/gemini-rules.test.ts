import { describe, expect, test } from "vitest";
import { geminiProblem } from "./gemini-rules.ts";

const user = { role: "user", parts: [{ text: "go" }] };
const said = { role: "model", parts: [{ text: "x" }] };
const call = (name = "read", more: object = { thoughtSignature: "s1" }, args: unknown = {}) => ({
  functionCall: { name, args },
  ...more,
});
const calls = (...parts: unknown[]) => ({ role: "model", parts });
const result = (name = "read", response: unknown = { content: "ok" }, id?: string) => ({
  functionResponse: { name, response, ...(id === undefined ? {} : { id }) },
});
const results = (...parts: unknown[]) => ({ role: "user", parts });
const body = (contents: unknown[], more: object = {}) => ({ contents, ...more });

describe("a valid body passes", () => {
  test.each<[string, unknown]>([
    ["one question", body([user], { systemInstruction: { parts: [{ text: "S" }] } })],
    ["two users in a row", body([user, user])],
    ["a call and its response", body([user, calls(call()), results(result()), user])],
    [
      "two calls, the signature on the first",
      body([user, calls({ text: "I" }, call("a"), call("b", {})), results(result("a"), result("b"))]),
    ],
    [
      "a history of another model",
      body([user, calls(call("a", { thoughtSignature: "skip_thought_signature_validator" })), results(result("a"))]),
    ],
    ["thinking", body([user, calls({ text: "h", thought: true }, { text: "x" }), user])],
    [
      "an image behind a result",
      body([user, calls(call()), results(result()), results({ inlineData: { data: "AA==" } })]),
    ],
    ["tools", body([user], { tools: [{ functionDeclarations: [{ name: "a" }, { name: "b" }] }] })],
  ])("%s", (_name, value) => {
    expect(geminiProblem(value, "gemini-3-pro-preview")).toBeNull();
  });

  test("an older model needs no signature", () => {
    const bare = body([user, calls(call("read", {})), results(result())]);
    expect(geminiProblem(bare, "gemini-2.5-pro")).toBeNull();
    expect(geminiProblem(bare, "gemini-3-pro")).toContain("thought_signature");
    expect(geminiProblem(bare, "gemini-10-pro")).toContain("thought_signature");
  });
});

describe("[SIM-2] an invalid body is refused", () => {
  test.each<[string, unknown, string]>([
    ["no object", "x", "Invalid JSON"],
    ["half a surrogate", body([{ role: "user", parts: [{ text: "\udc00" }] }]), "UTF-8"],
    ["no contents", body([]), "contents is not specified"],
    ["a system turn", body([{ role: "system", parts: [{ text: "S" }] }, user]), "valid role"],
    ["an empty system", body([user], { systemInstruction: { parts: [] } }), "system_instruction"],
    [
      "no parts",
      body([user, { role: "model", parts: [] }, user]),
      "contents[1].parts: contents.parts must not be empty",
    ],
    ["an empty text", body([{ role: "user", parts: [{ text: "" }] }]), "text must not be empty"],
    ["a part of nothing", body([{ role: "user", parts: [{ thought: true }] }]), "oneof"],
    ["a part of two things", body([{ role: "user", parts: [{ text: "x", inlineData: { data: "AA==" } }] }]), "oneof"],
    ["begins with the model", body([said, user]), "first turn"],
    ["ends with the model", body([user, said]), "last turn"],
    ["two turns of the model", body([user, said, calls(call()), results(result())]), "function call turn comes"],
    ["a call without a response", body([user, calls(call()), user]), "(0 of 1)"],
    ["a response without a call", body([user, results(result())]), "(1 of 0)"],
    ["a response a turn late", body([user, calls(call()), user, results(result())]), "(0 of 1)"],
    ["one response of two", body([user, calls(call("a"), call("b", {})), results(result("a"))]), "(1 of 2)"],
    [
      "responses in another order",
      body([user, calls(call("a"), call("b", {})), results(result("b"), result("a"))]),
      "does not match",
    ],
    ["a response with another id", body([user, calls(call()), results(result("read", {}, "x"))]), "does not match"],
    [
      "arguments in a text",
      body([user, calls(call("a", { thoughtSignature: "s" }, "{}")), results(result("a"))]),
      "args: must be an object",
    ],
    ["a response in a text", body([user, calls(call()), results(result("read", "ok"))]), "response: must be an object"],
    ["a call of the user", body([results(call()), user]), "user turn"],
    [
      "no signature on the first call",
      body([user, calls(call("a", {}), call("b")), results(result("a"), result("b"))]),
      "thought_signature",
    ],
    [
      "two tools of a name",
      body([user], { tools: [{ functionDeclarations: [{ name: "a" }, { name: "a" }] }] }),
      "Duplicate",
    ],
  ])("%s", (_name, value, words) => {
    expect(geminiProblem(value, "gemini-3-pro-preview")).toContain(words);
  });
});
