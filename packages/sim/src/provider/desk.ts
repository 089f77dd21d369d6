import type { IncomingMessage, ServerResponse } from "node:http";
import { type Deferred, deferred } from "../deferred.ts";
import { createAccounting } from "./accounting.ts";
import { type Admission, admit, bodyOf, keyProblem } from "./admission.ts";
import { type Answering, answer } from "./answer.ts";
import { createGate, type Gate, type GateControl } from "./gate.ts";
import { decodeUtf8, readBody, sendJson } from "./http-rim.ts";
import { modelList, ollamaTags } from "./model-list.ts";
import { type CallOutcome, type RecordedCall, redactHeaders } from "./recorded-call.ts";
import { type FakeRequest, type Vendor, viewRequest } from "./request-view.ts";
import { createScript, type ReplyFunction, type Script, type ScriptItem } from "./script.ts";
import { createSignatures } from "./signatures.ts";
import { errorBody, errorTypeOf } from "./vendor-error.ts";

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
}

const VENDORS: Readonly<Record<string, Vendor>> = { "/v1/messages": "anthropic", "/v1/chat/completions": "openai" };

/** Receives requests, records calls, and pairs them with replies and gates in order of arrival. */
export class Desk {
  readonly script: Script;
  readonly calls: RecordedCall[] = [];
  readonly #options: FakeProviderOptions;
  readonly #signatures;
  readonly #accounting = createAccounting();
  readonly #arrivals: { readonly count: number; readonly met: Deferred<RecordedCall> }[] = [];
  /** Gates that the test took before a call came. */
  readonly #waiting: GateControl[] = [];
  /** Gates of calls that hold themselves and that the test has not taken. */
  readonly #unclaimed: Gate[] = [];
  #callsMade = 0;

  constructor(options: FakeProviderOptions) {
    this.#options = options;
    this.script = createScript(options.script ?? []);
    this.#signatures = createSignatures({ acceptForeign: options.acceptForeignSignatures ?? false });
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
    const vendor = request.method === "POST" ? VENDORS[path] : undefined;
    if (vendor !== undefined) return this.#serveCall(vendor, request, response);
    const asked: Vendor = request.headers["anthropic-version"] === undefined ? "openai" : "anthropic";
    const models = this.#options.models ?? [];
    if (request.method === "GET" && path === "/v1/models") {
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

  async #serveCall(vendor: Vendor, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request);
    if (body.kind === "gone") return;
    const text = body.kind === "read" ? decodeUtf8(body.bytes) : null;
    const control = this.#waiting.shift() ?? null;
    const { headers } = request;
    const rules = { apiKey: this.#options.apiKey ?? null, signatures: this.#signatures };
    const admission: Admission =
      body.kind === "too-large"
        ? { kind: "refused", status: 413, message: "Request exceeds the maximum size" }
        : admit({ vendor, headers, text }, rules);
    const { call, end } = this.#record(vendor, request, { text: text ?? "", admission, control });
    let outcome: CallOutcome = "failed";
    try {
      if (admission.kind === "refused") {
        control?.refuse(admission.message);
        sendJson(response, admission.status, errorBody(vendor, errorTypeOf(admission.status), admission.message));
        outcome = "refused";
        return;
      }
      const view = viewRequest(vendor, call.index, call.body);
      outcome = await answer(call, { ...this.#answering(view, control), headers, response });
    } finally {
      end(outcome);
    }
  }

  #record(
    vendor: Vendor,
    request: IncomingMessage,
    got: { readonly text: string; readonly admission: Admission; readonly control: GateControl | null },
  ): { readonly call: RecordedCall; end(outcome: CallOutcome): void } {
    const ended = deferred<CallOutcome>();
    let outcome: CallOutcome | null = null;
    const call: RecordedCall = {
      index: this.calls.length,
      vendor,
      path: request.url ?? "",
      headers: redactHeaders(request.headers),
      body: bodyOf(got.text),
      rawBody: got.text,
      openAtStart: this.calls.filter((one) => one.outcome() === null).length,
      refusal: got.admission.kind === "refused" ? got.admission.message : null,
      droppedThinking: got.admission.kind === "admitted" ? got.admission.thinking.dropped : 0,
      mismatchedThinking: got.admission.kind === "admitted" ? got.admission.thinking.mismatched : [],
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
    return { call, end };
  }

  #answering(request: FakeRequest, control: GateControl | null): Answering {
    const { reply, now } = this.#options;
    return {
      request,
      control,
      signatures: this.#signatures,
      ids: { call: () => `toolu_fake_${++this.#callsMade}`, message: (index) => `msg_fake_${index + 1}` },
      input: (usage) =>
        this.#accounting.inputOf({ vendor: request.vendor, body: request.body, usage, nowMs: now?.() ?? 0 }),
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
}
