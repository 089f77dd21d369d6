/** The outer world of a client in a page. */
import { type Clock, idMaker, type RandomBytes, uuidV7Maker } from "@varve/protocol";
import type { ClientPorts } from "../client.ts";
import { memoryOutbox } from "../outbox.ts";
import { indexedDbEntries, noGuard, ownedOutbox, webLockGuard } from "./page-outbox.ts";
import { restAnswer } from "./rest-answer.ts";

export interface BrowserOptions {
  /** The page's second key: without it neither REST nor the socket is let in. */
  readonly key: string;
  /** Build of the page; a server that serves another one makes it reload. */
  readonly build?: string | undefined;
}

export const browserClock: Clock = {
  now: () => Date.now(),
  setTimer: (ms, fire) => {
    const timer = setTimeout(fire, ms);
    return { cancel: () => clearTimeout(timer) };
  },
};

const randomBytes: RandomBytes = (into) => {
  crypto.getRandomValues(into);
};

/** A REST request without an answer after this long counts as failed. */
const restTimeoutMs = 60_000;

/** Everything for `createSyncClient`. The client id is new for each page. */
export function browserPorts(options: BrowserOptions): ClientPorts {
  const ids = idMaker(uuidV7Maker(browserClock.now, randomBytes));
  const client = ids.client();
  const locks = "locks" in navigator ? navigator.locks : undefined;
  const guard = locks === undefined ? noGuard : webLockGuard(locks);
  const stored = typeof indexedDB === "undefined" ? null : indexedDbEntries(indexedDB);
  return {
    connect: connectSocket,
    rest: async ({ method, path, body }) => {
      const headers: Record<string, string> = { "x-varve-key": options.key };
      if (body !== undefined) headers["content-type"] = "application/json";
      const signal = AbortSignal.timeout(restTimeoutMs);
      const init: RequestInit = { method, headers, credentials: "same-origin", signal };
      return await restAnswer(() =>
        fetch(`/api${path}`, body === undefined ? init : { ...init, body: JSON.stringify(body) }),
      );
    },
    clock: browserClock,
    newId: () => ids.chunk(),
    random: Math.random,
    outbox: stored === null ? memoryOutbox() : ownedOutbox(stored, guard, client),
    identity: { client, key: options.key, ...(options.build === undefined ? {} : { build: options.build }) },
  };
}

const connectSocket: ClientPorts["connect"] = (handlers) => {
  const url = new URL("/api/ws", location.href);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  const socket = new WebSocket(url);
  let open = true;
  socket.onopen = () => {
    if (open) handlers.opened();
  };
  socket.onmessage = (event) => {
    if (open && typeof event.data === "string") handlers.frame(event.data);
  };
  socket.onclose = (event) => {
    if (open) handlers.closed(event.code);
    open = false;
  };
  return {
    send: (text) => {
      if (socket.readyState === WebSocket.OPEN) socket.send(text);
    },
    close: () => {
      open = false;
      socket.close();
    },
  };
};

/** Probes when the machine wakes up, the network is back or the page is looked at. Returns the way to stop. */
export function probeOnWake(probe: () => void): () => void {
  const visible = (): void => {
    if (document.visibilityState === "visible") probe();
  };
  const stop = new AbortController();
  addEventListener("online", probe, { signal: stop.signal });
  addEventListener("pageshow", probe, { signal: stop.signal });
  document.addEventListener("visibilitychange", visible, { signal: stop.signal });
  return () => stop.abort();
}
