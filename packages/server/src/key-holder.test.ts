import { chmodSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createFakeClock, createPrng } from "@varve/sim";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { KeyHolder, type KeyHolderPorts, type KeyRing, keyRingWish } from "./key-holder.ts";
import { temporaryFolder } from "./testing/house.ts";

let home: string;
let path: string;
beforeEach(() => {
  home = temporaryFolder();
  path = join(home, "key");
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

/** A ring in memory. */
function fakeRing(): KeyRing & { readonly kept: Map<string, string> } {
  const kept = new Map<string, string>();
  return {
    kept,
    read: async (name) => kept.get(name) ?? null,
    write: async (name, secret) => void kept.set(name, secret),
  };
}

function holderOn(options: Partial<KeyHolderPorts> = {}) {
  const prng = createPrng(5);
  const told: string[] = [];
  const known: string[] = [];
  const holder = new KeyHolder({
    path,
    random: (into) => prng.fill(into),
    clock: createFakeClock(),
    wish: "auto",
    ring: async () => null,
    told: (event) => told.push(event),
    known: (secret) => known.push(secret),
    ...options,
  });
  return { holder, told, known };
}
const file = (): string => readFileSync(path, "utf8").trim();

describe("where the key is kept", () => {
  test("[SECRET-11] without a ring it is a file of the owner's alone", async () => {
    const { holder, told, known } = holderOn();
    expect(await holder.read()).toEqual({ kind: "none" });
    const key = await holder.readOrMake();
    expect(Buffer.isBuffer(key) && key.toString("base64")).toBe(file());
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect([told, known]).toEqual([["key-ring-unused"], [file()]]);
  });

  test("[SECRET-11] where the ring keeps it, the file says only under which name, and it is found again", async () => {
    const ring = fakeRing();
    const made = await holderOn({ ring: async () => ring }).holder.readOrMake();
    expect(file()).toBe(`keyring:${[...ring.kept.keys()][0]}`);
    expect(await holderOn({ ring: async () => ring }).holder.read()).toEqual({ kind: "key", key: made });
    // Whatever is wished for new keys, this one is where it is.
    expect(await holderOn({ ring: async () => ring, wish: "off" }).holder.read()).toEqual({ kind: "key", key: made });
  });

  test("[SECRET-11] what a file keeps stays in the file when a ring comes", async () => {
    const made = await holderOn().holder.readOrMake();
    const ring = fakeRing();
    expect(await holderOn({ ring: async () => ring }).holder.readOrMake()).toEqual(made);
    expect(ring.kept.size).toBe(0);
  });

  test.each<readonly [string, () => Promise<KeyRing | null>]>([
    ["refuses", () => Promise.reject(new Error("AccessDenied"))],
    ["is missing", async () => null],
    ["takes and does not give", async () => ({ read: async () => null, write: async () => undefined })],
  ])("[SECRET-11] a ring that %s is none: the file, or with `on` nothing at all", async (_what, ring) => {
    expect(await holderOn({ ring, wish: "on" }).holder.readOrMake()).toMatchObject({ kind: "fault" });
    expect(existsSync(path)).toBe(false);
    const { holder, told } = holderOn({ ring });
    expect(Buffer.isBuffer(await holder.readOrMake())).toBe(true);
    expect(told).toEqual(["key-ring-unused"]);
  });

  test("[SECRET-11] a ring that never answers is none after a while", async () => {
    const clock = createFakeClock();
    let asked = (): void => undefined;
    const wasAsked = new Promise<void>((resolve) => {
      asked = resolve;
    });
    const ring = (): Promise<never> => {
      asked();
      return new Promise(() => undefined);
    };
    const making = holderOn({ clock, ring }).holder.readOrMake();
    await wasAsked;
    await clock.advance(5_000);
    expect(Buffer.isBuffer(await making)).toBe(true);
  });

  test("[SECRET-12] a ring that does not give its key back costs nothing: it is told, and nothing is written over", async () => {
    const ring = fakeRing();
    await holderOn({ ring: async () => ring }).holder.readOrMake();
    const before = file();
    for (const lost of [async () => null, async () => fakeRing(), () => Promise.reject(new Error("locked"))]) {
      const { holder } = holderOn({ ring: lost });
      expect(await holder.read()).toMatchObject({ kind: "unusable" });
      expect(await holder.readOrMake()).toMatchObject({ kind: "fault" });
      expect(file()).toBe(before);
    }
  });

  test("[SECRET-12] a file that cannot be closed is read all the same", async () => {
    const key = await holderOn().holder.readOrMake();
    chmodSync(path, 0o644);
    const { holder, told } = holderOn({ close: () => Promise.reject(new Error("EPERM")) });
    expect(await holder.read()).toEqual({ kind: "key", key });
    expect(told).toEqual(["key-file-was-open"]);
  });

  test("[SECRET-12] a file that others may read is closed again, and that is told", async () => {
    await holderOn().holder.readOrMake();
    chmodSync(path, 0o644);
    const { holder, told } = holderOn();
    expect(await holder.read()).toMatchObject({ kind: "key" });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(told).toEqual(["key-file-was-open"]);
  });

  test("[SECRET-12] a file that holds no key is left as it is", async () => {
    writeFileSync(path, "something else");
    const { holder } = holderOn();
    expect(await holder.readOrMake()).toMatchObject({ kind: "fault" });
    expect(file()).toBe("something else");
  });

  test("[SECRET-11] two that need it at one time get one", async () => {
    const { holder } = holderOn();
    const [one, other] = await Promise.all([holder.readOrMake(), holder.readOrMake()]);
    expect(one).toEqual(other);
  });
});

test("[SECRET-11] what the environment says of rings, and everything else means `auto`", () => {
  expect([undefined, "", "on", "off", "maybe"].map(keyRingWish)).toEqual(["auto", "auto", "on", "off", "auto"]);
});
