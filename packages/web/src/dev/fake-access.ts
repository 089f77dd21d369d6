/** Devices, links and tokens of a made-up server. */
import type { Clock } from "@varve/protocol";
import type { Method, Result } from "../api/http.ts";
import type { Device, NamedToken } from "../settings/access-calls.ts";

const DAY_MS = 86_400_000;
const ok = (body: unknown): Result<unknown> => ({ ok: true, body });
const CHROME = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0.0.0 Safari/537.36";
const PHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Mobile/15E148 Safari/604.1";

export class FakeAccess {
  readonly #clock: Clock;
  /** Reachable from this machine alone. */
  readonly #alone: boolean;
  #devices: readonly Device[];
  #tokens: readonly NamedToken[];

  constructor(clock: Clock, alone: boolean) {
    this.#clock = clock;
    this.#alone = alone;
    const now = clock.now();
    const life = { createdAt: now - 20 * DAY_MS, expiresAt: now + 89 * DAY_MS };
    this.#devices = [
      { ...life, id: "d1", label: CHROME, usedAt: now, current: true },
      { ...life, id: "d2", label: PHONE, usedAt: now - DAY_MS, current: false },
      { ...life, id: "d3", label: "The \u202eenihcam tower", usedAt: now - 9 * DAY_MS, current: false },
    ];
    this.#tokens = [
      { id: "t1", name: "nightly", lastFour: "x3Fa", createdAt: now - DAY_MS, usedAt: null, expiresAt: null },
    ];
  }

  /** Null for what is no matter of access. */
  answer(method: Method, path: string, sent: unknown): Result<unknown> | null {
    const [, room, id] = path.split("/");
    if (room === "devices") return this.#device(method, id, sent);
    if (room === "tokens") return this.#token(method, id, sent);
    return room === "links" ? ok(this.#link()) : null;
  }

  #link(): unknown {
    const code = "#code=v7Rk3mZq9TgB2nXw5LcY8dHs4JfP6aQe";
    const others = this.#alone ? [] : [`http://192.168.1.20:4477/${code}`, `https://varve.example/${code}`];
    return { code, url: `http://127.0.0.1:4477/${code}`, sockets: 1, endsAt: this.#clock.now() + 900_000, others };
  }

  #device(method: Method, id: string | undefined, sent: unknown): Result<unknown> {
    if (method === "DELETE") this.#devices = this.#devices.filter((one) => one.id !== id);
    if (method === "PATCH" && typeof sent === "object" && sent !== null && "label" in sent) {
      const label = String(sent.label);
      this.#devices = this.#devices.map((one) => (one.id === id ? { ...one, label } : one));
    }
    return ok({ devices: this.#devices, id });
  }

  #token(method: Method, id: string | undefined, sent: unknown): Result<unknown> {
    if (method === "DELETE") this.#tokens = this.#tokens.filter((one) => one.id !== id);
    if (method !== "POST") return ok({ tokens: this.#tokens, id });
    const name = typeof sent === "object" && sent !== null && "name" in sent ? String(sent.name) : "";
    if (this.#tokens.some((one) => one.name === name)) {
      return {
        ok: false,
        error: { code: "id-taken", message: "There is a token of this name.", hint: "Take another." },
      };
    }
    const createdAt = this.#clock.now();
    const token = { id: `t${createdAt}`, name, lastFour: "9Qz1", createdAt, usedAt: null, expiresAt: null };
    this.#tokens = [...this.#tokens, token];
    return ok({ token, secret: `varve_${"aB3dE5gH7jK9mN1pQ3sT5vX7zA9cE1gI3kL5nO7".padEnd(39, "x")}9Qz1` });
  }
}
