import { createServer, type Server } from "node:http";
import { assert } from "@varve/protocol";
import { Desk, type FakeProviderOptions } from "./desk.ts";
import type { Gate } from "./gate.ts";
import { sendJson } from "./http-rim.ts";
import type { RecordedCall } from "./recorded-call.ts";
import type { ScriptItem } from "./script.ts";
import { errorBody } from "./vendor-error.ts";

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

/** Starts a model provider on a free port of the loopback interface. */
export async function createFakeProvider(options: FakeProviderOptions = {}): Promise<FakeProvider> {
  const desk = new Desk(options);
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
    left: () => desk.script.left(),
    gate: () => desk.gate(),
    arrived: (count) => desk.arrived(count),
    idle: () => desk.idle(),
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
