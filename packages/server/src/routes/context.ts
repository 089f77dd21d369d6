/** What a tab's model is given: what it holds and costs, what changed, and what exactly was sent. */
import { type Fault, fault, isFault } from "@varve/protocol";
import {
  applyContextBodySchema,
  cacheTtlSchema,
  contextBodySchema,
  effortSchema,
  previewBodySchema,
  sentRequestBodySchema,
  undoCompactionBodySchema,
} from "@varve/protocol/schema";
import { z } from "zod";
import type { ContextActs, PreviewAsked } from "../context/context-contract.ts";
import { jsonRoute, okOr, onTab, type Route, route } from "./route.ts";

export const contextRoutes = (contexts: ContextActs): readonly Route[] => [
  route({
    method: "GET",
    path: "/tabs/:tab/context",
    summary:
      "How full the tab's context is, how long it is cached, what changed outside, and what each act would cost.",
    answers: { status: 200, schema: contextBodySchema },
    run: onTab(async (tab) => okOr(await contexts.look(tab))),
  }),
  jsonRoute({
    method: "POST",
    path: "/tabs/:tab/context",
    summary: "Between turns: `tell` adds what changed as notes, `rebuild` begins the context anew with what holds now.",
    body: applyContextBodySchema,
    answers: { status: 200, schema: contextBodySchema },
    run: onTab(async (tab, { body }) => okOr(await contexts.apply(tab, body.apply))),
  }),
  route({
    method: "GET",
    path: "/tabs/:tab/preview",
    summary: "What the next request would read, write and cost with another model, effort or cache lifetime.",
    query: {
      model: "`<credential>/<model>`; the tab's own unless said.",
      effort: "default, low, medium or high.",
      cacheTtl: "5m or 1h.",
    },
    answers: { status: 200, schema: previewBodySchema },
    run: onTab(async (tab, { query }) => {
      const asked = previewAsked(query);
      return isFault(asked) ? asked : okOr(await contexts.preview(tab, asked));
    }),
  }),
  jsonRoute({
    method: "POST",
    path: "/tabs/:tab/compact",
    summary: "Sums the tab up: at once when it is idle (`started`), else at the turn's next step boundary (`asked`).",
    body: z.object({}),
    answers: { status: 202, schema: z.object({ state: z.enum(["started", "asked"]) }) },
    run: onTab(async (tab) => okOr(await contexts.compact(tab), 202)),
  }),
  jsonRoute({
    method: "POST",
    path: "/tabs/:tab/compact/undo",
    summary: "Ends the effect of the compaction at `seq`, the newest one in force.",
    body: undoCompactionBodySchema,
    answers: { status: 200, schema: contextBodySchema },
    run: onTab(async (tab, { body }) => okOr(await contexts.undoCompaction(tab, body.seq))),
  }),
  route({
    method: "GET",
    path: "/tabs/:tab/requests/:seq",
    summary: "What exactly the request of this row sent, block by block, and what of it was cached.",
    query: { from: "Index of the first block to give; the newest ones unless said." },
    answers: { status: 200, schema: sentRequestBodySchema },
    run: onTab(async (tab, { params, query }) => {
      const seq = whole(params.seq ?? "", 1);
      const text = query.get("from");
      const from = text === null ? null : whole(text, 0);
      if (seq === null) return badCursor("seq");
      if (text !== null && from === null) return badCursor("from");
      return okOr(await contexts.sentRequest(tab, seq, from));
    }),
  }),
];

function previewAsked(query: URLSearchParams): PreviewAsked | Fault {
  const effort = effortSchema.optional().safeParse(query.get("effort") ?? undefined);
  const cacheTtl = cacheTtlSchema.optional().safeParse(query.get("cacheTtl") ?? undefined);
  if (!effort.success) return fault("bad-request", "`effort` is default, low, medium or high.");
  if (!cacheTtl.success) return fault("bad-request", "`cacheTtl` is 5m or 1h.");
  const model = query.get("model");
  return {
    ...(model !== null && { model }),
    ...(effort.data !== undefined && { effort: effort.data }),
    ...(cacheTtl.data !== undefined && { cacheTtl: cacheTtl.data }),
  };
}

function whole(text: string, least: number): number | null {
  if (!/^\d{1,15}$/.test(text)) return null;
  const value = Number(text);
  return value >= least ? value : null;
}

const badCursor = (name: string): Fault =>
  fault("bad-cursor", `\`${name}\` is not right.`, "Seqs begin at 1, blocks at 0; both are whole numbers.");
