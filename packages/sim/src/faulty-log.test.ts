import { memoryLog } from "@varve/log";
import { isFault, type NewRow } from "@varve/protocol";
import { describe, expect, test } from "vitest";
import { failOn } from "./fail-on.ts";
import { createFakeIds } from "./fake-ids.ts";
import { faultyLog } from "./faulty-log.ts";

async function writer(failure?: "refused" | "answer-lost") {
  const ids = createFakeIds();
  const plan = failOn(2);
  const log = faultyLog(memoryLog(), plan, failure === undefined ? {} : { failure });
  const tab = { id: ids.tab(), logId: ids.log(), title: "", cwd: "/", model: "m", effort: "", options: {} };
  const made = await log.createTab({ ...tab, permissions: "ask", parentId: null, createdAt: 1 });
  expect(isFault(made)).toBe(false);
  const claim = await log.claim(tab.id, 1);
  if (claim === null || isFault(claim)) throw new Error("a fresh tab can be claimed");
  const row = (text: string): NewRow => ({
    id: ids.chunk(),
    turnId: ids.turn(),
    step: 0,
    role: "user",
    type: "text",
    data: { text },
    createdAt: 1,
  });
  const commit = async (text: string) => (await log.commit(claim, { rows: [row(text)] })).kind;
  const kept = async () => {
    const page = await log.page({ logId: tab.logId, limit: 10 });
    return isFault(page) ? page : page.rows.map((one) => (one.type === "text" ? one.data.text : one.type));
  };
  return { commit, kept };
}

describe("a log on a failing disk", () => {
  test("[SIM-12] a refused commit wrote nothing and says so as a value", async () => {
    const { commit, kept } = await writer();
    expect([await commit("a"), await commit("b"), await commit("c")]).toEqual(["committed", "failed", "committed"]);
    expect(await kept()).toEqual(["a", "c"]);
  });

  test("a commit whose answer is lost is there all the same", async () => {
    const { commit, kept } = await writer("answer-lost");
    expect([await commit("a"), await commit("b")]).toEqual(["committed", "failed"]);
    expect(await kept()).toEqual(["a", "b"]);
  });
});
