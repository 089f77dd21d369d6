import type { Clock } from "@varve/protocol";
import type { Method, Result } from "../api/http.ts";
import type { AskedEntry, TabPermissions } from "../permission/permission-calls.ts";
import { chunkId } from "./fake-rows.ts";

const ENTRIES = 70;
const PAGE = 30;
const VERDICTS = ["once", "project", "deny", "tab", "once"] as const;
const ok = (body: unknown): Result<unknown> => ({ ok: true, body });

/** Settings that say what this machine can do, and what is allowed in a tab. */
export class FakePermissions {
  readonly clock: Clock;
  readonly #sandbox: boolean;
  #kept: readonly string[] = ["bash: npm test", "bash: npm run build \u202e"];
  #takenBack = false;
  #values: Readonly<Record<string, unknown>> = { hiddenEnv: ["GITHUB_TOKEN", "AWS_*"], fetchPrivateHosts: [] };

  constructor(clock: Clock, sandbox: boolean) {
    this.clock = clock;
    this.#sandbox = sandbox;
  }

  /** Null for what is no matter of permissions. */
  answer(method: Method, path: string, sent: unknown): Result<unknown> | null {
    const { pathname, searchParams } = new URL(path, "http://fake");
    if (method === "DELETE" && /^\/tabs\/[^/]+\/permissions\//.test(pathname)) {
      this.#takenBack = true;
      return ok({});
    }
    if (/^\/tabs\/[^/]+\/permissions$/.test(pathname)) return ok(this.#tab(searchParams.get("before")));
    if (pathname === "/permissions/rules") return this.#remove(sent);
    if (pathname !== "/settings") return null;
    const patch = method === "PATCH" && typeof sent === "object" && sent !== null ? sent : {};
    const own = "hiddenEnv" in patch || "fetchPrivateHosts" in patch;
    if (method === "PATCH" && !own) return null;
    this.#values = { ...this.#values, ...patch };
    const sandbox = this.#sandbox ? { available: true } : NONE;
    return ok({ paths: PATHS, values: { ...VALUES, ...this.#values }, sandbox });
  }

  #remove(sent: unknown): Result<unknown> {
    const rule = typeof sent === "object" && sent !== null && "rule" in sent ? sent.rule : null;
    this.#kept = this.#kept.filter((one) => one !== rule);
    return ok({});
  }

  #tab(before: string | null): TabPermissions {
    const kept = this.#kept.map((rule) => ({ action: "allow", source: "project", rule }) as const);
    const from = before === null ? ENTRIES : Number(before) - 1;
    const granted = { askId: chunkId("q9"), at: this.clock.now(), by: "me", rules: ["bash: make lint"] };
    return {
      mode: "ask",
      unattended: { text: "Where nobody answers the question waits, also over a restart.", asks: true },
      root: ROOT,
      projectPath: "/home/mika/.varve/project-permissions.json",
      rules: [...RULES, ...kept],
      problems: [`${ROOT}/.varve/permissions.json: a file inside the workspace cannot allow; 1 rule is left out.`],
      granted: this.#takenBack ? [] : [granted],
      questions: Array.from({ length: Math.min(PAGE, from) }, (_, at) => this.#entry(from - at)),
      more: from > PAGE,
    };
  }

  #entry(seq: number): AskedEntry {
    const at = this.clock.now() - (ENTRIES - seq + 1) * 600_000;
    const verdict = VERDICTS[seq % VERDICTS.length] ?? "once";
    const command = `npm test -- --shard ${seq} \u202e| tee log`;
    const path = `${ROOT}/src/part-${seq}.ts`;
    return {
      seq,
      askId: chunkId(`q${seq}`),
      at,
      subject: seq % 7 === 0 ? { tool: "write", key: path, path } : { tool: "bash", key: command, command },
      answer:
        seq === ENTRIES
          ? null
          : {
              at: at + 4000,
              verdict,
              by: seq % 3 === 0 ? "token:nightly" : "me",
              ...(verdict === "deny" && { reason: "use the other script" }),
              ...(verdict === "project" && { rules: [`bash: npm test -- --shard ${seq}`] }),
            },
    };
  }
}

const ROOT = "/home/mika/code/envfile";
const RULES: TabPermissions["rules"] = [
  { action: "deny", rule: "bash: git push *", source: "workspace" },
  { action: "allow", rule: "bash: git status *", source: "person" },
  { action: "ask", rule: "write: **/*.env", source: "person" },
];
const NONE = { available: false, reason: "bwrap is not installed: install the package bubblewrap." };
const PATHS = { home: "/home/mika/.varve", token: "/home/mika/.varve/token" };
const VALUES = { priceOverrides: { "local/qwen3": { contextTokens: 32_768, prices: { input: 0, output: 0 } } } };
