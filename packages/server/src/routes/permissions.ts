/** What is allowed, by which rule, and what was asked. */
import { type Fault, fault, isFault } from "@varve/protocol";
import {
  chunkIdSchema,
  permissionsBodySchema,
  projectRuleSchema,
  tabPermissionsBodySchema,
} from "@varve/protocol/schema";
import { z } from "zod";
import { nameOf } from "../auth/gate.ts";
import type { PermissionFiles } from "../permission-files.ts";
import type { QuestionPage } from "../workspace/permission-log.ts";
import type { Workspace } from "../workspace/workspace-contract.ts";
import { badId, jsonRoute, onTab, type Route, reply, route } from "./route.ts";

export interface PermissionPorts {
  readonly workspace: Workspace;
  readonly permissions: PermissionFiles;
}

export const permissionRoutes = ({ workspace, permissions }: PermissionPorts): readonly Route[] => [
  route({
    method: "GET",
    path: "/permissions",
    summary: "The person's own rules, and what was answered 'always in this project', by directory.",
    answers: { status: 200, schema: permissionsBodySchema },
    run: () => reply(200, permissions.all()),
  }),
  jsonRoute({
    method: "DELETE",
    path: "/permissions/rules",
    summary: "Takes a rule of a project back; it holds no longer for the next call.",
    body: projectRuleSchema,
    answers: { status: 200, schema: projectRuleSchema },
    run: ({ body }) => permissions.takeBack(body) ?? reply(200, body),
  }),
  route({
    method: "GET",
    path: "/tabs/:tab/permissions",
    summary:
      "The tab's mode, the rules that hold for it with their sources, and its questions and answers, newest first.",
    query: {
      limit: "Questions at most: 50 unless said, never more than 100.",
      before: "Questions with a smaller seq.",
    },
    answers: { status: 200, schema: tabPermissionsBodySchema },
    run: onTab(async (tab, { query }) => {
      const page = questionPage(query);
      if (isFault(page)) return page;
      const [record, asked] = [workspace.get(tab), await workspace.asked(tab, page)];
      if (isFault(record)) return record;
      return isFault(asked) ? asked : reply(200, { ...permissions.look(record.cwd), ...asked });
    }),
  }),
  route({
    method: "DELETE",
    path: "/tabs/:tab/permissions/:ask",
    summary: "Takes back what the answer to a question allowed for this tab.",
    answers: { status: 200, schema: z.object({ askId: z.string() }) },
    run: onTab(async (tab, { params, visitor }) => {
      const askId = chunkIdSchema.safeParse(params.ask);
      if (!askId.success) return badId("question");
      const problem = await workspace.takeBack(tab, askId.data, nameOf(visitor));
      return problem ?? reply(200, { askId: askId.data });
    }),
  }),
];

function questionPage(query: URLSearchParams): QuestionPage | Fault {
  const page: { -readonly [K in keyof QuestionPage]: QuestionPage[K] } = {};
  for (const name of ["before", "limit"] as const) {
    const text = query.get(name);
    if (text === null) continue;
    const value = /^\d{1,15}$/.test(text) ? Number(text) : 0;
    if (value < 1) return fault("bad-cursor", `\`${name}\` is not right.`, "It is a whole number from 1 on.");
    page[name] = value;
  }
  return page;
}
