import type { ChunkId } from "@varve/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { turns } from "../test-kit/net.ts";
import { chunkId } from "../test-kit/owner.ts";
import { Profile, type ProfilePage, storedEntry } from "../test-kit/profile.ts";
import { holds, leaseMs, leaseRenewMs } from "./owner-guard.ts";
import { adoptIntervalMs } from "./page-outbox.ts";

const ids = (page: ProfilePage): readonly string[] => [...page.memory].sort();

async function started(profile: Profile, ...owners: readonly string[]): Promise<ProfilePage[]> {
  const pages = owners.map((owner) => profile.page(owner));
  for (const page of pages) await page.start();
  return pages;
}
/** Time passes in steps, and what it sets going comes to rest after each. */
async function pass(profile: Profile, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += leaseRenewMs) {
    profile.clock.advance(Math.min(leaseRenewMs, ms - passed));
    await turns();
    await turns();
  }
}

describe.each(["lease", "locks"] as const)("the outbox of a page, guarded by %s", (guard) => {
  test("[OUTBOX-8] a reloaded page takes over what its former life left", async () => {
    const profile = new Profile({ guard });
    const [before] = await started(profile, "first");
    await before?.type("a");
    await before?.type("b");
    await before?.end(chunkId("b"));
    before?.close();
    await turns();
    const [after] = await started(profile, "second");
    expect(after && ids(after)).toEqual(["a"]);
    expect(profile.rows.get(chunkId("a"))?.owner).toBe("second");
  });
  test("[OUTBOX-8] what a living page owns is left to it, however long it lives", async () => {
    const profile = new Profile({ guard });
    const [living] = await started(profile, "living");
    await living?.type("a");
    const [other] = await started(profile, "other");
    await pass(profile, 10 * leaseMs);
    expect(other && ids(other)).toEqual([]);
    expect(profile.moves).toEqual([]);
    expect(profile.rows.get(chunkId("a"))?.owner).toBe("living");
  });
  test("[OUTBOX-100] a page that is closed leaves its messages to one that lives, which looks from time to time", async () => {
    const profile = new Profile({ guard });
    const [going, staying] = await started(profile, "going", "staying");
    await going?.type("a");
    going?.close();
    await pass(profile, adoptIntervalMs + leaseRenewMs);
    expect(staying && ids(staying)).toEqual(["a"]);
  });
  test("[OUTBOX-103] a client that is closed lets its page's name go and looks for nothing more", async () => {
    const profile = new Profile({ guard });
    const page = profile.page("first");
    const stop = page.outbox.adopted(() => {});
    await page.outbox.load();
    await page.type("a");
    stop();
    page.outbox.awake();
    await turns();
    const [next] = await started(profile, "second");
    expect(next && ids(next)).toEqual(["a"]);
    next?.close();
    await pass(profile, 3 * leaseMs);
    expect(profile.clock.waiting).toBe(0);
  });
});

test("[OUTBOX-8] the lock of a page that crashed is free at once, and one page gets what it left", async () => {
  const profile = new Profile({ guard: "locks" });
  const [crashed, one, two] = await started(profile, "crashed", "one", "two");
  await crashed?.type("a");
  for (const page of [one, two]) page?.outbox.awake();
  await turns();
  expect(profile.moves).toEqual([]);
  crashed?.crash();
  for (const page of [one, two]) page?.outbox.awake();
  await turns();
  expect([one, two].flatMap((page) => (page === undefined ? [] : ids(page)))).toEqual(["a"]);
  expect(profile.moves).toHaveLength(1);
});

describe("a lease", () => {
  test("[OUTBOX-101] a crashed page's messages are taken after its lease has ended, by exactly one page", async () => {
    const profile = new Profile();
    const [crashed, one, two] = await started(profile, "crashed", "one", "two");
    await crashed?.type("a");
    await crashed?.type("b");
    crashed?.crash();
    await pass(profile, leaseMs - leaseRenewMs);
    expect(profile.moves).toEqual([]);
    await pass(profile, leaseRenewMs + adoptIntervalMs);
    const got = [one, two].map((page) => (page === undefined ? [] : ids(page)));
    expect(got.flat().sort()).toEqual(["a", "b"]);
    expect(got.filter((list) => list.length > 0)).toHaveLength(1);
    expect(profile.moves).toHaveLength(2);
  });
  test("[OUTBOX-102] a frozen page whose lease ended loses nothing: both have the message, one id", async () => {
    const profile = new Profile();
    const [frozen, other] = await started(profile, "frozen", "other");
    await frozen?.type("a");
    frozen?.freeze();
    await pass(profile, leaseMs + adoptIntervalMs);
    expect(other && ids(other)).toEqual(["a"]);
    frozen?.thaw();
    await turns();
    expect(frozen && ids(frozen)).toEqual(["a"]);
    await frozen?.type("b");
    await other?.end(chunkId("a"));
    await pass(profile, 3 * leaseMs);
    expect([...profile.rows.keys()]).toEqual(["b"]);
    expect(other && ids(other)).toEqual([]);
    // The one that was frozen hears of "a" from the server, and says what it has heard.
    await frozen?.end(chunkId("a"));
    expect([...profile.rows.values()].map((row) => [row.id, row.owner])).toEqual([["b", "frozen"]]);
  });
  test.each([
    ["forwards", 3 * leaseMs],
    ["backwards", -1000 * leaseMs],
  ])("[OUTBOX-102] a clock that jumps %s keeps nobody from anything for longer than a lease", async (_name, jump) => {
    const profile = new Profile();
    const [crashed, living] = await started(profile, "crashed", "living");
    await crashed?.type("a");
    crashed?.crash();
    profile.skewMs += jump;
    await pass(profile, leaseMs + adoptIntervalMs);
    expect(living && ids(living)).toEqual(["a"]);
    await living?.type("b");
    const [late] = await started(profile, "late");
    expect(late && ids(late)).toEqual([]);
    expect(profile.rows.size).toBe(2);
  });
  test("[OUTBOX-101] a lease holds until its time, and one that is too far ahead says nothing", () => {
    const lease = { owner: "a", until: 1_000_000 };
    expect(holds(lease, 999_999)).toBe(true);
    expect(holds(lease, 1_000_000)).toBe(false);
    expect(holds(lease, 1_000_000 - leaseMs)).toBe(true);
    expect(holds(lease, 1_000_000 - leaseMs - 1)).toBe(false);
  });
  test("[OUTBOX-103] refused storage rejects the first reading and breaks nothing later", async () => {
    const profile = new Profile();
    profile.refusing = true;
    const page = profile.page("page");
    await expect(page.outbox.load()).rejects.toThrow("refused");
    page.outbox.adopted(() => {});
    await pass(profile, 3 * adoptIntervalMs);
    page.outbox.awake();
    page.outbox.release();
    await turns();
    profile.refusing = false;
    expect(await page.outbox.load()).toEqual([]);
    await page.outbox.put(storedEntry("a"));
    expect(profile.rows.size).toBe(1);
  });
});

test("[OUTBOX-100] what was taken over before the browser refused storage is told all the same, the rest later", async () => {
  let healed = false;
  const profile: Profile = new Profile({
    pause: async () => {
      profile.refusing = !healed && profile.moves.length === 1;
    },
  });
  const [one, two, living] = await started(profile, "one", "two", "living");
  await one?.type("a");
  await two?.type("b");
  one?.crash();
  two?.crash();
  await pass(profile, leaseMs + adoptIntervalMs);
  expect(profile.moves).toHaveLength(1);
  expect(living && ids(living)).toEqual(["a"]);
  healed = true;
  await pass(profile, adoptIntervalMs);
  expect(living && ids(living)).toEqual(["a", "b"]);
});

type Act =
  | { readonly act: "open" }
  | { readonly act: "type" | "end" | "close" | "crash" | "freeze" | "thaw"; readonly which: number }
  | { readonly act: "pass" | "jump"; readonly ms: number };
const which = fc.nat(5);
const acts: fc.Arbitrary<Act> = fc.oneof(
  { weight: 3, arbitrary: fc.constant({ act: "open" } as const) },
  { weight: 6, arbitrary: fc.record({ act: fc.constant("type" as const), which }) },
  { weight: 2, arbitrary: fc.record({ act: fc.constant("end" as const), which }) },
  {
    weight: 4,
    arbitrary: fc.record({ act: fc.constantFrom("close", "crash", "freeze", "thaw"), which }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      act: fc.constant("pass" as const),
      ms: fc.constantFrom(1_000, leaseRenewMs, adoptIntervalMs, leaseMs),
    }),
  },
  fc.record({ act: fc.constant("jump" as const), ms: fc.integer({ min: -10 * leaseMs, max: 10 * leaseMs }) }),
);

/** Any pages, in any state, with the transactions of all of them in any order. */
class Profiles {
  readonly pages: ProfilePage[] = [];
  readonly kept = new Set<ChunkId>();
  readonly profile: Profile;
  #typed = 0;

  constructor(scheduler: fc.Scheduler) {
    this.profile = new Profile({ pause: () => scheduler.schedule(Promise.resolve()) });
  }

  async take(act: Act): Promise<void> {
    if ("which" in act) {
      this.#onPage(act.act, this.pages[act.which % Math.max(1, this.pages.length)]);
    } else if (act.act === "open") {
      const page = this.profile.page(`page-${this.pages.length}`);
      this.pages.push(page);
      void page.start();
    } else if (act.act === "pass") {
      this.profile.clock.advance(act.ms);
    } else {
      this.profile.skewMs += act.ms;
    }
    await turns();
  }

  #onPage(act: "type" | "end" | "close" | "crash" | "freeze" | "thaw", page: ProfilePage | undefined): void {
    if (page === undefined) return;
    if (act === "thaw") {
      if (page.state === "frozen") page.thaw();
    } else if (page.state === "living") {
      const own = [...page.memory][0];
      if (act === "type") void this.#type(page);
      else if (act !== "end") page[act]();
      else if (own !== undefined) this.#end(page, own);
    }
  }
  /** It counts as kept once the store has said so. */
  async #type(page: ProfilePage): Promise<void> {
    this.#typed += 1;
    const id = `m${this.#typed}`;
    await page.type(id);
    this.kept.add(chunkId(id));
  }
  #end(page: ProfilePage, id: ChunkId): void {
    if (!this.kept.delete(id)) return;
    void page.end(id);
  }
}

test("[OUTBOX-102] in any order of pages, time and transactions: what was kept stays until its fate is known, and ends with one page", async () => {
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), fc.array(acts, { minLength: 5, maxLength: 40 }), async (scheduler, list) => {
      const world = new Profiles(scheduler);
      for (const act of list) {
        await world.take(act);
        if (scheduler.count() > 0) await scheduler.waitOne();
        for (const id of world.kept) expect(world.profile.rows.has(id), id).toBe(true);
      }
      await scheduler.waitAll();
      for (const page of world.pages) if (page.state === "living") page.close();
      await turns();
      await scheduler.waitAll();
      const last = world.profile.page("last");
      void last.start();
      for (let passed = 0; passed < leaseMs + 2 * adoptIntervalMs; passed += leaseRenewMs) {
        await turns();
        await scheduler.waitAll();
        world.profile.clock.advance(leaseRenewMs);
      }
      await turns();
      await scheduler.waitAll();
      for (const id of world.kept) expect(last.memory.has(id), id).toBe(true);
      expect([...world.profile.rows.values()].filter((row) => row.owner !== "last")).toEqual([]);
    }),
    { numRuns: 150 },
  );
});
