import type { JournaledBlock } from "@varve/log";
import { verifyRows } from "@varve/log";
import { parseChunkId, parseLogId } from "@varve/protocol";
import { createFakeIds } from "@varve/sim";
import { describe, expect, test } from "vitest";
import { recover } from "./recover.ts";
import { RowList } from "./testing/rows.ts";
import { wordsOf } from "./testing/world.ts";
import { resultTexts } from "./texts.ts";

const log = (): RowList => new RowList();
const restarted = resultTexts.restarted;

function block(id: string, text: string, meta: Readonly<Record<string, string | number>> = {}): JournaledBlock {
  const logId = parseLogId("log-1") ?? expect.fail("a legal id");
  const chunkId = parseChunkId(id) ?? expect.fail("a legal id");
  return { logId, id: chunkId, text, meta: { turnId: "t1", step: 0, role: "assistant", type: "text", ...meta } };
}

const run = (rows: RowList, blocks: readonly JournaledBlock[] = []) =>
  recover({ rows: rows.rows, blocks, now: 7, ids: createFakeIds("new") });
const added = (rows: RowList, blocks: readonly JournaledBlock[] = []) => {
  const { rows: made } = run(rows, blocks);
  return wordsOf(made.map((row, index) => ({ ...row, seq: index + 1, term: 2 })));
};

describe("what is unfinished", () => {
  test.each<[string, RowList]>([
    ["an empty log", log()],
    ["a turn that ended", log().user("go").request().text("a").usage().end()],
    [
      "rows outside any turn behind it",
      log().user("go").end().at("", 0).system({ kind: "note", topic: "x", text: "y" }),
    ],
  ])("[REC-1] nothing is owed to %s", (_name, rows) => {
    expect(run(rows)).toEqual({ rows: [], resume: "none", turnId: null });
  });

  test("[REC-1] a turn without its turn-end row is ended, with a notice", () => {
    expect(added(log().user("go"))).toEqual(["notice:restarted", "end:restart"]);
    expect(added(log().user("go").request().text("a").usage())).toEqual(["notice:restarted", "end:restart"]);
  });
});

describe("calls", () => {
  test("[REC-2] H14 a call without a result gets one that says it may have run", () => {
    const rows = log().user("go").request().call("A").call("B").usage().result("B");
    expect(added(rows)).toEqual([`result!:A=${restarted}`, "notice:restarted", "end:restart"]);
  });

  test("[REC-2] a call of a step that had not finished never ran, and its result says so", () => {
    expect(added(log().user("go").request().call("A"))).toEqual([
      `result!:A=${resultTexts.neverRun}`,
      "notice:restarted",
      "end:restart",
    ]);
  });

  test("[REC-2] calls of a voided step owe nothing", () => {
    expect(added(log().user("go").request().call("A").voided())).toEqual(["notice:restarted", "end:restart"]);
  });

  test("[REC-2] a call whose permission was answered may have run", () => {
    const rows = log().user("go").request().call("A").usage().asked("A").answered("A");
    expect(added(rows)).toEqual([`result!:A=${restarted}`, "notice:restarted", "end:restart"]);
  });

  test("[REC-3] a call that was asked about and not answered keeps the turn open", () => {
    const rows = log().user("go").request().call("A").usage().asked("A");
    expect(run(rows)).toEqual({ rows: [], resume: "waiting", turnId: "t1" });
  });

  test("[REC-3] beside it, a call that may have run gets its result", () => {
    const rows = log().user("go").request().call("A").call("B").usage().asked("A");
    const recovery = run(rows);
    expect(recovery.resume).toBe("waiting");
    expect(added(rows)).toEqual([`result!:B=${restarted}`]);
  });
});

describe("background jobs", () => {
  const noticeOf = (rows: RowList): string => {
    const notice = run(rows).rows.find(({ type, data }) => type === "system" && data.kind === "notice");
    return notice?.type === "system" && notice.data.kind === "notice" ? notice.data.text : "";
  };
  const at = (): RowList => log().user("go").request().call("A").call("B").usage();
  const ofBefore = (): RowList => {
    const notice = { kind: "notice", level: "warning", code: "restarted", text: "The server was restarted." } as const;
    const rows = at().job("A", "1", "job 1: running").job("B", "2", "job 2: running").system(notice).end("restart");
    return rows.at("t2", 0).user("on");
  };

  test.each<[string, RowList, boolean]>([
    ["none", at().result("A"), false],
    ["one that was started", at().job("A", "1", "job 1: running"), true],
    ["one that a person moved", at().job("A", "1", "continues as job 1"), true],
    ["one that has ended since", at().job("A", "1", "job 1: running").job("B", "1", "job 1: exit 0"), false],
    [
      "one that has ended and one that has not",
      at().job("A", "1", "job 1: exit 0").job("B", "2", "job 2: running"),
      true,
    ],
    ["one of an earlier turn", at().job("A", "1", "job 1: running").end().at("t2", 0).user("on").request(), true],
    ["one that ended with an earlier server", ofBefore().request(), false],
    ["one begun behind that", ofBefore().request().call("C").job("C", "1", "job 1: running"), true],
  ])("[REC-100] %s: the notice says when jobs were ended", (_name, rows, told) => {
    expect(noticeOf(rows).includes("Background jobs of this tab were ended.")).toBe(told);
  });
});

describe("open blocks", () => {
  const begun = (): RowList => log().user("go").request().text("whole");
  test("[REC-4] journaled text is sealed as partial under its own id", () => {
    const { rows } = run(begun(), [block("b1", "half an ans")]);
    expect(rows[0]).toMatchObject({ id: "b1", step: 0, data: { text: "half an ans", partial: true } });
    expect(added(begun(), [block("b1", "hm", { type: "thinking", modelScope: "anthropic:m" })])[0]).toBe(
      "thinking?:hm",
    );
  });

  test.each<[string, JournaledBlock]>([
    ["sealed already", block("r3", "whole and more")],
    ["blank", block("b1", "  \n")],
    ["of another turn", block("b1", "x", { turnId: "t0" })],
    ["a tool's live output", block("b1", "x", { role: "tool", type: "tool_result" })],
    ["a cut call", block("b1", "{", { type: "tool_call" })],
    ["of a step that the rows have not come to", block("b1", "x", { step: 1 })],
    ["without what it belongs to", { ...block("b1", "x"), meta: {} }],
  ])("[REC-4] a block that is %s is ignored", (_name, one) => {
    expect(added(begun(), [one])).toEqual(["notice:restarted", "end:restart"]);
  });

  test("[REC-4] a block of a voided step is ignored", () => {
    expect(added(begun().voided(), [block("b1", "x")])).toEqual(["notice:restarted", "end:restart"]);
  });

  test("[REC-4] half a character at the end of the journal becomes U+FFFD", () => {
    expect(added(begun(), [block("b1", "a\ud83d")])[0]).toBe("text?:a\ufffd");
  });
});

describe("again", () => {
  test.each<[string, RowList]>([
    ["a lost call", log().user("go").request().call("A").usage()],
    ["an open question", log().user("go").request().call("A").call("B").usage().asked("A")],
    ["an open block", log().user("go").request().text("a")],
  ])("[REC-5] H14 a second recovery behind the first finds nothing to do: %s", (_name, rows) => {
    const blocks = [block("b1", "half")];
    const first = run(rows, blocks);
    rows.append(first.rows);
    expect(verifyRows(rows.rows)).toEqual([]);
    const second = run(rows, blocks);
    expect(second.rows).toEqual([]);
    expect(second.resume).toBe(first.resume);
  });
});
