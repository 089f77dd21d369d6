/**
 * Signed-in devices. Each has a cookie and a second key: the cookie alone never suffices, for it is sent to every server on
 * this host whatever its port. Both are kept as hashes, in the log's settings, and last 90 days after the last use.
 */
import type { Log } from "@varve/log";
import type { Clock, Fault, RandomBytes } from "@varve/protocol";
import { hashOf, newSecret, sameSecret } from "./secrets.ts";

const lifeMs = 90 * 24 * 3_600_000;
/** The time of the last use is written at most so often. */
const touchMs = 3_600_000;
/** Devices kept; the one that was unused longest gives way. */
const devicesMax = 50;
const settingKey = "auth.devices";

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
  readonly log: Pick<Log, "setting" | "putSetting">;
  readonly clock: Clock;
  readonly random: RandomBytes;
}

export class Devices {
  readonly #ports: DevicePorts;
  #devices: readonly StoredDevice[];
  /** Changes are written one after another, each on what the one before it left. */
  #writing: Promise<unknown> = Promise.resolve();

  private constructor(ports: DevicePorts, devices: readonly StoredDevice[]) {
    this.#ports = ports;
    this.#devices = devices;
  }

  static async load(ports: DevicePorts): Promise<Devices> {
    return new Devices(ports, parseDevices(await ports.log.setting(settingKey)));
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
      label: label.slice(0, 120),
      createdAt: now,
      usedAt: now,
    };
    const problem = await this.#change((devices) => {
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
    const found = this.#living().find((device) => device.id === id);
    if (found === undefined || !sameSecret(found.keyHash, hashOf(key))) return false;
    this.#touch(found);
    return true;
  }

  list(): readonly Device[] {
    return this.#living().map(publicOf);
  }

  async revoke(id: string): Promise<boolean | Fault> {
    if (!this.#devices.some((device) => device.id === id)) return false;
    return (await this.#change((devices) => devices.filter((device) => device.id !== id))) ?? true;
  }

  #living(): readonly StoredDevice[] {
    const now = this.#ports.clock.now();
    return this.#devices.filter((device) => isLiving(device, now));
  }

  #touch(used: StoredDevice): void {
    const now = this.#ports.clock.now();
    if (now - used.usedAt < touchMs) return;
    // The renewed time is a comfort: if it cannot be written the device signs in again some day.
    void this.#change((devices) =>
      devices.map((device) => (device.id === used.id ? { ...device, usedAt: now } : device)),
    );
  }

  #change(next: (devices: readonly StoredDevice[]) => readonly StoredDevice[]): Promise<Fault | null> {
    const written = this.#writing.then(async () => {
      const devices = next(this.#devices);
      const problem = await this.#ports.log.putSetting(settingKey, JSON.stringify(devices));
      if (problem === null) this.#devices = devices;
      return problem;
    });
    this.#writing = written;
    return written;
  }
}

const isLiving = (device: StoredDevice, now: number): boolean => now - device.usedAt < lifeMs;
const publicOf = ({ id, label, createdAt, usedAt }: StoredDevice): Device => ({ id, label, createdAt, usedAt });

/** What another version or a damaged setting left is not trusted: those devices sign in again. */
function parseDevices(text: string | null): readonly StoredDevice[] {
  if (text === null) return [];
  try {
    const parsed: unknown = JSON.parse(text);
    return Array.isArray(parsed) ? parsed.filter(isStoredDevice) : [];
  } catch {
    // Not JSON: nobody is signed in, which is safe and shown by the sign-in page.
    return [];
  }
}

function isStoredDevice(value: unknown): value is StoredDevice {
  if (typeof value !== "object" || value === null) return false;
  const has = (name: string, type: string): boolean => typeof Reflect.get(value, name) === type;
  const texts = ["id", "cookieHash", "keyHash", "label"].every((name) => has(name, "string"));
  return texts && has("createdAt", "number") && has("usedAt", "number");
}
