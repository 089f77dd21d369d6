import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSqliteLog, verifyRows } from "@varve/log";
import { isFault } from "@varve/protocol";
import { expect, test } from "vitest";
import { createFakeClock } from "./fake-clock.ts";
import { createFakeIds } from "./fake-ids.ts";
import { growTab } from "./large-tab.ts";

test("[SIM-55] a tab made by the script is one that the log's own checks find sound, of rows of a kilobyte", async () => {
  const home = await mkdtemp(join(tmpdir(), "varve-large-"));
  try {
    const rows = 2_000;
    const [ids, clock] = [createFakeIds(), createFakeClock()];
    const log = await openSqliteLog({ home, clock });
    if (isFault(log)) throw new Error(log.message);
    const tab = { title: "Large", cwd: "/tmp", model: "demo/demo", effort: "medium", permissions: "ask" };
    const made = await log.createTab({
      ...tab,
      id: ids.tab(),
      logId: ids.log(),
      parentId: null,
      createdAt: 0,
      options: {},
    });
    await log.close();
    if (isFault(made)) throw new Error(made.message);

    const large = await growTab({ home, tabId: made.id, rows: rows, ids, clock });

    expect(large.tail).toBeGreaterThanOrEqual(rows);
    const again = await openSqliteLog({ home, clock });
    if (isFault(again)) throw new Error(again.message);
    const page = await again.page({ logId: made.logId, after: 0, limit: 10_000 });
    await again.close();
    if (isFault(page)) throw new Error(page.message);
    expect(page.rows).toHaveLength(large.tail);
    expect(verifyRows(page.rows)).toEqual([]);
    const size = JSON.stringify(page.rows).length / large.tail;
    expect(size).toBeGreaterThan(700);
    expect(size).toBeLessThan(1_400);
  } finally {
    await rm(home, { recursive: true, force: true });
  }
});
