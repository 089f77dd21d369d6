/** Bills, contexts and recordings of made-up tabs: plausible ones, empty ones, failing ones and hostile ones. */
import type { Clock, ContextBody, ErrorBody, LedgerBody } from "@varve/protocol";
import type { Method, Result } from "../api/http.ts";
import {
  billBody,
  contextBody,
  emptyLedger,
  ledgerBody,
  preview,
  recordings,
  sentRequest,
  usageBody,
} from "./fake-ledger-bodies.ts";
import { hostileContext, hostileLedger, hostileRecordings, hostileRequest } from "./fake-ledger-hostile.ts";

const unavailable: ErrorBody = {
  code: "log-unavailable",
  message: "The log cannot be read at the moment.",
  hint: "Nothing was changed. Try again.",
};
const ok = (body: unknown): Result<unknown> => ({ ok: true, body });
const failed: Result<unknown> = { ok: false, error: unavailable };

export class FakeLedger {
  readonly #clock: Clock;
  /** Answers nothing but errors. */
  readonly #dark: boolean;
  #applied = false;
  #undone = false;
  #dayMoneyMax: number | null = 20;

  constructor(clock: Clock, dark: boolean) {
    this.#clock = clock;
    this.#dark = dark;
  }

  /** Null for what is no matter of the ledger. */
  answer(method: Method, path: string, sent: unknown): Result<unknown> | null {
    const { pathname, searchParams } = new URL(path, "http://fake");
    const [, room, id, what, more] = pathname.split("/");
    if (room === "usage" || room === "recordings") return this.#dark ? failed : this.#global(pathname, searchParams);
    if (room === "settings" && method === "PATCH") return this.#set(sent);
    if (room !== "tabs" || id === undefined || what === undefined) return null;
    if (!["ledger", "context", "preview", "compact", "requests"].includes(what)) return null;
    if (this.#dark || id === "failed") return failed;
    if (what === "ledger") return ok(this.#ledgerOf(id, searchParams.has("before")));
    if (what === "preview") return ok({ preview: preview(0.31), model: "m", effort: "default" });
    if (what === "requests")
      return ok(id === "hostile" ? hostileRequest(this.#clock.now()) : sentRequest(this.#clock.now(), searchParams));
    if (what === "compact") this.#undone = more === "undo";
    if (what === "context" && method === "POST") this.#applied = true;
    return ok(this.#contextOf(id));
  }

  #set(sent: unknown): Result<unknown> {
    if (typeof sent === "object" && sent !== null && "dayMoneyMax" in sent) {
      this.#dayMoneyMax = typeof sent.dayMoneyMax === "number" ? sent.dayMoneyMax : null;
    }
    return ok({ paths: {}, values: {} });
  }

  #global(path: string, query: URLSearchParams): Result<unknown> {
    const now = this.#clock.now();
    if (path === "/recordings") return ok({ recordings: [...recordings(now), ...hostileRecordings(now)] });
    if (path === "/recordings/broken/bill") {
      return { ok: false, error: { code: "bad-recording", message: "No line of this file could be read." } };
    }
    if (path.startsWith("/recordings/")) return ok(billBody(now));
    return ok(usageBody(now, Number(query.get("days") ?? 30), this.#dayMoneyMax));
  }

  #ledgerOf(id: string, older: boolean): LedgerBody {
    if (id === "empty" || id.startsWith("made-")) return emptyLedger(id);
    return id === "hostile" ? hostileLedger(this.#clock.now()) : ledgerBody(id, this.#clock.now(), older);
  }

  #contextOf(id: string): ContextBody {
    if (id === "hostile") return hostileContext();
    const body = contextBody(this.#clock.now(), this.#undone);
    return this.#applied || id === "empty" ? { ...body, changes: [], tell: null, rebuild: null } : body;
  }
}
