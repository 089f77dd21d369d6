import { type Log, memoryLog } from "@varve/log";
import { fault, isFault } from "@varve/protocol";
import { createFakeClock, createPrng, type FakeClock } from "@varve/sim";
import { describe, expect, test } from "vitest";
import { ApiTokens, apiTokenPattern } from "./api-tokens.ts";

const day = 24 * 3_600_000;

async function make(log: Pick<Log, "setting" | "putSetting"> = memoryLog(), clock: FakeClock = createFakeClock()) {
  const prng = createPrng(11);
  const load = () => ApiTokens.load({ log, clock, random: (into) => prng.fill(into) });
  return { log, clock, load, tokens: await load() };
}
async function added(tokens: ApiTokens, name: string, days: number | null = null) {
  const outcome = await tokens.add(name, days);
  if (isFault(outcome)) throw new Error(outcome.message);
  return outcome;
}

describe("named tokens", () => {
  test("[AUTH-30] only a hash of the secret is stored, and lists hold neither", async () => {
    const { tokens, log } = await make();
    const { secret, token } = await added(tokens, "ci");
    expect(secret).toMatch(new RegExp(`^${apiTokenPattern.source}$`));
    const stored = (await log.setting("auth.tokens")) ?? "";
    for (const text of [stored, JSON.stringify(tokens.list())]) {
      expect(text).not.toContain(secret);
      expect(text).not.toContain(secret.slice(6));
      expect(text).toContain(secret.slice(-4));
    }
    expect(tokens.list()).toEqual([token]);
    expect(JSON.stringify(tokens.list())).not.toContain("hash");
  });

  test("[AUTH-30] a token survives a restart, until it is taken back", async () => {
    const { tokens, load, clock } = await make();
    const { secret, token } = await added(tokens, "ci");
    clock.jump(1_000 * day);
    expect((await load()).bySecret(secret)).toEqual(token);
    for (const wrong of ["", secret.slice(0, -1), `${secret}x`, secret.toLowerCase(), token.id, token.name]) {
      expect(tokens.bySecret(wrong), wrong).toBeNull();
    }
    expect(await tokens.revoke(token.id)).toBe(true);
    expect(tokens.bySecret(secret)).toBeNull();
    expect(tokens.holds(token.id)).toBe(false);
    expect((await load()).list()).toEqual([]);
    expect(await tokens.revoke(token.id)).toBe(false);
  });

  test("[AUTH-33] one that was made for some days ends with them, to the millisecond, used or not", async () => {
    const { tokens, clock } = await make();
    const { secret, token } = await added(tokens, "week", 7);
    expect(token.expiresAt).toBe(clock.now() + 7 * day);
    clock.jump(7 * day - 1);
    expect(tokens.bySecret(secret)).not.toBeNull();
    clock.jump(1);
    expect(tokens.bySecret(secret)).toBeNull();
    expect(tokens.holds(token.id)).toBe(false);
    expect(tokens.list()).toEqual([]);
  });

  test("[AUTH-30] its last use is told, and written once in five minutes at most", async () => {
    const log = memoryLog();
    let writes = 0;
    const counted = {
      setting: (key: string) => log.setting(key),
      putSetting: (key: string, value: string) => {
        writes += 1;
        return log.putSetting(key, value);
      },
    };
    const { tokens, clock } = await make(counted);
    const { secret, token } = await added(tokens, "ci");
    expect(tokens.list()[0]?.usedAt).toBeNull();
    const usedAt = clock.now();
    for (let n = 0; n < 50; n++) {
      tokens.bySecret(secret);
      await clock.advance(5_000);
    }
    expect(tokens.list()[0]?.usedAt).toBe(usedAt);
    expect(writes).toBe(2);
    await clock.advance(60_000);
    tokens.holds(token.id);
    await clock.advance(0);
    expect(tokens.list()[0]?.usedAt).toBe(clock.now());
  });

  test("[AUTH-32] a name is used once at a time, whatever its letters; made at the same moment, one of two wins", async () => {
    const { tokens } = await make();
    const both = await Promise.all([tokens.add("ci", null), tokens.add("CI", null)]);
    expect(both.map(isFault)).toEqual([false, true]);
    expect(both[1]).toMatchObject({ code: "id-taken" });
    await tokens.revoke(tokens.list()[0]?.id ?? "");
    await added(tokens, "CI");
  });

  test.each([[""], ["a b"], ["-a"], ["a".repeat(41)], ["ä"], ["a\n"], ["a\u202eb"], ["../a"], ["a:b"]])(
    "[AUTH-30] %j is no name of a token",
    async (name) => {
      const { tokens } = await make();
      expect(await tokens.add(name, null)).toMatchObject({ code: "bad-request" });
      expect(tokens.list()).toEqual([]);
    },
  );

  test("[AUTH-32] of more than fifty the next is refused, and no other is lost; one that has ended makes room", async () => {
    const { tokens, clock } = await make();
    await added(tokens, "short", 1);
    for (let n = 1; n < 50; n++) await added(tokens, `t${n}`);
    expect(await tokens.add("more", null)).toMatchObject({ code: "bad-request" });
    expect(tokens.list()).toHaveLength(50);
    clock.jump(day);
    await added(tokens, "more");
    expect(tokens.list()).toHaveLength(50);
  });

  test("[AUTH-30] what cannot be written does not count, and damaged settings let nobody in", async () => {
    const full = fault("disk-full", "full");
    const { tokens } = await make({ setting: async () => null, putSetting: async () => full });
    expect(await tokens.add("ci", null)).toEqual(full);
    expect(tokens.list()).toEqual([]);
    for (const text of ["", "{}", "[1]", "null", '[{"id":"a","hash":"b"}]', "nonsense"]) {
      const damaged = await make({ setting: async () => text, putSetting: async () => null });
      expect(damaged.tokens.list()).toEqual([]);
    }
  });
});
