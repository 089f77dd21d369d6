/** Two people on real pages, a network that fails, a server that is killed: at the end everybody sees the same. */
import { expect, test } from "vitest";
import { PageWorld } from "../proxy/page-run.ts";
import { launchBrowser } from "./browser.ts";

const acts = 50;
const seeds = [1, 2, 3];

test("[SIM-52] under seeded acts and faults two pages and the log agree, and every message is there exactly once", async () => {
  const browser = await launchBrowser();
  try {
    await using world = await PageWorld.start(browser);
    let [sentInAll, doneInAll] = [0, 0];
    for (const seed of seeds) {
      const { problems, sent, done } = await world.run(seed, acts);
      expect(problems, `seed ${seed}`).toEqual([]);
      sentInAll += sent;
      doneInAll += done;
    }
    // Or there was nothing to agree on.
    expect(sentInAll).toBeGreaterThan(4 * seeds.length);
    expect(doneInAll).toBeGreaterThan((acts / 2) * seeds.length);
  } finally {
    await browser.close();
  }
}, 240_000);
