import { type Log, memoryLog } from "@varve/log";
import { fault, isFault } from "@varve/protocol";
import { createFakeClock, createPrng, type FakeClock } from "@varve/sim";
import { describe, expect, test } from "vitest";
import { Devices } from "./devices.ts";

const day = 24 * 3_600_000;

async function make(log: Pick<Log, "setting" | "putSetting"> = memoryLog(), clock: FakeClock = createFakeClock()) {
  const prng = createPrng(clock.now() % 1_000);
  const load = () => Devices.load({ log, clock, random: (into) => prng.fill(into) });
  return { log, clock, load, devices: await load() };
}
async function added(devices: Devices, label = "a browser") {
  const outcome = await devices.add(label);
  if (isFault(outcome)) throw new Error(outcome.message);
  return outcome;
}

describe("signed-in devices", () => {
  test("[AUTH-12] what is stored holds neither the cookie nor the key", async () => {
    const { devices, log } = await make();
    const { cookie, key, device } = await added(devices);
    const stored = await log.setting("auth.devices");
    const [, secret = "none"] = cookie.split(".");
    for (const hidden of [cookie, secret, key]) expect(stored).not.toContain(hidden);
    expect(stored).toContain(device.id);
    expect(JSON.stringify(devices.list())).not.toMatch(/hash/i);
  });

  test("[AUTH-13] a device survives a restart", async () => {
    const { devices, load } = await make();
    const { cookie, key, device } = await added(devices);
    const again = await load();
    expect(again.byCookie(cookie)).toEqual(device);
    expect(again.hasKey(device.id, key)).toBe(true);
    expect(again.hasKey(device.id, `${key}x`)).toBe(false);
    expect(again.byCookie(`${cookie}x`)).toBeNull();
  });

  test("[AUTH-13] a device lasts ninety days after its last use, and no longer", async () => {
    const { devices, clock, load } = await make();
    const { cookie, key, device } = await added(devices);
    clock.jump(89 * day);
    expect(devices.hasKey(device.id, key)).toBe(true);
    await clock.advance(0);
    clock.jump(89 * day);
    expect((await load()).byCookie(cookie)).not.toBeNull();
    clock.jump(day);
    expect((await load()).byCookie(cookie)).toBeNull();
    expect(devices.hasKey(device.id, key)).toBe(false);
  });

  test("[AUTH-13] of more than fifty the one that was unused longest gives way", async () => {
    const { devices, clock } = await make();
    const first = await added(devices, "first");
    clock.jump(2 * 3_600_000);
    const second = await added(devices, "second");
    clock.jump(2 * 3_600_000);
    expect(devices.hasKey(first.device.id, first.key)).toBe(true);
    for (let n = 0; n < 49; n++) await added(devices);
    expect(devices.byCookie(first.cookie)).not.toBeNull();
    expect(devices.byCookie(second.cookie)).toBeNull();
    expect(devices.list()).toHaveLength(50);
  });

  test("[AUTH-13] devices that sign in at the same time are all kept", async () => {
    const { devices } = await make();
    const all = await Promise.all(Array.from({ length: 10 }, () => added(devices)));
    for (const { cookie } of all) expect(devices.byCookie(cookie)).not.toBeNull();
  });

  test("[AUTH-14] a device that was signed out is gone at once", async () => {
    const { devices, load } = await make();
    const { cookie, key, device } = await added(devices);
    expect(await devices.revoke(device.id)).toBe(true);
    expect(devices.byCookie(cookie)).toBeNull();
    expect(devices.hasKey(device.id, key)).toBe(false);
    expect((await load()).byCookie(cookie)).toBeNull();
    expect(await devices.revoke(device.id)).toBe(false);
  });

  test("[AUTH-12] what cannot be written does not count, and damaged settings sign nobody in", async () => {
    const full = fault("disk-full", "full");
    const { devices } = await make({ setting: async () => null, putSetting: async () => full });
    expect(await devices.add("x")).toEqual(full);
    expect(devices.list()).toEqual([]);
    for (const text of ["", "{}", "[1]", "null", '[{"id":"a"}]', "nonsense"]) {
      const damaged = await make({ setting: async () => text, putSetting: async () => null });
      expect(damaged.devices.list()).toEqual([]);
    }
  });

  test("[AUTH-13] an open connection is a use of its device", async () => {
    const { devices, clock, load } = await make();
    const { cookie, device } = await added(devices);
    for (let n = 0; n < 4; n++) {
      clock.jump(60 * day);
      expect(devices.holds(device.id)).toBe(true);
      await clock.advance(0);
    }
    expect((await load()).byCookie(cookie)).not.toBeNull();
    clock.jump(90 * day);
    expect(devices.holds(device.id)).toBe(false);
    expect(devices.holds("unknown")).toBe(false);
  });

  test("[AUTH-12] a device is given another name, cut to its length; what cannot be written leaves the old one", async () => {
    const { devices, load, log, clock } = await make();
    const { device } = await added(devices);
    expect(await devices.rename(device.id, `kitchen${"x".repeat(200)}`)).toMatchObject({ id: device.id });
    expect((await load()).list()[0]?.label).toBe(`kitchen${"x".repeat(113)}`);
    expect(await devices.rename("unknown", "x")).toBeNull();
    const full = fault("disk-full", "full");
    const setting = (key: string) => log.setting(key);
    const stuck = await make({ setting, putSetting: async () => full }, clock);
    expect(await stuck.devices.rename(device.id, "other")).toEqual(full);
    expect(stuck.devices.list()[0]?.label).toMatch(/^kitchen/);
  });
});
