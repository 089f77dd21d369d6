import { createHash } from "node:crypto";
import { digestLine, isFault, limits, type NewRow, noTurn, toTravelling } from "@varve/protocol";
import { expect, test } from "vitest";
import { makeRig } from "./testing/rig.ts";

test("[HTTP-16] a digest of many rows is read in pages, between which whatever else waits has its turn", async () => {
  await using rig = await makeRig();
  const claim = await rig.log.claim(rig.tab, 1);
  if (claim === null || isFault(claim)) throw new Error("it can be claimed");
  const count = limits.pageRowsMax * 2 + 1;
  const rows = Array.from({ length: count }, (_, at): NewRow => {
    const data = { kind: "note", topic: "t", text: `row ${at}` } as const;
    return {
      id: rig.id(`r${at}`),
      turnId: noTurn,
      step: 0,
      role: "system",
      type: "system",
      data,
      createdAt: at,
    };
  });
  const written = await rig.log.commit(claim, { rows });
  if (written.kind !== "committed") throw new Error(written.kind);
  await rig.workspace.head(rig.tab);
  let turns = 0;
  const look = (): void => {
    turns++;
    if (!over) setImmediate(look);
  };
  let over = false;
  setImmediate(look);
  const digest = await rig.workspace.digest(rig.tab, 1, count);
  over = true;
  expect(turns).toBeGreaterThanOrEqual(2);
  const hash = createHash("sha256");
  for (const row of written.rows) hash.update(digestLine(toTravelling(row, rig.tab)));
  expect(digest).toBe(hash.digest("hex"));
});
