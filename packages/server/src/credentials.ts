/**
 * Keys that a person gave. They are tried once before they are kept, encrypted with a key that is held elsewhere, and never
 * handed out again: whoever reads the database alone reads no key.
 */
import { createCipheriv, createDecipheriv } from "node:crypto";
import type { KnownCredential, ModelRegistry } from "@varve/agent";
import type { KeyEntry, Log } from "@varve/log";
import {
  type Clock,
  type Credential,
  type Fault,
  fault,
  isFault,
  type NewCredential,
  type RandomBytes,
} from "@varve/protocol";
import type { HeldKey, KeyHolder } from "./key-holder.ts";
import { typedKey } from "./typed-key.ts";

export interface CredentialPorts {
  readonly log: Pick<Log, "keys" | "putKey" | "removeKey">;
  readonly models: ModelRegistry;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly holder: Pick<KeyHolder, "read" | "readOrMake">;
  /** A stored key that cannot be used; it is kept as it is. */
  readonly unreadable: (keyId: string, why: string) => void;
}

/** Stored credentials at most. */
const credentialsMax = 100;
const keyCharsMax = 4_096;
const sealedMark = "v1:";
const providers: readonly string[] = ["anthropic", "openai", "google", "openai-compatible"];

export class Credentials {
  readonly #ports: CredentialPorts;
  #stored: readonly KnownCredential[] = [];
  /** Ids of what is kept and cannot be opened now: none of them is free. */
  #closed: readonly string[] = [];

  private constructor(ports: CredentialPorts) {
    this.#ports = ports;
  }

  static async load(ports: CredentialPorts): Promise<Credentials> {
    const credentials = new Credentials(ports);
    const entries = await ports.log.keys();
    if (entries.length === 0) return credentials;
    const held = await ports.holder.read();
    const known = entries.flatMap((entry) => {
      const opened = openEntry(entry, held);
      if (typeof opened !== "string") return [opened];
      ports.unreadable(entry.keyId, opened);
      return [];
    });
    credentials.#keep(known);
    credentials.#closed = entries.map(({ keyId }) => keyId).filter((id) => !known.some((one) => one.id === id));
    return credentials;
  }

  async add(wanted: NewCredential): Promise<Credential | Fault> {
    const { models, clock, log } = this.#ports;
    const credential = { ...trimmed(wanted), id: wanted.id ?? this.#freeId(wanted.provider) };
    const refused = this.#refusal(credential) ?? (await models.check(credential));
    if (refused !== null) return refused;
    const secret = await this.#seal(credential.key ?? null, credential.id);
    if (isFault(secret)) return secret;
    const at = clock.now();
    const baseUrl = credential.baseUrl ?? null;
    const problem = await log.putKey({
      keyId: credential.id,
      provider: credential.provider,
      secret,
      baseUrl,
      importedAt: at,
      updatedAt: at,
    });
    if (problem !== null) return problem;
    const { id, provider, key = null } = credential;
    this.#keep([...this.#stored.filter((known) => known.id !== id), { id, provider, key, baseUrl, source: "stored" }]);
    const kept = models.credentials().find((known) => known.id === id);
    return kept ?? fault("internal", "The key was kept and is not listed.");
  }

  async remove(id: string): Promise<Fault | null> {
    if (!this.#stored.some((known) => known.id === id)) {
      const fromEnvironment = this.#ports.models.credentials().some((known) => known.id === id);
      return fromEnvironment
        ? fault("bad-request", `"${id}" comes from the server's environment.`, "Unset the variable and start again.")
        : fault("unknown-credential", "There is no such credential.");
    }
    const problem = await this.#ports.log.removeKey(id);
    if (problem === null) this.#keep(this.#stored.filter((known) => known.id !== id));
    return problem;
  }

  #refusal(credential: NewCredential & { readonly id: string }): Fault | null {
    if (credential.key === undefined && credential.baseUrl === undefined) {
      return fault("bad-request", "A key or an address is needed.", "Nothing was kept.");
    }
    if ((credential.key?.length ?? 0) > keyCharsMax || (credential.baseUrl?.length ?? 0) > keyCharsMax) {
      return fault("bad-request", `A key or an address has at most ${keyCharsMax} characters.`, "Nothing was kept.");
    }
    if (credential.key !== undefined && !/^[\x21-\x7e]+$/.test(credential.key)) {
      return fault(
        "credential-refused",
        "A key has no spaces or special characters.",
        "Paste it again; nothing was kept.",
      );
    }
    if (holdsSecret(credential.baseUrl)) {
      return fault(
        "bad-request",
        "An address must not hold a user name, password or query.",
        "Put the key into its own field, where it is kept encrypted; nothing was kept.",
      );
    }
    if (this.#stored.length < credentialsMax || this.#stored.some((known) => known.id === credential.id)) return null;
    return fault("bad-request", `At most ${credentialsMax} credentials are kept.`, "Remove one first.");
  }

  #freeId(provider: string): string {
    const listed = this.#ports.models.credentials().flatMap(({ id, source }) => (source === "environment" ? [] : id));
    const taken = new Set([...listed, ...this.#closed]);
    for (let n = 1; ; n++) {
      const id = n === 1 ? provider : `${provider}-${n}`;
      if (!taken.has(id)) return id;
    }
  }

  #keep(stored: readonly KnownCredential[]): void {
    this.#stored = stored;
    this.#ports.models.setStored(stored);
  }

  async #seal(key: string | null, id: string): Promise<string | null | Fault> {
    if (key === null) return null;
    const held = await this.#ports.holder.readOrMake();
    if (isFault(held)) return held;
    const iv = new Uint8Array(12);
    this.#ports.random(iv);
    const cipher = createCipheriv("aes-256-gcm", held, iv).setAAD(Buffer.from(id));
    const text = Buffer.concat([cipher.update(key, "utf8"), cipher.final()]);
    return `${sealedMark}${Buffer.concat([iv, cipher.getAuthTag(), text]).toString("base64")}`;
  }
}

function trimmed({ provider, key, baseUrl }: NewCredential): NewCredential {
  const [cleanKey, cleanUrl] = [key === undefined ? undefined : typedKey(key), baseUrl?.trim()];
  return { provider, ...(cleanKey && { key: cleanKey }), ...(cleanUrl && { baseUrl: cleanUrl }) };
}

/** Addresses are shown and logged as they are, so what only a key may hold must not be in one. */
function holdsSecret(baseUrl: string | undefined): boolean {
  if (baseUrl === undefined || !URL.canParse(baseUrl)) return false;
  const { username, password, search } = new URL(baseUrl);
  return username !== "" || password !== "" || search !== "";
}

/** The credential, or why it cannot be used. */
function openEntry(entry: KeyEntry, held: HeldKey): KnownCredential | string {
  const { keyId: id, provider, secret, baseUrl } = entry;
  if (!isProvider(provider)) return `its provider "${provider}" is not known`;
  const known = { id, provider, baseUrl, source: "stored" } as const;
  // Taken over from an older database, where keys stood as they are.
  if (secret === null || !secret.startsWith(sealedMark)) return { ...known, key: secret };
  if (held.kind === "none") return "the key file of this home is missing";
  if (held.kind === "unusable") return held.why;
  const bytes = Buffer.from(secret.slice(sealedMark.length), "base64");
  try {
    const decipher = createDecipheriv("aes-256-gcm", held.key, bytes.subarray(0, 12)).setAAD(Buffer.from(id));
    decipher.setAuthTag(bytes.subarray(12, 28));
    return { ...known, key: Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString("utf8") };
  } catch {
    // The engine's words say nothing more than that it does not fit.
    return "it was encrypted with another key file";
  }
}

const isProvider = (name: string): name is Credential["provider"] => providers.includes(name);
