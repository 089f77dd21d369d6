import { describe, expect, test } from "vitest";
import { anthropicProblem, MID_SYSTEM_BETA } from "./anthropic-rules.ts";

const call = (id = "toolu_A", input: unknown = {}) => ({ type: "tool_use", id, name: "read", input });
const result = (id = "toolu_A", content: unknown = "ok") => ({ type: "tool_result", tool_use_id: id, content });
const text = (words: string, marks: object = {}) => ({ type: "text", text: words, ...marks });
const user = (...content: unknown[]) => ({ role: "user", content });
const assistant = (...content: unknown[]) => ({ role: "assistant", content });
const marked = (ttl?: string) => ({ cache_control: { type: "ephemeral", ...(ttl === undefined ? {} : { ttl }) } });
const body = (messages: unknown[], more: object = {}) => ({ model: "m", max_tokens: 9, messages, ...more });
const tool = (name: string, schema: unknown = { type: "object" }) => ({ name, description: "d", input_schema: schema });
const go = user(text("go"));

describe("a valid body passes", () => {
  test.each<[string, unknown]>([
    ["one question", body([go])],
    ["string content", body([{ role: "user", content: "go" }])],
    ["two user messages in a row are one", body([go, user(text("more"))])],
    ["a call, its result, and text behind it", body([go, assistant(call()), user(result(), text("and?"))])],
    [
      "results of one message split over two",
      body([go, assistant(call("a"), call("b")), user(result("a")), user(result("b"))]),
    ],
    [
      "results in another order than the calls",
      body([go, assistant(call("a"), call("b")), user(result("b"), result("a"))]),
    ],
    ["text and an image as a result", body([go, assistant(call()), user(result("toolu_A", [text("x"), image()]))])],
    [
      "four breakpoints",
      body([user(text("a", marked("1h")), text("b", marked("1h")), text("c", marked()), text("d", marked()))]),
    ],
    [
      "thinking in front of text",
      body([go, assistant({ type: "thinking", thinking: "", signature: "s" }, text("x")), go]),
    ],
    ["tools and system", body([go], { tools: [tool("a"), tool("b")], system: [text("S", marked())] })],
    ["nothing to generate, not streamed", body([go], { max_tokens: 0 })],
  ])("%s", (_name, valid) => {
    expect(anthropicProblem(valid)).toBeNull();
  });
});

function image(more: object = {}) {
  return { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA", ...more } };
}

describe("the vendor's refusals", () => {
  const long = "a".repeat(65);
  test.each<[string, unknown, RegExp]>([
    ["no model", { max_tokens: 1, messages: [go] }, /^model/],
    ["no max_tokens", { model: "m", messages: [go] }, /^max_tokens: Field required/],
    ["a fraction as max_tokens", body([go], { max_tokens: 1.5 }), /max_tokens/],
    ["zero max_tokens, streamed", body([go], { max_tokens: 0, stream: true }), /streaming/],
    ["no messages", body([]), /at least one message/],
    ["assistant first", body([assistant(text("x")), go]), /first message/],
    ["assistant last", body([go, assistant(text("x"))]), /prefill/],
    ["an unknown role", body([{ role: "tool", content: "x" }]), /role/],
    ["an empty list", body([user()]), /non-empty content/],
    ["an empty text", body([user(text(""))]), /non-empty/],
    ["white space only", body([user(text(" \n"))]), /non-whitespace/],
    ["white space as string content", body([{ role: "user", content: " " }]), /non-whitespace/],
    [
      "white space from the assistant",
      body([go, assistant(text(" "), call()), user(result())]),
      /messages\.1\.content\.0.*whitespace/,
    ],
    ["an empty system text", body([go], { system: [text("")] }), /system\.0/],
    ["an unanswered call", body([go, assistant(call()), user(text("x"))]), /without `tool_result`/],
    ["one of two calls unanswered", body([go, assistant(call("a"), call("b")), user(result("a"))]), /after: b/],
    ["text in front of the results", body([go, assistant(call()), user(text("x"), result())]), /without `tool_result`/],
    [
      "text between two results",
      body([go, assistant(call("a"), call("b")), user(result("a"), text("x"), result("b"))]),
      /without/,
    ],
    ["an orphan result", body([go, assistant(text("x")), user(result())]), /unexpected `tool_use_id`/],
    ["a result in the first message", body([user(result())]), /unexpected/],
    [
      "a result one message late",
      body([go, assistant(call()), user(result()), assistant(text("y")), user(result())]),
      /unexpected/,
    ],
    ["two results for one call", body([go, assistant(call()), user(result(), result())]), /single result/],
    [
      "a call id used twice",
      body([go, assistant(call()), user(result()), assistant(call()), user(result())]),
      /must be unique/,
    ],
    ["twice in one message", body([go, assistant(call(), call()), user(result())]), /must be unique/],
    ["an id with a bar", body([go, assistant(call("a|b")), user(result("a|b"))]), /tool_use\.id/],
    ["an id of 65 characters", body([go, assistant(call(long)), user(result(long))]), /tool_use\.id/],
    ["text as input", body([go, assistant(call("a", '{"x":')), user(result("a"))]), /input/],
    ["a list as input", body([go, assistant(call("a", [])), user(result("a"))]), /input/],
    ["null as input", body([go, assistant(call("a", null)), user(result("a"))]), /input/],
    ["an empty result", body([go, assistant(call()), user(result("toolu_A", ""))]), /cannot be empty/],
    ["a result of nothing", body([go, assistant(call()), user(result("toolu_A", []))]), /cannot be empty/],
    ["a broken image", body([user(image({ data: "A" }))]), /Could not process image/],
    ["an image of another type", body([user(image({ media_type: "image/tiff" }))]), /media_type/],
    [
      "thinking at the end of a message",
      body([go, assistant({ type: "thinking", thinking: "x", signature: "s" }), go]),
      /final block/,
    ],
    [
      "unsigned thinking",
      body([go, assistant({ type: "thinking", thinking: "x", signature: "" }, text("y")), go]),
      /signature/,
    ],
    ["a block of another role", body([user(call())]), /not allowed/],
    ["five breakpoints", body([user(...["a", "b", "c", "d", "e"].map((one) => text(one, marked())))]), /maximum of 4/],
    [
      "four and an automatic one",
      body([user(...["a", "b", "c", "d"].map((one) => text(one, marked())))], marked()),
      /Found 5/,
    ],
    [
      "1 h behind 5 min",
      body([user(text("a", marked("1h")))], { system: [text("S", marked())] }),
      /must not come after/,
    ],
    ["a lifetime that there is not", body([user(text("a", marked("2h")))]), /cache_control/],
    ["half a character", body([user(text("a\ud83d"))]), /surrogate/],
    ["half a character in a key", body([go, assistant(call("a", { "\ude00": 1 })), user(result("a"))]), /surrogate/],
    ["two tools of one name", body([go], { tools: [tool("a"), tool("a")] }), /unique/],
    ["a tool name with a blank", body([go], { tools: [tool("a b")] }), /tools\.0\.name/],
    ["a tool without a schema", body([go], { tools: [{ name: "a" }] }), /input_schema/],
    ["a schema of another type", body([go], { tools: [tool("a", { type: "array" })] }), /must be "object"/],
    [
      "a broken schema inside",
      body([go], { tools: [tool("a", { type: "object", properties: { x: { type: "text" } } })] }),
      /properties\.x\.type/,
    ],
    ["a system message without its beta", body([go, { role: "system", content: "s" }]), /Unexpected role/],
    ["not an object", [], /not a JSON object/],
  ])("%s", (_name, invalid, words) => {
    expect(anthropicProblem(invalid)).toMatch(words);
  });
});

describe("system messages in the middle", () => {
  const system = { role: "system", content: [text("note")] };
  test.each<[string, unknown[], boolean]>([
    ["last, behind a user message", [go, system], true],
    ["between results and an answer", [go, assistant(call()), user(result()), system, assistant(text("x")), go], true],
    ["behind an assistant", [go, assistant(text("x")), system], false],
    ["in front of a user message", [go, system, go], false],
  ])("%s", (_name, messages, isValid) => {
    expect(anthropicProblem(body(messages), [MID_SYSTEM_BETA]) === null).toBe(isValid);
  });
});
