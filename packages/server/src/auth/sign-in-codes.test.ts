import { isFault } from "@varve/protocol";
import { createFakeClock, createPrng } from "@varve/sim";
import { describe, expect, test } from "vitest";
import { SignInCodes } from "./sign-in-codes.ts";

const minute = 60_000;

function make() {
  const clock = createFakeClock();
  const prng = createPrng(7);
  return { clock, codes: new SignInCodes({ clock, random: (into) => prng.fill(into) }) };
}
const codeOf = (outcome: ReturnType<SignInCodes["use"]>) => (isFault(outcome) ? outcome.code : "good");

describe("one-time codes", () => {
  test("[AUTH-10] a code is good once", () => {
    const { codes } = make();
    const [a, b] = [codes.make(), codes.make()];
    expect(a).toMatch(/^[\w-]{43}$/);
    expect(a).not.toBe(b);
    expect([codes.use(b), codes.use(b), codes.use(a)].map(codeOf)).toEqual(["good", "bad-link", "good"]);
  });

  test("[AUTH-10] a code is good for fifteen minutes", () => {
    const { codes, clock } = make();
    const [early, late] = [codes.make(), codes.make()];
    clock.jump(15 * minute - 1);
    expect(codeOf(codes.use(early))).toBe("good");
    clock.jump(1);
    expect(codeOf(codes.use(late))).toBe("bad-link");
  });

  test("[AUTH-10] of many unused codes the oldest gives way", () => {
    const { codes } = make();
    const made = Array.from({ length: 21 }, () => codes.make());
    expect(codeOf(codes.use(made[0] ?? ""))).toBe("bad-link");
    expect(codeOf(codes.use(made[1] ?? ""))).toBe("good");
  });

  test("[AUTH-11] after ten wrong codes every wrong one is refused for a minute; the right one still signs in", () => {
    const { codes, clock } = make();
    const good = codes.make();
    for (let n = 0; n < 10; n++) expect(codeOf(codes.use(`wrong-${n}`))).toBe("bad-link");
    expect(codeOf(codes.use("wrong-10"))).toBe("too-many-attempts");
    clock.jump(minute - 1);
    expect(codeOf(codes.use("wrong-11"))).toBe("too-many-attempts");
    expect(codeOf(codes.use(good))).toBe("good");
    expect(codeOf(codes.use(good))).toBe("too-many-attempts");
    clock.jump(1);
    expect(codeOf(codes.use("wrong-12"))).toBe("bad-link");
  });
});
