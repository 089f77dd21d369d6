import { describe, expect, test } from "vitest";
import { openedLog, temporaryFolder } from "../testing/temporary.ts";

describe("the bill of a long-lived server", () => {
  test("[LOG-53] what all tabs cost is known without looking at one line of the bill", async () => {
    await using home = await temporaryFolder();
    await using log = await openedLog(home.path);
    log.store.database.exec(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000)
      INSERT INTO bills (tab_id, log_id, seq, turn_id, step, at, model, other_json)
      SELECT 'tab' || i % 9, 'log', i, 't', 0, i, 'm', '{}' FROM n`);
    // Lines that nothing ever added up: a total that looked at them would count them.
    expect(await log.billSums({})).toEqual([]);
    expect((await log.billSums({ from: 0 })).reduce((sum, { requests }) => sum + requests, 0)).toBe(50_000);
  });
});
