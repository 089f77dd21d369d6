/** Messages: sending, what waits, stopping, answering. The same acts as the commands of a socket. */
import { isFault, parseChunkId, type QueuedMessage } from "@varve/protocol";
import {
  acceptedSchema,
  answerBodySchema,
  backgroundBodySchema,
  messageBodySchema,
  messageFateSchema,
  queuedMessageSchema,
  queuePatchSchema,
  stopBodySchema,
} from "@varve/protocol/schema";
import { z } from "zod";
import { nameOf } from "../auth/gate.ts";
import type { Workspace } from "../workspace/workspace-contract.ts";
import { badId, jsonRoute, okOr, onTab, type Route, reply, route } from "./route.ts";

/** As `head.queue[]` gives it, and the whole data besides. */
const shown = (message: QueuedMessage): QueuedMessage & { readonly text: string } => ({
  ...message,
  text: message.data.text,
});

export const messageRoutes = (workspace: Workspace): readonly Route[] => [
  jsonRoute({
    method: "POST",
    path: "/tabs/:tab/messages",
    summary: "Sends a message. Its id makes it idempotent: sent again it answers with its state.",
    body: messageBodySchema,
    answers: { status: 202, schema: acceptedSchema },
    run: onTab(async (tab, { body, visitor }) => okOr(await workspace.send(tab, body, nameOf(visitor)), 202)),
  }),
  jsonRoute({
    method: "PATCH",
    path: "/tabs/:tab/queue/:message",
    summary:
      "Changes a waiting message: text, delivery, state, place. A stale version gets 409 with the current record.",
    body: queuePatchSchema,
    answers: { status: 200, schema: queuedMessageSchema },
    run: onTab(async (tab, { params, body }) => {
      const id = parseChunkId(params.message ?? "");
      if (id === null) return badId("message");
      const outcome = await workspace.patchQueued(tab, id, body);
      if (!isFault(outcome)) return reply(200, shown(outcome));
      const current = "current" in outcome && outcome.current !== undefined ? shown(outcome.current) : undefined;
      return { ...outcome, ...(current && { current }) };
    }),
  }),
  route({
    method: "GET",
    path: "/tabs/:tab/queue/:message",
    summary: "What became of a message: waiting, held, sealed (and where), or removed.",
    answers: { status: 200, schema: messageFateSchema },
    run: onTab(async (tab, { params }) => {
      const id = parseChunkId(params.message ?? "");
      return id === null ? badId("message") : okOr(await workspace.messageFate(tab, id));
    }),
  }),
  route({
    method: "DELETE",
    path: "/tabs/:tab/queue/:message",
    summary: "Removes a waiting message. `state` says who won when it was sealed meanwhile.",
    answers: { status: 200, schema: acceptedSchema },
    run: onTab(async (tab, { params }) => {
      const id = parseChunkId(params.message ?? "");
      return id === null ? badId("message") : okOr(await workspace.cancelQueued(tab, id));
    }),
  }),
  ...turnRoutes(workspace),
];

/** What is said to a turn that runs. */
const turnRoutes = (workspace: Workspace): readonly Route[] => [
  jsonRoute({
    method: "POST",
    path: "/tabs/:tab/stop",
    summary: "Stops the turn named, or the one that runs; with `callId` that one tool call.",
    body: stopBodySchema,
    answers: { status: 200, schema: z.object({ stopped: z.boolean() }) },
    run: onTab(async (tab, { body }) => {
      const { turnId, callId } = body;
      const meant = { ...(turnId !== undefined && { turnId }), ...(callId !== undefined && { callId }) };
      return okOr(await workspace.stop(tab, meant));
    }),
  }),
  jsonRoute({
    method: "POST",
    path: "/tabs/:tab/background",
    summary:
      "Lets a running tool call go on as a background job, so that what waits is delivered. `moved: false`: it does not run, or cannot be moved.",
    body: backgroundBodySchema,
    answers: { status: 200, schema: z.object({ moved: z.boolean() }) },
    run: onTab(async (tab, { body }) => {
      const { turnId, callId } = body;
      return okOr(await workspace.background(tab, { callId, ...(turnId !== undefined && { turnId }) }));
    }),
  }),
  jsonRoute({
    method: "POST",
    path: "/tabs/:tab/answers",
    summary:
      "Answers a permission question (`verdict`), a question of the agent (`text`) or a limit (`choice`). The first answer wins.",
    body: answerBodySchema,
    answers: { status: 200, schema: z.object({ state: z.literal("done") }) },
    run: onTab(async (tab, { body, visitor }) => {
      const problem = await workspace.answer(tab, body, nameOf(visitor));
      return problem ?? reply(200, { state: "done" });
    }),
  }),
];
