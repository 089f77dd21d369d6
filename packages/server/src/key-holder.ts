/**
 * Keeps the key that opens the stored credentials: in the key ring of the person's system where there is one, else in a
 * file that only its owner can read. The file `$VARVE_HOME/key` says which: it holds the key, or under which name the ring
 * holds it.
 *
 * What was kept is never lost by us: a key is made only where no file is, a ring counts as one only once the key was read
 * back from it, and what cannot be read now is reported and left as it is.
 */
import { chmod, open, readFile, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { type Clock, type Fault, fault, type RandomBytes } from "@varve/protocol";

/** The key ring of the system. Either may reject, or never answer (a locked ring waits for its person). */
export interface KeyRing {
  /** Null: it holds nothing under this name. */
  read(name: string): Promise<string | null>;
  write(name: string, secret: string): Promise<void>;
}

/** `auto`: the ring where it works, else the file. `on`: the ring or nothing. `off`: no new key goes to the ring. */
export type KeyRingWish = "auto" | "on" | "off";
export const keyRingWish = (text: string | undefined): KeyRingWish => (text === "on" || text === "off" ? text : "auto");

export interface KeyHolderPorts {
  /** `$VARVE_HOME/key`. */
  readonly path: string;
  readonly random: RandomBytes;
  readonly clock: Pick<Clock, "setTimer">;
  readonly wish: KeyRingWish;
  /** Null: this system has none. */
  readonly ring: () => Promise<KeyRing | null>;
  readonly told: (event: "key-file-was-open" | "key-ring-unused", facts: Readonly<Record<string, string>>) => void;
  /** The key is known from here on, in the form in which it is kept. */
  readonly known: (secret: string) => void;
  /** Takes the file away from others; fails where the file system has no such rights, or it is another user's. */
  readonly close?: (path: string) => Promise<void>;
}

const ownersAlone = (path: string): Promise<void> => chmod(path, 0o600);

export type HeldKey =
  | { readonly kind: "key"; readonly key: Buffer }
  /** No key was made yet. */
  | { readonly kind: "none" }
  /** There is one, and it cannot be had now. */
  | { readonly kind: "unusable"; readonly why: string };

const keyBytes = 32;
const nameBytes = 12;
/** A ring that has not answered by then is none. In ms. */
const ringMs = 5_000;
const inRing = "keyring:";

export class KeyHolder {
  readonly #ports: KeyHolderPorts;
  #key: Buffer | null = null;
  #making: Promise<Buffer | Fault> | null = null;

  constructor(ports: KeyHolderPorts) {
    this.#ports = ports;
  }

  async read(): Promise<HeldKey> {
    if (this.#key !== null) return { kind: "key", key: this.#key };
    const text = await this.#file();
    if (typeof text !== "string") return text;
    const kept = text.startsWith(inRing) ? await this.#fromRing(text.slice(inRing.length)) : text;
    if (typeof kept !== "string") return kept;
    const key = Buffer.from(kept, "base64");
    if (key.length !== keyBytes) return { kind: "unusable", why: `what ${this.#ports.path} holds is no key` };
    return { kind: "key", key: this.#keep(key) };
  }

  /** The key, made now if there is none. A fault: nothing was made, and nothing that was there was touched. */
  async readOrMake(): Promise<Buffer | Fault> {
    const held = await this.read();
    if (held.kind === "key") return held.key;
    if (held.kind === "unusable") return notKept(held.why);
    this.#making ??= this.#make().finally(() => {
      this.#making = null;
    });
    return this.#making;
  }

  async #file(): Promise<string | HeldKey> {
    const { path, told } = this.#ports;
    try {
      const { mode } = await stat(path);
      if ((mode & 0o077) !== 0) {
        // A file system without such rights, or a file of another user: the key is read all the same, and that is told.
        const closed = await (this.#ports.close ?? ownersAlone)(path).then(
          () => "yes",
          () => "no",
        );
        told("key-file-was-open", { path, mode: (mode & 0o777).toString(8), closed });
      }
      return (await readFile(path, "utf8")).trim();
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ENOENT") return { kind: "none" };
      return { kind: "unusable", why: `the key file ${path} cannot be read (${wordsOf(error)})` };
    }
  }

  async #fromRing(name: string): Promise<string | HeldKey> {
    const where = `the key is in this system's key ring (as "${name}")`;
    try {
      const ring = await this.#inTime(this.#ports.ring());
      const kept = ring === null ? null : await this.#inTime(ring.read(name));
      return (
        kept ?? {
          kind: "unusable",
          why: `${where}, and ${ring === null ? "there is no such ring" : "it is not there"}`,
        }
      );
    } catch (error) {
      return {
        kind: "unusable",
        why: `${where}, which did not give it (${wordsOf(error)}); unlock it and start again`,
      };
    }
  }

  async #make(): Promise<Buffer | Fault> {
    const { path, wish, random, told } = this.#ports;
    const key = Buffer.alloc(keyBytes);
    random(key);
    const text = key.toString("base64");
    const placed = wish === "off" ? { why: "" } : await this.#intoRing(text);
    if ("why" in placed && wish === "on") return notKept(`the key ring cannot be used: ${placed.why}`);
    if ("why" in placed && wish === "auto") told("key-ring-unused", { why: placed.why });
    try {
      const content = "name" in placed ? `${inRing}${placed.name}` : text;
      await writeLasting(path, `${content}\n`);
      return this.#keep(key);
    } catch (error) {
      return notKept(`the key file ${path} cannot be made (${wordsOf(error)})`);
    }
  }

  /** Under which name the ring has shown that it keeps it, or why it is not used. */
  async #intoRing(text: string): Promise<{ readonly name: string } | { readonly why: string }> {
    const bytes = Buffer.alloc(nameBytes);
    this.#ports.random(bytes);
    const name = bytes.toString("hex");
    try {
      const ring = await this.#inTime(this.#ports.ring());
      if (ring === null) return { why: "there is none" };
      await this.#inTime(ring.write(name, text));
      const again = await this.#inTime(ring.read(name));
      return again === text ? { name } : { why: "it did not give back what was put into it" };
    } catch (error) {
      return { why: wordsOf(error) };
    }
  }

  #keep(key: Buffer): Buffer {
    this.#key = key;
    this.#ports.known(key.toString("base64"));
    return key;
  }

  #inTime<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const late = (): void => reject(new Error(`it did not answer within ${ringMs / 1_000} s`));
      const timer = this.#ports.clock.setTimer(ringMs, late);
      work.then(resolve, reject).finally(() => timer.cancel());
    });
  }
}

/**
 * Writes a new file that survives a loss of power: what is encrypted with the key lasts from the moment at which it is
 * stored, and so must the key. Never writes over a file.
 */
async function writeLasting(path: string, content: string): Promise<void> {
  const file = await open(path, "wx", 0o600);
  try {
    await file.chmod(0o600);
    await file.writeFile(content);
    await file.sync();
  } catch (error) {
    // Half a key would stand in the way of a whole one.
    await rm(path, { force: true });
    throw error;
  } finally {
    await file.close();
  }
  // Some systems cannot sync a directory; there the file's own has to do.
  const directory = await open(dirname(path)).catch(() => null);
  await directory?.sync().catch(() => undefined);
  await directory?.close();
}

const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const notKept = (why: string): Fault =>
  fault("log-unavailable", `The key that protects stored credentials: ${why}.`, "The credential was not kept.");
