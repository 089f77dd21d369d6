import { describe, expect, test } from "vitest";
import { openaiProblem } from "./openai-rules.ts";

const user = { role: "user", content: "go" };
const called = (id = "c1", args: unknown = "{}", name = "read") => ({
  id,
  type: "function",
  function: { name, arguments: args },
});
const calls = (...list: unknown[]) => ({ role: "assistant", content: null, tool_calls: list });
const result = (id = "c1", content: unknown = "ok") => ({ role: "tool", tool_call_id: id, content });
const body = (messages: unknown[], more: object = {}) => ({ model: "m", messages, ...more });
const tool = (name: string, parameters: unknown = { type: "object" }) => ({
  type: "function",
  function: { name, parameters },
});

describe("a valid body passes", () => {
  test.each<[string, unknown]>([
    ["one question", body([{ role: "system", content: "S" }, user])],
    ["two users in a row", body([user, user])],
    [
      "text and an image",
      body([
        {
          role: "user",
          content: [
            { type: "text", text: "x" },
            { type: "image_url", image_url: { url: "data:," } },
          ],
        },
      ]),
    ],
    [
      "calls and their results in another order",
      body([user, calls(called("a"), called("b")), result("b"), result("a"), user]),
    ],
    ["a call with empty text", body([user, { ...calls(called()), content: "" }, result()])],
    ["ends with the assistant", body([user, { role: "assistant", content: "x" }])],
    ["tools", body([user], { tools: [tool("a"), tool("b")] })],
    [
      "a file alone",
      body([{ role: "user", content: [{ type: "file", file: { filename: "a.pdf", file_data: "data:," } }] }]),
    ],
  ])("%s", (_name, valid) => {
    expect(openaiProblem(valid)).toBeNull();
  });
});

describe("the vendor's refusals", () => {
  const long = "c".repeat(41);
  test.each<[string, unknown, RegExp]>([
    ["no model", { messages: [user] }, /model/],
    ["no messages", body([]), /too short/],
    ["an unknown role", body([{ role: "robot", content: "x" }]), /role/],
    ["empty content", body([{ role: "user", content: "" }]), /must not be empty/],
    ["an empty list", body([{ role: "user", content: [] }]), /must not be empty/],
    ["an empty text part", body([{ role: "user", content: [{ type: "text", text: "" }] }]), /must not be empty/],
    ["a file without bytes", body([{ role: "user", content: [{ type: "file", file: {} }] }]), /must not be empty/],
    ["an assistant that says nothing", body([user, { role: "assistant", content: null }]), /must not be empty/],
    ["an empty list of calls", body([user, calls()]), /tool_calls/],
    ["an unanswered call", body([user, calls(called()), user]), /did not have response messages: c1/],
    ["an unanswered call at the end", body([user, calls(called())]), /did not have response/],
    ["an orphan result", body([user, result()]), /must be a response/],
    ["a second result", body([user, calls(called()), result(), result()]), /must be a response/],
    ["an empty result", body([user, calls(called()), result("c1", "")]), /must not be empty/],
    ["an id of 41 characters", body([user, calls(called(long)), result(long)]), /length 1 to 40/],
    ["an id used twice", body([user, calls(called()), result(), calls(called()), result()]), /Duplicate/],
    ["arguments as an object", body([user, calls(called("c1", {})), result()]), /arguments/],
    ["broken arguments", body([user, calls(called("c1", '{"a":')), result()]), /arguments/],
    ["arguments quoted twice", body([user, calls(called("c1", '"{}"')), result()]), /arguments/],
    ["a name with a blank", body([user, calls(called("c1", "{}", "a b")), result()]), /name/],
    ["half a character", body([{ role: "user", content: "\ud83d" }]), /Unicode/],
    ["two tools of one name", body([user], { tools: [tool("a"), tool("a")] }), /duplicate/],
    ["no tool in the list", body([user], { tools: [] }), /too short/],
    ["a broken schema", body([user], { tools: [tool("a", { type: "object", required: [1] })] }), /required/],
  ])("%s", (_name, invalid, words) => {
    expect(openaiProblem(invalid)).toMatch(words);
  });
});
