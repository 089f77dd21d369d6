import { describe, expect, test } from "vitest";
import { deepseekProblem, gatewayProblem, localProblem, mistralProblem, openrouterProblem } from "./dialect-rules.ts";

const user = { role: "user", content: "go" };
const step = (more: object = {}, id = "c1") => ({
  role: "assistant",
  content: "",
  tool_calls: [{ id, type: "function", function: { name: "read", arguments: "{}" } }],
  ...more,
});
const result = (id = "c1") => ({ role: "tool", tool_call_id: id, content: "ok" });
const said = { role: "assistant", content: "x" };
const body = (model: string, messages: unknown[], more: object = {}) => ({ model, messages, ...more });
const mark = { cache_control: { type: "ephemeral" } };
const marked = (role: string) => ({ role, content: [{ type: "text", text: "x", ...mark }] });

describe("[SIM-2] DeepSeek", () => {
  test.each(["deepseek-v4-pro", "deepseek-flash", "deepseek-pro-1"])(
    "%s wants the thinking of every step with calls",
    (model) => {
      expect(deepseekProblem(body(model, [user, step({ reasoning_content: "" }), result(), said, user]))).toBeNull();
      expect(deepseekProblem(body(model, [user, step(), result(), user]))).toContain(
        "messages[1]: The `reasoning_content`",
      );
    },
  );

  test("an older model does not, and nobody may end with the assistant", () => {
    expect(deepseekProblem(body("deepseek-chat", [user, step(), result()]))).toBeNull();
    expect(deepseekProblem(body("deepseek-chat", [user, said]))).toContain("last message");
    expect(deepseekProblem(body("deepseek-chat", [user, step()]))).toContain("must be followed by tool messages");
  });
});

describe("[SIM-2] OpenRouter", () => {
  test("counts every breakpoint, the top-level one too", () => {
    const four = [marked("system"), marked("user"), marked("user"), marked("user")];
    expect(openrouterProblem(body("a/b", four))).toBeNull();
    expect(openrouterProblem(body("a/b", four, mark))).toContain("Found 5");
    expect(openrouterProblem(body("a/b", [...four, { ...user, ...mark }]))).toContain("Found 5");
  });

  test("takes only names with a house, and reasoning details as a list of the assistant's", () => {
    expect(openrouterProblem(body("b", [user]))).toContain("not a valid model ID");
    const details = { reasoning_details: [{ type: "reasoning.text", text: "h" }] };
    expect(openrouterProblem(body("a/b", [user, { ...said, ...details }, user]))).toBeNull();
    expect(openrouterProblem(body("a/b", [user, { ...said, reasoning_details: "h" }, user]))).toContain("messages[1]");
    expect(openrouterProblem(body("a/b", [{ ...user, ...details }]))).toContain("messages[0]");
    expect(openrouterProblem(body("a/b", []))).toContain("messages");
  });
});

describe("[SIM-2] a strict template", () => {
  test.each<[string, unknown[], string | null]>([
    ["nine signs and a full circle", [user, step({}, "abc123XYZ"), result("abc123XYZ"), said, user], null],
    ["another id", [user, step(), result()], "length of 9"],
    ["two users", [user, user], "after role 'user'"],
    ["a user after a tool", [user, step({}, "abc123XYZ"), result("abc123XYZ"), user], "after role 'tool'"],
    ["no messages", [], "messages"],
  ])("%s", (_name, messages, words) => {
    const problem = mistralProblem(body("mistral-large", messages));
    if (words === null) expect(problem).toBeNull();
    else expect(problem).toContain(words);
  });
});

describe("[SIM-2] a gateway and a server on one's own network", () => {
  const thought = { reasoning: "h", reasoning_content: "h" };
  test.each<[string, object, object, string | null, string | null]>([
    ["nothing of it", said, {}, null, null],
    ["thinking under both names", { ...said, ...thought }, {}, "'reasoning' is unsupported", null],
    ["under the older alone", { ...said, reasoning_content: "h" }, {}, "'reasoning_content' is unsupported", "differ"],
    ["under both, and not the same", { ...said, ...thought, reasoning: "x" }, {}, "is unsupported", "differ"],
    ["of a person", { ...user, ...thought }, {}, "is unsupported", "Invalid input"],
    ["empty", { ...said, reasoning: "", reasoning_content: "" }, {}, "is unsupported", "Invalid input"],
    ["a switch of the template", said, { chat_template_kwargs: {} }, "'chat_template_kwargs' is unsupported", null],
  ])("%s", (_name, message, more, atGateway, atHome) => {
    const sent = body("m", [user, message, user], more);
    const told = (problem: string | null, words: string | null) =>
      words === null ? problem === null : problem?.includes(words);
    expect([told(gatewayProblem(sent), atGateway), told(localProblem(sent), atHome)]).toEqual([true, true]);
  });

  test("refuse what all of them do", () => {
    expect([gatewayProblem(body("m", [])), localProblem(body("m", []))]).toEqual([
      "[] is too short - 'messages'",
      "[] is too short - 'messages'",
    ]);
  });
});
