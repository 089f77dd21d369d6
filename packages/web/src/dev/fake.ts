/** A stand-in for the server, so that the page can be looked at without one: `?fake` in the development build. */
import type { ConnectionState, OutboxState, SyncClient, TabHandle } from "@varve/client";
import { browserClock } from "@varve/client/browser";
import type { TabId, TabPatch, TabRecord } from "@varve/protocol";
import { parseLogId, parseTabId } from "@varve/protocol";
import { Api } from "../api/api.ts";
import { Access } from "../state/access.svelte.ts";
import type { AppPorts } from "../state/app.svelte.ts";
import { Drafts } from "../state/drafts.ts";
import { Router } from "../state/route.svelte.ts";
import { Senders } from "../state/senders.ts";
import { Reloads } from "../state/stale-page.ts";
import { TypedFields } from "../state/typed-fields.ts";
import { FakeAccess } from "./fake-access.ts";
import { HOSTILE, hostileScene } from "./fake-hostile.ts";
import { FakeHttp, type FakeTabs } from "./fake-http.ts";
import { FakeLedger } from "./fake-ledger.ts";
import { FakePermissions } from "./fake-permissions.ts";
import { failedRows, known, longRows, mainRows, turnId } from "./fake-rows.ts";
import { asking, disguised, limited, restored, running, summedRows } from "./fake-scenes.ts";
import { type FakeScene, FakeTab } from "./fake-tab.ts";

const tabId = (text: string): TabId => known(parseTabId(text));
const NO_STORE = "This browser keeps nothing: what is not sent yet is lost with this window.";
const hour = 3_600_000;

export function fakePorts(): AppPorts {
  const query = new URLSearchParams(location.search);
  const first = query.has("first");
  const sync = new FakeSync(first, query);
  const rooms = [
    new FakePermissions(browserClock, !query.has("no-sandbox")),
    new FakeLedger(browserClock, query.has("dark-ledger")),
    new FakeAccess(browserClock, query.has("alone")),
  ];
  const http = new FakeHttp(first || query.has("demo"), rooms, sync);
  const api = new Api(http);
  const signedIn = query.has("signedout") ? null : "key";
  const access = new Access(api, { read: async () => signedIn, write: async () => undefined });
  const typed = new TypedFields(document);
  const senders = new Senders(null);
  senders.remember("me");
  return {
    api,
    access,
    senders,
    router: new Router(window),
    drafts: new Drafts(window.localStorage),
    clock: browserClock,
    newId: () => "made-up",
    connect: () => sync,
    reload: () => location.reload(),
    reloads: new Reloads(window.sessionStorage, "fake"),
    typing: () => typed.any,
  };
}

class FakeSync implements SyncClient, FakeTabs {
  readonly #query: URLSearchParams;
  /** The server has another build: from the event on, also after the reload that follows it. */
  #stale = window.sessionStorage.getItem("varve.reloaded") !== null;
  readonly #open = new Map<TabId, FakeTab>();
  readonly #listeners = new Set<() => void>();
  #tabs: readonly TabRecord[];

  constructor(first: boolean, query: URLSearchParams) {
    this.#tabs = first ? [] : records().toReversed();
    this.#query = query;
    window.addEventListener("fake-stale", () => {
      this.#stale = true;
      this.#take(this.#tabs);
    });
  }

  connection(): ConnectionState {
    if (this.#query.has("offline")) return { kind: "waiting", attempt: 3, retryAt: browserClock.now() + 8000 };
    if (this.#stale) return { kind: "refused", code: "other-build", message: "Another build." };
    return { kind: "live" };
  }
  outbox(): OutboxState {
    if (this.#query.has("no-store")) return { kind: "memory", message: NO_STORE };
    return { kind: "kept" };
  }
  tabs(): readonly TabRecord[] {
    return this.#tabs;
  }
  newTab(): TabRecord {
    const tab = { ...emptyRecord(), id: tabId(`made-${this.#tabs.length}`), createdAt: browserClock.now() };
    this.#take([...this.#tabs, tab]);
    return tab;
  }
  changeTab(id: string, patch: TabPatch): void {
    this.#take(this.#tabs.map((tab) => (tab.id === id ? patched(tab, patch) : tab)));
  }
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
  open(id: TabId): TabHandle {
    const tab = this.#open.get(id) ?? new FakeTab(id, browserClock, scene(id));
    this.#open.set(id, tab);
    return tab;
  }
  probe(): void {}
  close(): void {}
  #take(tabs: readonly TabRecord[]): void {
    this.#tabs = tabs;
    for (const listener of this.#listeners) listener();
  }
}

/** Null takes an option back to its default, as on the server. */
function patched(tab: TabRecord, patch: TabPatch): TabRecord {
  const { options, title, model, effort, permissions } = patch;
  const kept = Object.entries({ ...tab.options, ...options }).filter(([, value]) => value !== null);
  return {
    ...tab,
    title: title ?? tab.title,
    model: model ?? tab.model,
    effort: effort ?? tab.effort,
    permissions: permissions ?? tab.permissions,
    options: Object.fromEntries(kept),
  };
}

function emptyRecord(): TabRecord {
  return {
    id: tabId("empty"),
    title: "",
    cwd: "/home/mika/code/envfile",
    model: "demo/demo",
    effort: "default",
    permissions: "ask",
    parentId: null,
    logId: known(parseLogId("log")),
    tail: 0,
    seen: 0,
    state: "idle",
    waits: 0,
    queued: 0,
    createdAt: 0,
    updatedAt: 0,
    trashedAt: null,
    options: {},
    cost: { price: 0, unpriced: 0 },
    cacheUntil: null,
  };
}

function records(): readonly TabRecord[] {
  const now = browserClock.now();
  const base = { ...emptyRecord(), tail: 33, seen: 33 };
  const real = { ...base, model: "anthropic/claude-opus-4-8" };
  return [
    {
      ...base,
      id: tabId("main"),
      title: "List the TODO comments and fix the first",
      createdAt: now,
      cost: { price: 0.4131, unpriced: 0 },
      cacheUntil: now + 200_000,
    },
    {
      ...real,
      id: tabId("asks"),
      title: "Set up the release script",
      createdAt: now - hour,
      state: "waiting",
      waits: 1,
    },
    {
      ...real,
      id: tabId("open"),
      title: "Nightly \u202eruns\u202c of the tests",
      createdAt: now - 1.5 * hour,
      permissions: "allow",
      options: { sandbox: "on", network: ["registry.example.org"], directories: ["/home/mika/shared"] },
    },
    {
      ...real,
      id: tabId("runs"),
      title: "Find the slow query",
      createdAt: now - 2 * hour,
      state: "running",
      queued: 2,
    },
    {
      ...real,
      id: tabId("failed"),
      title: "Why does the build fail?",
      createdAt: now - 3 * hour,
      state: "error",
      cwd: "/home/mika/code/site",
    },
    ...billed(real, now),
    { ...real, id: tabId("long"), title: "A long one", createdAt: now - 4 * hour, tail: 180, seen: 20 },
    { ...base, id: tabId("empty"), title: "", createdAt: now - 5 * hour, tail: 0, seen: 0 },
    {
      ...base,
      id: tabId("hostile"),
      title: HOSTILE[1] ?? "",
      createdAt: now - 6 * hour,
      cost: { price: 0, unpriced: 4 },
    },
    { ...base, id: tabId("old"), title: "An old one", createdAt: 1, trashedAt: now - hour },
  ];
}

/** Tabs that came to a limit, were summed up, or belong to another. */
function billed(real: TabRecord, now: number): readonly TabRecord[] {
  return [
    {
      ...real,
      id: tabId("limit"),
      title: "Port the parser to the new grammar",
      createdAt: now - 3.5 * hour,
      state: "waiting",
      waits: 1,
      options: { moneyMax: 2 },
      cost: { price: 2.0312, unpriced: 0 },
      cacheUntil: now - 60_000,
    },
    {
      ...real,
      id: tabId("summed"),
      title: "A tab with a past",
      createdAt: now - 3.7 * hour,
      cost: { price: 7.9, unpriced: 3 },
      cacheUntil: now - 1000,
    },
    { ...real, id: tabId("disguised"), title: "Notes \u2067of today", createdAt: now - 3.72 * hour, state: "waiting" },
    { ...real, id: tabId("restored"), title: "Restored from a backup", createdAt: now - 3.75 * hour, state: "running" },
    {
      ...real,
      id: tabId("child"),
      parentId: tabId("main"),
      title: "Search",
      createdAt: now - 3.8 * hour,
      cost: { price: 0.02, unpriced: 0 },
    },
  ];
}

function scene(id: TabId): FakeScene {
  const at = browserClock.now() - hour;
  switch (String(id)) {
    case "main":
      return { rows: mainRows(id, at) };
    case "disguised":
      return disguised(id, at);
    case "open":
    case "asks":
      return asking(id, at);
    case "runs":
      return running(id, at, at + hour);
    case "failed":
      return { rows: failedRows(id, at), status: { state: "error", lastSealed: turnId("turn-b") }, sync: "different" };
    case "restored":
      return restored(id, at);
    case "limit":
      return limited(id, at);
    case "summed":
      return { rows: summedRows(id, at) };
    case "long":
      return { rows: longRows(id, at), held: 60 };
    case "hostile":
      return hostileScene(id, at);
    default:
      return { rows: [] };
  }
}
