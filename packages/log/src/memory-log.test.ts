import { describe, expect, test } from "vitest";
import { claimed, ids, said, sealed, sound, startMs } from "./contract/fixtures.ts";
import { describeLogContract } from "./contract.ts";
import { memoryLog } from "./memory-log.ts";
import { segmentsMax } from "./segments.ts";

describeLogContract(
  "the memory log",
  async () => {
    const log = memoryLog();
    return { log, [Symbol.asyncDispose]: () => log.close() };
  },
  300,
);

describe("the memory log", () => {
  test("[LOG-15] refuses one fork too many in a row, and the tab goes on where it was", async () => {
    const log = memoryLog();
    let claim = await claimed(log);
    const fork = async (parentSeq: number) =>
      log.point(claim, { kind: "child", logId: ids.log(), parentId: claim.logId, parentSeq }, startMs);
    for (let level = 1; level < segmentsMax; level++) {
      await sealed(log, claim, { rows: [said(["t1", 0], "x")] });
      sound(await fork(level));
      claim = sound(await log.claim(claim.tabId, startMs));
    }
    await sealed(log, claim, { rows: [said(["t1", 0], "x")] });
    expect(await fork(segmentsMax)).toMatchObject({ kind: "fault", code: "bad-request" });
    expect((await sealed(log, claim, { rows: [said(["t1", 0], "y")] })).tail).toBe(segmentsMax + 1);
  });
});
