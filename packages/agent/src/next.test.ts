import { expect, test } from "vitest";
import { nextOf, requestsOf } from "./next.ts";
import { RowList, turnIdOf } from "./testing/rows.ts";

const t1 = turnIdOf("t1");
const log = (): RowList => new RowList();

test.each<[string, RowList, unknown]>([
  ["a user row alone: request step 0", log().user("go"), { kind: "request", step: 0 }],
  ["requested and nothing finished: the next number", log().user("go").request(), { kind: "request", step: 1 }],
  [
    "sealed text without usage: the step did not finish",
    log().user("go").request().text("a"),
    { kind: "request", step: 1 },
  ],
  ["a finished answer without calls: the end", log().user("go").request().text("a").usage(), { kind: "end" }],
  ["nothing said at all: the end", log().user("go").request().usage(), { kind: "end" }],
  ["a voided step: the next number", log().user("go").request().text("a").voided(), { kind: "request", step: 1 }],
  [
    "a voided step that had finished: the next number",
    log().user("go").request().text("a").usage().voided(),
    { kind: "request", step: 1 },
  ],
  [
    "all calls answered: request",
    log().user("go").request().call("A").usage().result("A"),
    { kind: "request", step: 1 },
  ],
  [
    "a user row behind the answer (a continue): request",
    log().user("go").request().text("a").usage().user("continue"),
    { kind: "request", step: 1 },
  ],
  ["a notice behind the answer: the end", log().user("go").request().text("a").usage().error("x"), { kind: "end" }],
  [
    "another turn's rows do not count",
    log().user("go").request().text("a").usage().end().at("t2", 0).user("more"),
    { kind: "end" },
  ],
])("[LOOP-1] %s", (_name, rows, expected) => {
  expect(nextOf(rows.rows, t1)).toEqual(expected);
});

test("[LOOP-2] calls of a step that did not finish never run", () => {
  expect(nextOf(log().user("go").request().call("A").rows, t1)).toEqual({ kind: "request", step: 1 });
});

test("[LOOP-2] the calls to run are those without a result, in call order", () => {
  const rows = log().user("go").request().call("A").call("B").call("C").usage().result("B");
  const next = nextOf(rows.rows, t1);
  expect(next.kind === "run" && next.calls.map((call) => call.callId)).toEqual(["A", "C"]);
});

test("[LOOP-1] a call that waits for an answer is still to be run", () => {
  const rows = log().user("go").request().call("A").usage().asked("A");
  expect(nextOf(rows.rows, t1)).toMatchObject({ kind: "run", step: 0 });
});

test("[LOOP-12] requests are counted with those that were retried", () => {
  const rows = log().user("go").request().voided().at("t1", 1).request().at("t1", 2).request();
  expect(requestsOf(rows.rows)).toBe(3);
});
