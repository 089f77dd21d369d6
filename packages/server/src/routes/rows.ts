/** Reading a tab: pages of rows, one row whole, its head, its stream of frames. */
import { type Fault, fault, isFault, parseLogId, type TabId } from "@varve/protocol";
import { headBodySchema, logChunkSchema, pageSchema } from "@varve/protocol/schema";
import { z } from "zod";
import { holderOf } from "../auth/gate.ts";
import type { SseDoor } from "../sse-door.ts";
import type { DigestHeld, PageRequest, Workspace } from "../workspace/workspace-contract.ts";
import { okOr, onTab, type Route, reply, route } from "./route.ts";

/** Rows that one digest may cover; more are asked for in pieces. */
const digestRowsMax = 100_000;

export const rowRoutes = (workspace: Workspace, sse: SseDoor): readonly Route[] => [
  route({
    method: "GET",
    path: "/tabs/:tab/chunks",
    summary: "A page of rows, ascending: the newest, those before a seq, or those after one.",
    query: {
      limit: "Rows at most: 100 unless said, never more than 500.",
      before: "Rows with a smaller seq.",
      after: "Rows with a larger seq.",
    },
    answers: { status: 200, schema: pageSchema },
    run: onTab(async (tab, { query }) => {
      const request = pageRequest(query);
      return isFault(request) ? request : okOr(await workspace.page(tab, request));
    }),
  }),
  route({
    method: "GET",
    path: "/tabs/:tab/chunks/:seq",
    summary: "One row, whole.",
    answers: { status: 200, schema: logChunkSchema },
    run: onTab(async (tab, { params }) => {
      const seq = whole(params.seq ?? "", 1);
      return seq === null ? badCursor("seq") : okOr(await workspace.row(tab, seq));
    }),
  }),
  route({
    method: "GET",
    path: "/tabs/:tab/head",
    summary: "What a client needs to stand where the tab stands, rows excepted.",
    query: {
      digest: "`lo-hi`: the SHA-256 of these rows as they travel is added as `digest`.",
      mine: "With `digest`: the asker's own digest of these rows, in hex. A difference is counted in the metrics.",
      log: "With `mine`: the log that the asker's rows are of. Of another log than the tab's nothing is counted.",
      term: "With `mine`: the term of the head that the asker stands on. Of another term nothing is counted.",
    },
    answers: { status: 200, schema: headBodySchema.extend({ digest: z.string().optional() }) },
    run: onTab(async (tab, { query }) => {
      const digest = await digestOf(workspace, tab, query);
      if (isFault(digest)) return digest;
      const head = await workspace.head(tab);
      return isFault(head) ? head : reply(200, { ...head, ...(digest !== undefined && { digest }) });
    }),
  }),
  route({
    method: "GET",
    path: "/tabs/:tab/events",
    summary: "The tab's frames as server-sent events; resume with Last-Event-ID.",
    answers: { status: 200, type: "text/event-stream" },
    run: onTab((tab, { headers, visitor, stillHolds, cut }) => {
      const holder = holderOf(visitor);
      return sse.open({ tab, lastEventId: headers.get("last-event-id"), holder, stillHolds, cut });
    }),
  }),
];

async function digestOf(workspace: Workspace, tab: TabId, query: URLSearchParams): Promise<string | undefined | Fault> {
  const held = heldDigest(query);
  if (isFault(held)) return held;
  const span = query.get("digest");
  if (span === null) return held === null ? undefined : badDigest("`mine` goes with `digest`.");
  const [, low = "", high = ""] = /^(\d+)-(\d+)$/.exec(span) ?? [];
  const [lo, hi] = [whole(low, 1), whole(high, 1)];
  if (lo === null || hi === null || hi < lo || hi - lo >= digestRowsMax) return badCursor("digest");
  return held === null ? workspace.digest(tab, lo, hi) : workspace.compare(tab, { lo, hi }, held);
}

/** What the asker holds, all three parts of it; null when it only asks. */
function heldDigest(query: URLSearchParams): DigestHeld | null | Fault {
  const [log, term, mine] = [query.get("log"), query.get("term"), query.get("mine")];
  if (log === null && term === null && mine === null) return null;
  const logId = parseLogId(log ?? "");
  if (logId === null) return badDigest("`log` is no id of a log.");
  const number = whole(term ?? "", 0);
  if (number === null) return badDigest("`term` is no whole number.");
  if (!/^[0-9a-f]{64}$/.test(mine ?? "")) return badDigest("`mine` is no SHA-256 in small hex digits.");
  return { log: logId, term: number, mine: mine ?? "" };
}

function pageRequest(query: URLSearchParams): PageRequest | Fault {
  const request: { -readonly [K in keyof PageRequest]: PageRequest[K] } = {};
  for (const [name, least] of [
    ["before", 0],
    ["after", 0],
    ["limit", 1],
  ] as const) {
    const text = query.get(name);
    if (text === null) continue;
    const value = whole(text, least);
    if (value === null) return badCursor(name);
    request[name] = value;
  }
  if (request.before !== undefined && request.after !== undefined) {
    return fault("bad-cursor", "A page goes one way: give `before` or `after`, not both.");
  }
  return request;
}

function whole(text: string, least: number): number | null {
  if (!/^\d{1,15}$/.test(text)) return null;
  const value = Number(text);
  return value >= least ? value : null;
}

const badCursor = (name: string): Fault =>
  fault("bad-cursor", `\`${name}\` is not right.`, "Cursors are seqs: whole numbers that begin at 1.");

const badDigest = (what: string): Fault =>
  fault("bad-request", what, "A comparison gives `digest`, `log`, `term` and `mine`; nothing was counted.");
