import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { assert } from "@varve/protocol";
import { type Deferred, deferred } from "../deferred.ts";
import { createAccounting } from "./accounting.ts";
import { admit, bodyOf } from "./admission.ts";
import { type Answering, answer } from "./answer.ts";
import { createGate, type Gate, type GateControl } from "./gate.ts";
import { decodeUtf8, readBody, sendJson } from "./http-rim.ts";
import { modelList, ollamaTags } from "./model-list.ts";
import { type CallOutcome, type RecordedCall, redactHeaders } from "./recorded-call.ts";
import { type FakeRequest, type Vendor, viewRequest } from "./request-view.ts";
import { createScript, type ReplyFunction, type ScriptItem } from "./script.ts";
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

export interface FakeProvider extends AsyncDisposable {
  /** `http://127.0.0.1:<port>`, without `/v1`. */
  readonly url: string;
  /** Every POST to a model endpoint so far, in order of arrival. */
  readonly calls: readonly RecordedCall[];
  add(...items: readonly ScriptItem[]): void;
  /** Scripted replies that no request has taken. */
  left(): number;
  /** Takes hold of the next call that is not gated yet, or of one that a reply's `holdAfter` holds already. */
  gate(): Gate;
  /** Resolves once so many calls have arrived in all, with the last of them. */
  arrived(count: number): Promise<RecordedCall>;
  /** Resolves when no call is open. */
  idle(): Promise<void>;
  /** Cuts what is open. Closing twice is fine. */
  close(): Promise<void>;
}

const VENDORS: Readonly<Record<string, Vendor>> = { "/v1/messages": "anthropic", "/v1/chat/completions": "openai" };

/** Starts a model provider on a free port of the loopback interface. */
export async function createFakeProvider(options: FakeProviderOptions = {}): Promise<FakeProvider> {
  const desk = createDesk(options);
  const server = createServer((request, response) => {
    // A fault in here is a mistake of this file or of the script's function: the caller sees it as a failed answer.
    desk.serve(request, response).catch((error: unknown) => {
      sendJson(response, 400, errorBody("anthropic", "invalid_request_error", `fake provider: ${String(error)}`));
      response.end();
    });
  });
  const port = await listen(server);
  let closing: Promise<void> | null = null;
  const close = (): Promise<void> => {
    closing ??= new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
    return closing;
  };
  return {
    url: `http://127.0.0.1:${port}`,
    calls: desk.calls,
    add: (...items) => desk.script.add(items),
    left: desk.script.left,
    gate: desk.gate,
    arrived: desk.arrived,
    idle: desk.idle,
    close,
    [Symbol.asyncDispose]: close,
  };
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      assert(typeof address === "object" && address !== null, "a listening TCP server has an address");
      resolve(address.port);
    });
  });
}

function createDesk(options: FakeProviderOptions) {
  const script = createScript(options.script ?? []);
  const signatures = createSignatures({ acceptForeign: options.acceptForeignSignatures ?? false });
  const accounting = createAccounting();
  const calls: RecordedCall[] = [];
  const arrivals: { readonly count: number; readonly met: Deferred<RecordedCall> }[] = [];
  /** Gates that the test took before a call came, and gates of held calls that the test has not taken. */
  const waiting: GateControl[] = [];
  const unclaimed: Gate[] = [];
  let callsMade = 0;
  const ids = { call: () => `toolu_fake_${++callsMade}`, message: (index: number) => `msg_fake_${index + 1}` };

  const answering = (request: FakeRequest, control: GateControl | null): Answering => ({
    request,
    signatures,
    ids,
    input: (usage) =>
      accounting.inputOf({ vendor: request.vendor, body: request.body, usage, nowMs: options.now?.() ?? 0 }),
    reply: async () => {
      const found = script.take(request) ?? options.reply ?? null;
      return typeof found === "function" ? found(request) : found;
    },
    control,
    ownGate() {
      const asked = waiting.shift();
      if (asked !== undefined) return asked;
      const made = createGate();
      unclaimed.push(made.gate);
      return made;
    },
  });

  const record = (call: RecordedCall): void => {
    calls.push(call);
    for (const { count, met } of arrivals) if (count === calls.length) met.resolve(call);
  };

  const serveCall = async (vendor: Vendor, request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const bytes = await readBody(request);
    const text = bytes === null ? null : decodeUtf8(bytes);
    const control = waiting.shift() ?? null;
    const { headers } = request;
    const admission =
      bytes === null
        ? ({ kind: "refused", status: 413, message: "Request exceeds the maximum size" } as const)
        : admit({ vendor, headers, text }, { apiKey: options.apiKey ?? null, signatures });
    const refusal = admission.kind === "refused" ? admission.message : null;
    const ended = deferred<CallOutcome>();
    let outcome: CallOutcome | null = null;
    const call: RecordedCall = {
      index: calls.length,
      vendor,
      path: request.url ?? "",
      headers: redactHeaders(headers),
      body: bodyOf(text),
      rawBody: text ?? "",
      openAtStart: calls.filter((one) => one.outcome() === null).length,
      refusal,
      droppedThinking: admission.kind === "admitted" ? admission.droppedThinking : 0,
      ended: ended.promise,
      outcome: () => outcome,
    };
    record(call);
    const end = (result: CallOutcome): void => {
      outcome = result;
      control?.end(result);
      ended.resolve(result);
    };
    try {
      if (admission.kind === "refused") {
        control?.refuse(admission.message);
        sendJson(response, admission.status, errorBody(vendor, errorTypeOf(admission.status), admission.message));
        end("refused");
        return;
      }
      end(await answer(call, { ...answering(viewRequest(vendor, call.index, call.body), control), headers, response }));
    } finally {
      if (outcome === null) end("failed");
    }
  };

  return {
    script,
    calls,
    gate(): Gate {
      const held = unclaimed.shift();
      if (held !== undefined) return held;
      const control = createGate();
      waiting.push(control);
      return control.gate;
    },
    arrived(count: number): Promise<RecordedCall> {
      const there = calls[count - 1];
      if (there !== undefined) return Promise.resolve(there);
      const met = deferred<RecordedCall>();
      arrivals.push({ count, met });
      return met.promise;
    },
    async idle(): Promise<void> {
      for (;;) {
        const open = calls.filter((call) => call.outcome() === null);
        if (open.length === 0) return;
        await Promise.all(open.map((call) => call.ended));
      }
    },
    async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
      const path = new URL(request.url ?? "/", "http://fake").pathname;
      const vendor = request.method === "POST" ? VENDORS[path] : undefined;
      if (vendor !== undefined) return serveCall(vendor, request, response);
      const isAnthropic = request.headers["anthropic-version"] !== undefined;
      if (request.method === "GET" && path === "/v1/models") {
        return sendJson(response, 200, modelList(options.models ?? [], isAnthropic ? "anthropic" : "openai"));
      }
      if (request.method === "GET" && path === "/api/tags" && options.ollama === true) {
        return sendJson(response, 200, ollamaTags(options.models ?? []));
      }
      return sendJson(response, 404, errorBody(isAnthropic ? "anthropic" : "openai", "not_found_error", "Not found"));
    },
  };
}
