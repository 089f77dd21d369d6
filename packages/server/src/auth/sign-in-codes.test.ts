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
const use = (codes: SignInCodes, code: string, client = "192.0.2.1") => codes.use(code, client);
const codeOf = (outcome: ReturnType<SignInCodes["use"]>) => (isFault(outcome) ? outcome.code : "good");

describe("one-time codes", () => {
  test("[AUTH-10] a code is good once", () => {
    const { codes } = make();
    const [a, b] = [codes.make(), codes.make()];
    expect(a).toMatch(/^[\w-]{43}$/);
    expect(a).not.toBe(b);
    expect([use(codes, b), use(codes, b), use(codes, a)].map(codeOf)).toEqual(["good", "bad-link", "good"]);
  });

  test("[AUTH-10] a code is good for fifteen minutes", () => {
    const { codes, clock } = make();
    const [early, late] = [codes.make(), codes.make()];
    clock.jump(15 * minute - 1);
    expect(codeOf(use(codes, early))).toBe("good");
    clock.jump(1);
    expect(codeOf(use(codes, late))).toBe("bad-link");
  });

  test("[AUTH-10] of many unused codes the oldest gives way", () => {
    const { codes } = make();
    const made = Array.from({ length: 21 }, () => codes.make());
    expect(codeOf(use(codes, made[0] ?? ""))).toBe("bad-link");
    expect(codeOf(use(codes, made[1] ?? ""))).toBe("good");
  });

  test("[AUTH-11] after ten wrong codes every wrong one is refused for a minute; the right one still signs in", () => {
    const { codes, clock } = make();
    const good = codes.make();
    for (let n = 0; n < 10; n++) expect(codeOf(use(codes, `wrong-${n}`))).toBe("bad-link");
    expect(codeOf(use(codes, "wrong-10"))).toBe("too-many-attempts");
    clock.jump(minute - 1);
    expect(codeOf(use(codes, "wrong-11"))).toBe("too-many-attempts");
    expect(codeOf(use(codes, good))).toBe("good");
    expect(codeOf(use(codes, good))).toBe("too-many-attempts");
    clock.jump(1);
    expect(codeOf(use(codes, "wrong-12"))).toBe("bad-link");
  });

  test("[AUTH-11] each caller has its own count, and a household's IPv6 network is one caller", () => {
    const { codes } = make();
    for (let n = 0; n < 10; n++) use(codes, "wrong", `2001:db8:1:2:${n}::${n}`);
    expect(codeOf(use(codes, "wrong", "2001:db8:1:2::ffff"))).toBe("too-many-attempts");
    expect(codeOf(use(codes, "wrong", "2001:0DB8:0001:0002:9:9:9:9"))).toBe("too-many-attempts");
    expect(codeOf(use(codes, "wrong", "2001:db8:1:3::1"))).toBe("bad-link");
    expect(codeOf(use(codes, "wrong", "192.0.2.7"))).toBe("bad-link");
    for (let n = 0; n < 9; n++) use(codes, "wrong", "::1");
    expect(codeOf(use(codes, "wrong", "::2"))).toBe("bad-link");
    expect(codeOf(use(codes, "wrong", "::1"))).toBe("too-many-attempts");
  });

  test("[AUTH-11] after a hundred wrong codes of everybody each further one is refused, so many addresses gain nothing", () => {
    const { codes, clock } = make();
    const good = codes.make();
    const answers = Array.from({ length: 10_000 }, (_, n) =>
      codeOf(use(codes, "wrong", `198.51.${n >> 8}.${n % 256}`)),
    );
    expect(answers.filter((code) => code === "bad-link")).toHaveLength(100);
    expect(codeOf(use(codes, good, "192.0.2.2"))).toBe("good");
    clock.jump(minute);
    expect(codeOf(use(codes, "wrong", "192.0.2.2"))).toBe("bad-link");
  });
});
