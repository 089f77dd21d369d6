import type { IncomingMessage, ServerResponse } from "node:http";
import type { AccountedFigures, BegunRequest } from "../cache/cache-model.ts";
import type { CacheRules } from "../cache/vendor-cache.ts";
import { type Deferred, deferred } from "../deferred.ts";
import { createAccounting } from "./accounting.ts";
import { type Admission, type AdmissionRules, admit, bodyOf, keyProblem } from "./admission.ts";
import { type Answering, answer } from "./answer.ts";
import { createGate, type Gate, type GateControl } from "./gate.ts";
import { decodeUtf8, readBody, sendJson } from "./http-rim.ts";
import { createIssuedTokens } from "./issued-tokens.ts";
import { modelList, ollamaTags } from "./model-list.ts";
import { type CallOutcome, type RecordedCall, redactHeaders } from "./recorded-call.ts";
import { type FakeRequest, viewRequest } from "./request-view.ts";
import { createScript, type ReplyFunction, type Script, type ScriptItem } from "./script.ts";
import { createSignatures } from "./signatures.ts";
import { modelOf, type Route, routeOf, type Vendor, vendorFor } from "./vendor.ts";
import { errorBody, errorTypeOf } from "./vendor-error.ts";
import type { Memory } from "./vendor-stream.ts";

export interface FakeProviderOptions {
  readonly script?: readonly ScriptItem[];
  /** Answers what no entry of the script does. */
  readonly reply?: ReplyFunction;
  /** Ids that `GET /v1/models` lists. */
  readonly models?: readonly string[];
  /** Refuses any other key with 401. */
  readonly apiKey?: string;
  /** Lets signatures through that this server never issued, for recorded histories. */
  readonly acceptForeignSignatures?: boolean;
  /** Also answers `GET /api/tags`. */
  readonly ollama?: boolean;
  /** Milliseconds, for the life of cache entries; default: time stands still. */
  readonly now?: () => number;
  /** In what the caches behind the answers are stricter or larger than by default. */
  readonly cache?: CacheRules;
}

const MODEL_LISTS: Readonly<Record<string, Vendor>> = {
  "/v1/models": "openai",
  "/models": "deepseek",
  "/v1beta/models": "google",
  "/api/v1/models": "openrouter",
};

interface Recorded {
  readonly call: RecordedCall;
  end(outcome: CallOutcome): void;
  /** Keeps what the cache said, and hears when the answer begins. */
  count(begun: BegunRequest): BegunRequest;
}

/** Receives requests, records calls, and pairs them with replies and gates in order of arrival. */
export class Desk {
  readonly script: Script;
  readonly calls: RecordedCall[] = [];
  readonly #options: FakeProviderOptions;
  readonly #memory: Memory;
  readonly #accounting;
  readonly #arrivals: { readonly count: number; readonly met: Deferred<RecordedCall> }[] = [];
  /** Gates that the test took before a call came. */
  readonly #waiting: GateControl[] = [];
  /** Gates of calls that hold themselves and that the test has not taken. */
  readonly #unclaimed: Gate[] = [];
  #callsMade = 0;

  constructor(options: FakeProviderOptions) {
    this.#options = options;
    this.script = createScript(options.script ?? []);
    this.#accounting = createAccounting(options.cache);
    const signatures = createSignatures({ acceptForeign: options.acceptForeignSignatures ?? false });
    this.#memory = { signatures, tokens: createIssuedTokens(), thoughts: new Map() };
  }

  gate(): Gate {
    const held = this.#unclaimed.shift();
    if (held !== undefined) return held;
    const control = createGate();
    this.#waiting.push(control);
    return control.gate;
  }

  arrived(count: number): Promise<RecordedCall> {
    const there = this.calls[count - 1];
    if (there !== undefined) return Promise.resolve(there);
    const met = deferred<RecordedCall>();
    this.#arrivals.push({ count, met });
    return met.promise;
  }

  async idle(): Promise<void> {
    for (;;) {
      const open = this.calls.filter((call) => call.outcome() === null);
      if (open.length === 0) return;
      await Promise.all(open.map((call) => call.ended));
    }
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = new URL(request.url ?? "/", "http://fake").pathname;
    const route = request.method === "POST" ? routeOf(path) : null;
    if (route !== null) return this.#serveCall(route, request, response);
    const models = this.#options.models ?? [];
    const isAnthropic = request.headers["anthropic-version"] !== undefined;
    const asked: Vendor = isAnthropic ? "anthropic" : (MODEL_LISTS[path] ?? "openai");
    if (request.method === "GET" && MODEL_LISTS[path] !== undefined) {
      const problem = keyProblem(asked, request.headers, this.#options.apiKey ?? null);
      return problem === null
        ? sendJson(response, 200, modelList(models, asked))
        : sendJson(response, 401, errorBody(asked, errorTypeOf(401), problem));
    }
    if (request.method === "GET" && path === "/api/tags" && this.#options.ollama === true) {
      return sendJson(response, 200, ollamaTags(models));
    }
    sendJson(response, 404, errorBody(asked, "not_found_error", "Not found"));
  }

  async #serveCall(route: Route, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const read = await readBody(request);
    if (read.kind === "gone") return;
    const text = read.kind === "read" ? decodeUtf8(read.bytes) : null;
    const body = bodyOf(text);
    const control = this.#waiting.shift() ?? null;
    const { headers } = request;
    const vendor = vendorFor(route, body);
    const admission: Admission =
      read.kind === "too-large"
        ? { kind: "refused", status: 413, message: "Request exceeds the maximum size" }
        : admit({ vendor, model: modelOf(route, body), headers, text }, this.#rules());
    const { call, end, count } = this.#record(vendor, request, { text: text ?? "", admission, control });
    let outcome: CallOutcome = "failed";
    try {
      if (admission.kind === "refused") {
        control?.refuse(admission.message);
        sendJson(response, admission.status, errorBody(vendor, errorTypeOf(admission.status), admission.message));
        outcome = "refused";
        return;
      }
      const view = viewRequest({ vendor, route }, call.index, call.body);
      outcome = await answer(call, { ...this.#answering(view, control, count), headers, response });
    } finally {
      end(outcome);
    }
  }

  #rules(): AdmissionRules {
    const { apiKey, acceptForeignSignatures } = this.#options;
    const { signatures, tokens, thoughts } = this.#memory;
    const replay = { tokens, thoughts, acceptForeign: acceptForeignSignatures ?? false };
    return { apiKey: apiKey ?? null, signatures, replay };
  }

  #record(
    vendor: Vendor,
    request: IncomingMessage,
    got: { readonly text: string; readonly admission: Admission; readonly control: GateControl | null },
  ): Recorded {
    const ended = deferred<CallOutcome>();
    let counted: AccountedFigures | null = null;
    let hasBegun = false;
    let outcome: CallOutcome | null = null;
    const call: RecordedCall = {
      index: this.calls.length,
      vendor,
      startedAtMs: this.#options.now?.() ?? 0,
      path: request.url ?? "",
      headers: redactHeaders(request.headers),
      body: bodyOf(got.text),
      rawBody: got.text,
      openAtStart: this.calls.filter((one) => one.outcome() === null).length,
      refusal: got.admission.kind === "refused" ? got.admission.message : null,
      droppedThinking: got.admission.kind === "admitted" ? got.admission.thinking.dropped : 0,
      mismatchedThinking: got.admission.kind === "admitted" ? got.admission.thinking.mismatched : [],
      counted: () => counted,
      hasBegun: () => hasBegun,
      ended: ended.promise,
      outcome: () => outcome,
    };
    this.calls.push(call);
    for (const { count, met } of this.#arrivals) if (count === this.calls.length) met.resolve(call);
    const end = (result: CallOutcome): void => {
      outcome = result;
      got.control?.end(result);
      ended.resolve(result);
    };
    const count: Recorded["count"] = (begun) => {
      counted = begun.figures;
      const firstEvent = (): void => {
        hasBegun = true;
        begun.firstEvent();
      };
      return { ...begun, firstEvent };
    };
    return { call, end, count };
  }

  #answering(request: FakeRequest, control: GateControl | null, count: Recorded["count"]): Answering {
    const { reply, now } = this.#options;
    return {
      request,
      control,
      memory: this.#memory,
      ids: { call: () => this.#newCallId(request.vendor), message: (index) => `msg_fake_${index + 1}` },
      count: (usage) => {
        const { vendor, model, body } = request;
        const { begun, input } = this.#accounting.begin({ vendor, model, body, usage, nowMs: now?.() ?? 0 });
        return { begun: count(begun), input };
      },
      reply: async () => {
        const found = this.script.take(request) ?? reply ?? null;
        return typeof found === "function" ? found(request) : found;
      },
      ownGate: () => {
        const asked = this.#waiting.shift();
        if (asked !== undefined) return asked;
        const made = createGate();
        this.#unclaimed.push(made.gate);
        return made;
      },
    };
  }

  /** Gemini gives its calls no id; its clients make one. */
  #newCallId(vendor: Vendor): string {
    this.#callsMade += 1;
    return vendor === "google" ? "" : `toolu_fake_${this.#callsMade}`;
  }
}
