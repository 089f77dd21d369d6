import { expect, test } from "vitest";
import { runKills } from "./kill-loop.ts";

test("[SIM-60, SIM-61, SIM-62, SIM-63, SIM-64, SIM-65] the real server killed twenty times under agents at work and posting clients loses nothing, doubles nothing and runs nothing twice", async () => {
  const report = await runKills({ seed: 20, kills: 20 });
  console.info(JSON.stringify(report));
  expect(report.violations).toEqual([]);
  expect(report.kills).toBeGreaterThanOrEqual(20);
  expect(report.messages).toBeGreaterThan(20);
  expect(report.kept.mean).toBeGreaterThanOrEqual(0.95);
  expect(report.kept.min).toBeGreaterThanOrEqual(0.95);
}, 400_000);
