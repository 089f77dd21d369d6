/**
 * Signed-in devices. Each has a cookie and a second key: the cookie alone never suffices, for it is sent to every server on
 * this host whatever its port. Both are kept as hashes, in the log's settings, and last 90 days after the last use.
 */
import type { Clock, Fault, RandomBytes } from "@varve/protocol";
import { hashOf, newSecret, sameSecret } from "./secrets.ts";
import { type SettingStore, StoredList } from "./stored-list.ts";

/** A device lasts this long after its last use, in milliseconds. */
export const deviceLifeMs = 90 * 24 * 3_600_000;
/** The time of the last use is written at most so often. */
const touchMs = 3_600_000;
/** Devices kept; the one that was unused longest gives way. */
const devicesMax = 50;
/** Characters of a device's label; the rest is cut. */
export const labelCharsMax = 120;

interface StoredDevice {
  readonly id: string;
  readonly cookieHash: string;
  readonly keyHash: string;
  readonly label: string;
  readonly createdAt: number;
  readonly usedAt: number;
}
export type Device = Pick<StoredDevice, "id" | "label" | "createdAt" | "usedAt">;

export interface DevicePorts {
  readonly log: SettingStore;
  readonly clock: Clock;
  readonly random: RandomBytes;
}

export class Devices {
  readonly #ports: DevicePorts;
  readonly #stored: StoredList<StoredDevice>;

  private constructor(ports: DevicePorts, stored: StoredList<StoredDevice>) {
    this.#ports = ports;
    this.#stored = stored;
  }

  static async load(ports: DevicePorts): Promise<Devices> {
    return new Devices(ports, await StoredList.load(ports.log, "auth.devices", isStoredDevice));
  }

  /** Signs a device in. The two secrets are told here and never again. */
  async add(
    label: string,
  ): Promise<{ readonly device: Device; readonly cookie: string; readonly key: string } | Fault> {
    const [id, secret, key] = [
      newSecret(this.#ports.random).slice(0, 12),
      newSecret(this.#ports.random),
      newSecret(this.#ports.random),
    ];
    const now = this.#ports.clock.now();
    const cookie = `${id}.${secret}`;
    const device: StoredDevice = {
      id,
      cookieHash: hashOf(cookie),
      keyHash: hashOf(key),
      label: label.slice(0, labelCharsMax),
      createdAt: now,
      usedAt: now,
    };
    const problem = await this.#stored.change((devices) => {
      const living = devices.filter((known) => isLiving(known, now)).toSorted((a, b) => b.usedAt - a.usedAt);
      return [...living.slice(0, devicesMax - 1), device];
    });
    return problem ?? { device: publicOf(device), cookie, key };
  }

  /** The device of a cookie, its second key not yet checked. */
  byCookie(cookie: string): Device | null {
    const found = this.#living().find((device) => sameSecret(device.cookieHash, hashOf(cookie)));
    return found === undefined ? null : publicOf(found);
  }

  hasKey(id: string, key: string): boolean {
    const found = this.#byId(id);
    if (found === undefined || !sameSecret(found.keyHash, hashOf(key))) return false;
    this.#touch(found);
    return true;
  }

  /** Whether a device that came in is still signed in. Its connection is a use of it. */
  holds(id: string): boolean {
    const found = this.#byId(id);
    if (found !== undefined) this.#touch(found);
    return found !== undefined;
  }

  list(): readonly Device[] {
    return this.#living().map(publicOf);
  }

  /** The device under its new name; null when there is none. */
  async rename(id: string, label: string): Promise<Device | null | Fault> {
    if (this.#byId(id) === undefined) return null;
    const named = (device: StoredDevice): StoredDevice =>
      device.id === id ? { ...device, label: label.slice(0, labelCharsMax) } : device;
    const problem = await this.#stored.change((devices) => devices.map(named));
    const renamed = this.#byId(id);
    return problem ?? (renamed === undefined ? null : publicOf(renamed));
  }

  async revoke(id: string): Promise<boolean | Fault> {
    if (!this.#stored.records.some((device) => device.id === id)) return false;
    return (await this.#stored.change((devices) => devices.filter((device) => device.id !== id))) ?? true;
  }

  #byId(id: string): StoredDevice | undefined {
    return this.#living().find((device) => device.id === id);
  }

  #living(): readonly StoredDevice[] {
    const now = this.#ports.clock.now();
    return this.#stored.records.filter((device) => isLiving(device, now));
  }

  #touch(used: StoredDevice): void {
    const now = this.#ports.clock.now();
    if (now - used.usedAt < touchMs) return;
    // The renewed time is a comfort: if it cannot be written the device signs in again some day.
    void this.#stored.change((devices) =>
      devices.map((device) => (device.id === used.id ? { ...device, usedAt: now } : device)),
    );
  }
}

const isLiving = (device: StoredDevice, now: number): boolean => now - device.usedAt < deviceLifeMs;
const publicOf = ({ id, label, createdAt, usedAt }: StoredDevice): Device => ({ id, label, createdAt, usedAt });

function isStoredDevice(value: unknown): value is StoredDevice {
  if (typeof value !== "object" || value === null) return false;
  const has = (name: string, type: string): boolean => typeof Reflect.get(value, name) === type;
  const texts = ["id", "cookieHash", "keyHash", "label"].every((name) => has(name, "string"));
  return texts && has("createdAt", "number") && has("usedAt", "number");
}
