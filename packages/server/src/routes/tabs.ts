/** Tabs as a whole: the list, one of them, and which log it points to. */
import { isFault, parseLogId } from "@varve/protocol";
import {
  acceptedSchema,
  chunkIdSchema,
  messageBodySchema,
  newTabBodySchema,
  tabPatchSchema,
  tabRecordSchema,
} from "@varve/protocol/schema";
import { z } from "zod";
import { nameOf } from "../auth/gate.ts";
import type { Workspace } from "../workspace/workspace-contract.ts";
import { badId, jsonRoute, okOr, onTab, type Route, reply, route } from "./route.ts";

const seqSchema = z.number().int().positive();
const logsSchema = z.object({
  logs: z.array(
    z.object({
      logId: z.string(),
      parentId: z.string().nullable(),
      parentSeq: z.number(),
      tail: z.number(),
      createdAt: z.number(),
      /** The one that the tab points to now. */
      current: z.boolean(),
    }),
  ),
});

export const tabRoutes = (workspace: Workspace): readonly Route[] => [
  route({
    method: "GET",
    path: "/tabs",
    summary: "All tabs, those in the trash included.",
    answers: { status: 200, schema: z.object({ tabs: z.array(tabRecordSchema) }) },
    run: () => reply(200, { tabs: workspace.list() }),
  }),
  jsonRoute({
    method: "POST",
    path: "/tabs",
    summary: "Makes a tab on a directory.",
    body: newTabBodySchema,
    answers: { status: 201, schema: tabRecordSchema },
    run: async ({ body }) => okOr(await workspace.create(body), 201),
  }),
  route({
    method: "GET",
    path: "/tabs/:tab",
    summary: "One tab.",
    answers: { status: 200, schema: tabRecordSchema },
    run: onTab((tab) => okOr(workspace.get(tab))),
  }),
  jsonRoute({
    method: "PATCH",
    path: "/tabs/:tab",
    summary: "Changes title, directory, model, effort, permissions or options; `trashed: false` restores it.",
    body: tabPatchSchema,
    answers: { status: 200, schema: tabRecordSchema },
    run: onTab(async (tab, { body }) => okOr(await workspace.patch(tab, body))),
  }),
  route({
    method: "DELETE",
    path: "/tabs/:tab",
    summary: "Moves a tab to the trash; one that is there already is purged.",
    answers: { status: 200, schema: z.object({ id: z.string(), state: z.enum(["trashed", "purged"]) }) },
    run: onTab(async (tab) => {
      const problem = await workspace.remove(tab);
      return problem ?? reply(200, { id: tab, state: isFault(workspace.get(tab)) ? "purged" : "trashed" });
    }),
  }),
  ...logRoutes(workspace),
];

const logRoutes = (workspace: Workspace): readonly Route[] => [
  jsonRoute({
    method: "POST",
    path: "/tabs/:tab/fork",
    summary: "A new tab whose log shares the rows up to `seq`.",
    body: z.object({ seq: seqSchema }),
    answers: { status: 201, schema: tabRecordSchema },
    run: onTab(async (tab, { body }) => okOr(await workspace.fork(tab, body.seq), 201)),
  }),
  jsonRoute({
    method: "POST",
    path: "/tabs/:tab/clear",
    summary: "Points the tab to a fresh log; the earlier one stays reachable.",
    body: z.object({}),
    answers: { status: 200, schema: tabRecordSchema },
    run: onTab(async (tab) => okOr(await workspace.clear(tab))),
  }),
  jsonRoute({
    method: "POST",
    path: "/tabs/:tab/resend",
    summary: "Replaces the message at `seq` and what follows it, in a new log.",
    body: z.object({ seq: seqSchema, id: chunkIdSchema, text: messageBodySchema.shape.text }),
    answers: { status: 202, schema: acceptedSchema },
    run: onTab(async (tab, { body, visitor }) => okOr(await workspace.resend(tab, body, nameOf(visitor)), 202)),
  }),
  jsonRoute({
    method: "POST",
    path: "/tabs/:tab/log",
    summary: "Points the tab back to an earlier log of its own.",
    body: z.object({ logId: z.string() }),
    answers: { status: 200, schema: tabRecordSchema },
    run: onTab(async (tab, { body }) => {
      const logId = parseLogId(body.logId);
      return logId === null ? badId("log") : okOr(await workspace.pointTo(tab, logId));
    }),
  }),
  route({
    method: "GET",
    path: "/tabs/:tab/logs",
    summary: "Every log that the tab ever pointed to, oldest first.",
    answers: { status: 200, schema: logsSchema },
    run: onTab(async (tab) => {
      const [record, logs] = [workspace.get(tab), await workspace.logs(tab)];
      if (isFault(record)) return record;
      if (isFault(logs)) return logs;
      return reply(200, {
        logs: logs.map(({ id, ...rest }) => ({ logId: id, ...rest, current: id === record.logId })),
      });
    }),
  }),
];
