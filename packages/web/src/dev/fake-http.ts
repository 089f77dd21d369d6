import type { ErrorBody, TabPatch, TabRecord } from "@varve/protocol";
import type { Http, Method, Result } from "../api/http.ts";

/** Answers the routes of one matter; null for all others. */
export interface FakeRoom {
  answer(method: Method, path: string, sent: unknown): Result<unknown> | null;
}
export interface FakeTabs {
  newTab(): TabRecord;
  changeTab(id: string, patch: TabPatch): void;
}

/** Answers from a table, for development. */
export class FakeHttp implements Http {
  readonly #demoOnly: boolean;
  readonly #rooms: readonly FakeRoom[];
  readonly #tabs: FakeTabs;
  constructor(demoOnly: boolean, rooms: readonly FakeRoom[], tabs: FakeTabs) {
    this.#demoOnly = demoOnly;
    this.#rooms = rooms;
    this.#tabs = tabs;
  }

  async json(method: Method, path: string, sent?: unknown): Promise<Result<unknown>> {
    for (const room of this.#rooms) {
      const told = room.answer(method, path, sent);
      if (told !== null) return told;
    }
    const tab = /^\/tabs\/([^/]+)$/.exec(path)?.[1];
    if (method === "PATCH" && tab !== undefined) {
      // The page's own class made this body.
      const patch = sent as TabPatch;
      if (patch.options?.directories?.includes("/") === true) return { ok: false, error: rootRefused };
      this.#tabs.changeTab(tab, patch);
    }
    const body = method === "POST" && path === "/tabs" ? this.#tabs.newTab() : this.#answer(method, path);
    return body === undefined
      ? {
          ok: false,
          error: { code: "credential-refused", message: "The provider refused this key.", hint: "Nothing was kept." },
        }
      : { ok: true, body };
  }
  async upload(): Promise<Result<unknown>> {
    return { ok: true, body: { blob: "a".repeat(64), mediaType: "image/png", size: 1 } };
  }
  async download(): Promise<Result<Blob>> {
    return { ok: true, body: new Blob([picture], { type: "image/svg+xml" }) };
  }

  #answer(method: Method, path: string): unknown {
    if (method === "GET" && path === "/me") return { signedIn: true, build: "dev" };
    if (path === "/models") return this.#models();
    if (path === "/credentials" && method === "GET") return { credentials: this.#demoOnly ? [] : credentials };
    if (path === "/local-servers") return { servers: this.#demoOnly ? servers : [] };
    if (path.startsWith("/directories")) return directory;
    if (path.endsWith("/logs")) return { logs };
    if (/\/chunks\/\d+$/.test(path)) return wholeRow(Number(path.split("/").at(-1)));
    return method === "PATCH" ? {} : undefined;
  }

  #models(): unknown {
    const demo = {
      id: "demo/demo",
      label: "Demo",
      provider: "demo",
      available: true,
      note: "Scripted, no AI.",
      contextTokens: null,
      prices: null,
    };
    const opus = {
      id: "anthropic/claude-opus-4-8",
      label: "Claude Opus 4.8",
      provider: "anthropic",
      available: true,
      contextTokens: 200_000,
      prices: { input: 5, output: 25, read: 0.5, write5m: 6.25, write1h: 10 },
    };
    return {
      models: this.#demoOnly ? [demo] : [opus, demo],
      default: this.#demoOnly ? demo.id : opus.id,
      demoOnly: this.#demoOnly,
      recognised: this.#demoOnly
        ? []
        : [{ provider: "openai", note: "https://api.openai.com could not be reached: no answer within 3000 ms." }],
    };
  }
}

const rootRefused: ErrorBody = {
  code: "bad-request",
  message: "“/” cannot be a directory of a tab.",
  hint: "Name a directory below it.",
};
const WHOLE = `${"A line of the report.\n".repeat(300)}${"x".repeat(9000)}THE END`;
const wholeRow = (seq: number): unknown =>
  seq === 3
    ? { seq, type: "tool_result", data: { callId: "r1", name: "read", result: WHOLE, isError: false } }
    : { seq, type: "text", data: { text: WHOLE } };
const logs = [
  { logId: "log-before", parentId: null, parentSeq: 0, tail: 12, createdAt: 86_400_000, current: false },
  { logId: "log", parentId: "log-before", parentSeq: 5, tail: 33, createdAt: 900_000_000, current: true },
];
const picture =
  '<svg xmlns="http://www.w3.org/2000/svg" width="300" height="300"><rect width="300" height="300" fill="#89a"/></svg>';
const credentials = [
  { id: "anthropic", provider: "anthropic", baseUrl: null, keyHint: "x3Fa", source: "environment" },
  { id: "openai", provider: "openai", baseUrl: null, keyHint: "9d21", source: "stored" },
];
const servers = [{ kind: "ollama", baseUrl: "http://127.0.0.1:11434", models: ["qwen3-coder:30b", "gemma4:12b"] }];
const names = ["envfile", "garden-planner", "notes", "radio", "site", "sediment", "weather-station-with-a-long-name"];
const directory = {
  path: "/home/mika/code",
  parent: "/home/mika",
  entries: names.map((name, i) => ({ name, path: `/home/mika/code/${name}`, git: i % 2 === 0 })),
  recent: ["/home/mika/code/envfile", "/home/mika/code/garden-planner"],
};
