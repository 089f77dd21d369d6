import { describe, expect, test } from "vitest";
import { responsesProblem } from "./responses-rules.ts";

const user = { role: "user", content: [{ type: "input_text", text: "go" }] };
const developer = {
  role: "developer",
  content: [{ type: "input_text", text: "S", prompt_cache_breakpoint: { mode: "explicit" } }],
};
const said = { role: "assistant", content: [{ type: "output_text", text: "x" }] };
const called = (id = "c1", args: unknown = "{}", name = "read") => ({
  type: "function_call",
  call_id: id,
  name,
  arguments: args,
});
const result = (id = "c1", output: unknown = "ok") => ({ type: "function_call_output", call_id: id, output });
const thought = (token: unknown = "enc") => ({ type: "reasoning", encrypted_content: token, summary: [] });
const body = (input: unknown[], more: object = {}) => ({ model: "gpt-5.6", store: false, input, ...more });
const tool = (name: string, parameters: unknown = { type: "object" }) => ({ type: "function", name, parameters });

describe("a valid body passes", () => {
  test.each<[string, unknown]>([
    ["one question", body([developer, user])],
    ["a system message as one text", body([{ role: "system", content: "S" }, user])],
    ["two users in a row", body([user, user])],
    ["results in another order, and later", body([user, called("a"), called("b"), result("b"), result("a"), user])],
    ["reasoning before a call", body([user, thought(), called(), result()])],
    ["reasoning twice, then text", body([user, thought("1"), thought("2"), said, user])],
    ["a note at the end", body([user, said, user, { role: "developer", content: "plan" }])],
    ["a result with an image", body([user, called(), result("c1", [{ type: "input_image", image_url: "data:," }])])],
    ["an id of 64", body([user, called("x".repeat(64)), result("x".repeat(64))])],
    ["tools and a key", body([user], { tools: [tool("a"), tool("b")], prompt_cache_key: "w1" })],
  ])("%s", (_name, value) => {
    expect(responsesProblem(value)).toBeNull();
  });
});

describe("[SIM-2] an invalid body is refused", () => {
  test.each<[string, unknown, string]>([
    ["no object", [], "could not parse"],
    ["half a surrogate", body([{ role: "user", content: "\ud800" }]), "Unicode"],
    ["no model", { store: false, input: [user] }, "model"],
    ["kept items", { model: "m", input: [user] }, "'store' must be false"],
    ["a previous response", body([user], { previous_response_id: "r" }), "Zero Data Retention"],
    ["a long cache key", body([user], { prompt_cache_key: "x".repeat(65) }), "prompt_cache_key"],
    ["no input", body([]), "'input'"],
    ["an item that is a text", body(["x"]), "expected an object"],
    ["a reference", body([{ type: "item_reference", id: "rs_1" }, user]), "Item with id 'rs_1' not found"],
    ["an unknown item", body([{ type: "poem" }, user]), "Invalid value: 'poem'"],
    ["an unknown role", body([{ role: "tool", content: "x" }]), "at 'role'"],
    ["empty content", body([{ role: "user", content: [] }]), "must not be empty"],
    ["an empty text", body([{ role: "user", content: [{ type: "input_text", text: "" }] }]), "text must not be empty"],
    [
      "a user's part of the assistant",
      body([{ role: "user", content: [{ type: "output_text", text: "x" }] }]),
      "Invalid value",
    ],
    [
      "a breakpoint of another form",
      body([{ role: "user", content: [{ type: "input_text", text: "x", prompt_cache_breakpoint: true }] }]),
      "prompt_cache_breakpoint",
    ],
    ["an id of 65", body([user, called("x".repeat(65)), result("x".repeat(65))]), "length 1 to 64"],
    ["broken arguments", body([user, called("c1", '{"a":'), result()]), "'arguments'"],
    ["arguments that are an object", body([user, called("c1", {}), result()]), "'arguments'"],
    ["an empty output", body([user, called(), result("c1", "")]), "'output' must not be empty"],
    ["a call without its output", body([user, called(), user]), "No tool output found for function call c1"],
    ["an output without its call", body([user, result()]), "No tool call found"],
    ["an output before its call", body([user, result(), called(), user]), "No tool call found"],
    ["two outputs of one call", body([user, called(), result(), result()]), "Duplicate function call output"],
    ["one call twice", body([user, called(), called(), result()]), "Duplicate function call with"],
    ["reasoning without its token", body([user, thought(""), called(), result()]), "encrypted_content"],
    ["reasoning before the user", body([user, thought(), user]), "without its required following item"],
    ["reasoning at the end", body([user, thought()]), "without its required following item"],
    ["an end of the assistant", body([user, said]), "last input item"],
    ["two tools of a name", body([user], { tools: [tool("a"), tool("a")] }), "duplicate function name"],
    ["a tool without parameters", body([user], { tools: [tool("a", null)] }), "tools[0].parameters"],
  ])("%s", (_name, value, words) => {
    expect(responsesProblem(value)).toContain(words);
  });
});
