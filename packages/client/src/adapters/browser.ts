/** The outer world of a client in a page. */
import { type Clock, idMaker, type RandomBytes, uuidV7Maker } from "@varve/protocol";
import type { ClientPorts, OutboxStore } from "../client.ts";
import { leaseGuard, webLockGuard } from "./owner-guard.ts";
import { pageOutbox } from "./page-outbox.ts";
import { indexedDbStore } from "./page-store.ts";
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
    outbox: outboxOf(client),
    identity: { client, key: options.key, ...(options.build === undefined ? {} : { build: options.build }) },
  };
}

/** Browsers lock by name only in secure contexts; a page on plain http says by a lease that it lives. */
function outboxOf(owner: string): OutboxStore {
  if (typeof indexedDB === "undefined") return refusingOutbox;
  const page = { store: indexedDbStore(indexedDB), owner };
  const guard = "locks" in navigator ? webLockGuard(navigator.locks, page) : leaseGuard(page, browserClock);
  const outbox = pageOutbox({ ...page, guard, clock: browserClock });
  addEventListener("pagehide", () => outbox.release());
  onWake(() => outbox.awake());
  return outbox;
}

const refuse = (): Promise<never> => Promise.reject(new Error("this browser has no storage"));
const refusingOutbox: OutboxStore = { load: refuse, put: refuse, remove: refuse };

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

export interface WakeSources {
  readonly window: EventTarget;
  readonly document: EventTarget & { readonly visibilityState: DocumentVisibilityState };
}

/**
 * Probes when the machine wakes up, the network is back, the page is looked at, thawed, or taken from the browser's cache.
 * Returns the way to stop.
 */
export function probeOnWake(probe: () => void, sources: WakeSources = { window, document }): () => void {
  const stop = onWake(probe, sources);
  sources.window.addEventListener("online", probe);
  return () => {
    stop();
    sources.window.removeEventListener("online", probe);
  };
}

function onWake(woke: () => void, sources: WakeSources = { window, document }): () => void {
  const visible = (): void => {
    if (sources.document.visibilityState === "visible") woke();
  };
  const stop = new AbortController();
  const { signal } = stop;
  sources.window.addEventListener("pageshow", woke, { signal });
  sources.document.addEventListener("resume", woke, { signal });
  sources.document.addEventListener("visibilitychange", visible, { signal });
  return () => stop.abort();
}
