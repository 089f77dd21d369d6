import type { AnswerBody, ChunkId, TabId } from "@varve/protocol";
import { commandSchema } from "@varve/protocol/schema";
import { describe, expect, test } from "vitest";
import { type Change, carryOut } from "./carry-out.ts";
import { makeRig } from "./workspace/testing/rig.ts";

const answer = (body: Omit<AnswerBody, "askId">): Change => {
  const command = commandSchema.parse({ type: "answer", re: 1, tab: "t", askId: "q", ...body });
  if (command.type !== "answer") throw new Error("not an answer");
  return command;
};

describe("an answer through a socket", () => {
  test.each<[string, Omit<AnswerBody, "askId">]>([
    ["a verdict", { verdict: "deny", text: "no" }],
    ["a text", { text: "blue" }],
    ["going on", { choice: "go-on" }],
    ["raising", { choice: "raise", raiseTo: 2.5 }],
    ["stopping", { choice: "stop" }],
  ])("[TAB-102] %s reaches the tab as it was given, and no other field with it", async (_, body) => {
    await using rig = await makeRig();
    const seen: unknown[] = [];
    const { workspace } = rig;
    workspace.answer = async (...given) => {
      seen.push(given);
      return null;
    };
    expect(await carryOut(workspace, answer(body), "phone")).toEqual({ state: "done" });
    expect(seen).toEqual([["t" as TabId, { askId: "q" as ChunkId, ...body }, "phone"]]);
  });
});
