/** A folder that is asked at every row, by turns for other models, efforts and logs: what it answers is what a fold from nothing does. */
import { isFault, type StoredRow } from "@varve/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { buildRequest, createFolder } from "./folder.ts";
import { adapters, olderAdapters } from "./testing/adapters.ts";
import { pixelBlob } from "./testing/folded.ts";
import { disturbed } from "./testing/intruders.ts";
import { loggedLogs, randomLogsFor } from "./testing/random-log.ts";
import { send } from "./testing/send.ts";

const every = [...adapters, ...olderAdapters];
const scopes = every.map(({ target }) => target.modelScope);
const logs = fc.oneof(
  disturbed(loggedLogs),
  fc.constantFrom(...scopes).chain((scope) => disturbed(randomLogsFor(scope))),
);

const asks = fc.record({
  model: fc.nat(),
  effort: fc.constantFrom("default", "default", "high"),
  name: fc.constantFrom("m", "m", "n"),
  /** How many more rows there are than with the ask before; fewer after a clear. */
  grows: fc.oneof({ weight: 8, arbitrary: fc.constant(1) }, fc.constantFrom(0, 2, -4, -100)),
  /** Another log: a fork, the same rows read anew, or one of its own. */
  log: fc.oneof({ weight: 12, arbitrary: fc.constant(null) }, fc.nat(3)),
  /** Read when all is over, when the folder has long gone on. */
  late: fc.boolean(),
});

interface Answer {
  readonly long: ReturnType<typeof buildRequest>;
  readonly fresh: ReturnType<typeof buildRequest>;
}

/** A fold from nothing knows no earlier request, so it can't tell where two part; all else must be the same. */
function expectSame({ long, fresh }: Answer): void {
  if (isFault(long) || isFault(fresh) || fresh.guard.kind !== "changed") {
    expect(JSON.stringify(long)).toBe(JSON.stringify(fresh));
    return;
  }
  expect(long.guard.kind).toBe("changed");
  expect(JSON.stringify({ ...long, guard: fresh.guard })).toBe(JSON.stringify(fresh));
}

describe("a folder that is asked at every row", () => {
  test("[WIRE-80] by turns for several models, over forks and logs read anew, read late", {
    timeout: 240_000,
  }, async () => {
    let compared = 0;
    const models = fc.array(fc.constantFrom(...every), { minLength: 1, maxLength: 3 });
    const script = fc.array(asks, { minLength: 30, maxLength: 60 });
    const property = fc.asyncProperty(logs, logs, fc.nat(), models, script, async (one, other, cut, few, asked) => {
      const shared = 1 + (cut % one.length);
      const lists = [one, [...one.slice(0, shared), ...other.slice(shared)], one.map((row) => ({ ...row })), other];
      const folder = createFolder();
      const later: Answer[] = [];
      let [rows, end]: [readonly StoredRow[], number] = [one, 1];
      for (const ask of asked) {
        if (ask.log !== null) rows = lists[ask.log] ?? one;
        end = Math.max(1, Math.min(rows.length, end + ask.grows));
        const adapter = few[ask.model % few.length];
        if (adapter === undefined) continue;
        const { name: modelName, effort } = ask;
        const input = {
          rows: rows.slice(0, end),
          target: adapter.target,
          modelName,
          effort,
          blobs: pixelBlob,
        } as const;
        const answer = { long: folder.request(input), fresh: buildRequest(input) };
        compared += 1;
        if (ask.late) later.push(answer);
        else expectSame(answer);
        // What a package is handed is frozen there, so that the folder's own work is shown to write to nothing it gave away.
        const { long } = answer;
        if (compared % 9 > 0 || isFault(long) || long.endsDerived || long.violations.length > 0) continue;
        expect((await send(long, adapter.model)).warnings).toEqual([]);
      }
      later.forEach(expectSame);
    });
    await fc.assert(property, { seed: 20_261_130, numRuns: 24 });
    expect(compared).toBeGreaterThan(700);
  });
});
