/**
 * Named tokens for programs, beside the one token of the home. A program that has one can do what the home's token can,
 * but for letting others in: so that taking it back takes back all that it gave. Kept as hashes, in the log's settings.
 */
import { type Clock, type Fault, fault, isFault, type RandomBytes } from "@varve/protocol";
import { hashOf, newSecret, sameSecret } from "./secrets.ts";
import { type SettingStore, StoredList } from "./stored-list.ts";

/** Tokens kept; one more is refused, so that no program loses its own without being told. */
const tokensMax = 50;
/** The time of the last use is written at most so often. */
const touchMs = 5 * 60_000;
const dayMs = 24 * 3_600_000;
/** Days that a token may be given at most. */
export const tokenDaysMax = 3_650;
/** Names stand in rows and on terminals. */
export const tokenNamePattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$/;
/** So begins every named token: what it is shows wherever one turns up by mistake. */
const prefix = "varve_";
/** Every secret of a named token in a text. */
export const apiTokenPattern = /varve_[A-Za-z0-9_-]{43}/g;

interface StoredToken {
  readonly id: string;
  readonly name: string;
  readonly hash: string;
  readonly lastFour: string;
  readonly createdAt: number;
  readonly usedAt: number | null;
  readonly expiresAt: number | null;
}
export type ApiToken = Omit<StoredToken, "hash">;

export interface ApiTokenPorts {
  readonly log: SettingStore;
  readonly clock: Clock;
  readonly random: RandomBytes;
}

export class ApiTokens {
  readonly #ports: ApiTokenPorts;
  readonly #stored: StoredList<StoredToken>;

  private constructor(ports: ApiTokenPorts, stored: StoredList<StoredToken>) {
    this.#ports = ports;
    this.#stored = stored;
  }

  static async load(ports: ApiTokenPorts): Promise<ApiTokens> {
    return new ApiTokens(ports, await StoredList.load(ports.log, "auth.tokens", isStoredToken));
  }

  /** The secret is told here and never again. `days`: none means until it is taken back. */
  async add(name: string, days: number | null): Promise<{ readonly token: ApiToken; readonly secret: string } | Fault> {
    if (!tokenNamePattern.test(name)) return badName();
    const secret = `${prefix}${newSecret(this.#ports.random)}`;
    const now = this.#ports.clock.now();
    const token: StoredToken = {
      id: newSecret(this.#ports.random).replaceAll(/[-_]/g, "").slice(0, 12),
      name,
      hash: hashOf(secret),
      lastFour: secret.slice(-4),
      createdAt: now,
      usedAt: null,
      expiresAt: days === null ? null : now + days * dayMs,
    };
    const problem = await this.#stored.change((tokens) => {
      const living = tokens.filter((known) => isLiving(known, now));
      if (living.some((known) => known.name.toLowerCase() === name.toLowerCase())) return nameTaken(name);
      return living.length >= tokensMax ? tooMany() : [...living, token];
    });
    return problem ?? { token: publicOf(token), secret };
  }

  /** The token that this secret is, and a use of it. */
  bySecret(secret: string): ApiToken | null {
    const hash = hashOf(secret);
    // All are looked at, whichever it is.
    const [found] = this.#living().filter((token) => sameSecret(token.hash, hash));
    if (found === undefined) return null;
    this.#touch(found);
    return publicOf(found);
  }

  /** Whether a token that came in is still good. Its connection is a use of it. */
  holds(id: string): boolean {
    const found = this.#living().find((token) => token.id === id);
    if (found !== undefined) this.#touch(found);
    return found !== undefined;
  }

  list(): readonly ApiToken[] {
    return this.#living().map(publicOf);
  }

  async revoke(id: string): Promise<boolean | Fault> {
    if (!this.#stored.records.some((token) => token.id === id)) return false;
    const problem = await this.#stored.change((tokens) => tokens.filter((token) => token.id !== id));
    return isFault(problem) ? problem : true;
  }

  #living(): readonly StoredToken[] {
    const now = this.#ports.clock.now();
    return this.#stored.records.filter((token) => isLiving(token, now));
  }

  #touch(used: StoredToken): void {
    const now = this.#ports.clock.now();
    if (used.usedAt !== null && now - used.usedAt < touchMs) return;
    // For the list alone: a time that cannot be written costs nobody anything.
    void this.#stored.change((tokens) =>
      tokens.map((token) => (token.id === used.id ? { ...token, usedAt: now } : token)),
    );
  }
}

const isLiving = ({ expiresAt }: StoredToken, now: number): boolean => expiresAt === null || now < expiresAt;
const publicOf = ({ hash: _hash, ...rest }: StoredToken): ApiToken => rest;

const badName = (): Fault =>
  fault(
    "bad-request",
    "The name of a token has 1 to 40 letters, digits, `.`, `_` or `-`, and begins with a letter or a digit.",
    "Nothing was made.",
  );
const nameTaken = (name: string): Fault =>
  fault("id-taken", `There is a token named ${name} already.`, "Choose another name, or remove that one first.");
const tooMany = (): Fault =>
  fault("bad-request", `There are ${tokensMax} tokens already.`, "Remove one that is not used any more.");

function isStoredToken(value: unknown): value is StoredToken {
  if (typeof value !== "object" || value === null) return false;
  const typeOf = (name: string): string => typeof Reflect.get(value, name);
  const time = (name: string): boolean => Reflect.get(value, name) === null || typeOf(name) === "number";
  const texts = ["id", "name", "hash", "lastFour"].every((name) => typeOf(name) === "string");
  return texts && typeOf("createdAt") === "number" && time("usedAt") && time("expiresAt");
}
