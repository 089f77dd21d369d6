/** What tabs cost. */
import { fault, isFault } from "@varve/protocol";
import { ledgerBodySchema, usageBodySchema } from "@varve/protocol/schema";
import { stepsDefault, stepsMax } from "../ledger/tab-ledger.ts";
import { daysDefault, daysMax } from "../ledger/usage-body.ts";
import type { Workspace } from "../workspace/workspace-contract.ts";
import { okOr, onTab, type Route, route } from "./route.ts";

export const usageRoutes = (workspace: Workspace): readonly Route[] => [
  route({
    method: "GET",
    path: "/tabs/:tab/ledger",
    summary: "What a tab cost: alone, with its children, by model, by turn and by step, the newest steps first.",
    query: {
      before: "Only steps whose `usageSeq` is below this one.",
      limit: `Steps at most; ${stepsDefault} unless said, never more than ${stepsMax}.`,
    },
    answers: { status: 200, schema: ledgerBodySchema },
    run: onTab(async (tab, { query }) => {
      const before = wholeNumber(query, "before");
      const limit = wholeNumber(query, "limit");
      if (isFault(before)) return before;
      if (isFault(limit)) return limit;
      return okOr(await workspace.ledger(tab, { ...(before && { before }), ...(limit && { limit }) }));
    }),
  }),
  route({
    method: "GET",
    path: "/usage",
    summary: "What all tabs of this server cost by day, model and tab; today is the last day.",
    query: { days: `How many days; ${daysDefault} unless said, at most ${daysMax}.` },
    answers: { status: 200, schema: usageBodySchema },
    run: async ({ query }) => {
      const days = wholeNumber(query, "days") ?? daysDefault;
      if (isFault(days)) return days;
      if (days > daysMax) return fault("bad-request", `days: at most ${daysMax}.`);
      return okOr(await workspace.usage(days));
    },
  }),
];

function wholeNumber(query: URLSearchParams, name: string) {
  const text = query.get(name);
  if (text === null) return null;
  const value = Number(text);
  return Number.isSafeInteger(value) && value > 0
    ? value
    : fault("bad-request", `${name}: a whole number above 0 is expected.`);
}
