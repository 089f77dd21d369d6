/** Questions, their answers and what they allow, by the real engine, tools and doors. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { LogChunk, PermissionsBody, TabPermissionsBody } from "@varve/protocol";
import { permissionsBodySchema, tabPermissionsBodySchema } from "@varve/protocol/schema";
import { describe, expect, test } from "vitest";
import { endsTurn, rowsOf } from "./testing/frames.ts";
import { type House, openHouse } from "./testing/house.ts";
import { Stream } from "./testing/stream.ts";

const runs = (id: string, command: string) => ({
  blocks: [{ type: "tool_use" as const, id, name: "bash", input: { command } }],
});
const says = (text: string) => ({ blocks: [{ type: "text" as const, text }] });

interface Watched {
  readonly id: string;
  readonly stream: Stream;
}

async function watched(house: House, body: Readonly<Record<string, unknown>> = {}): Promise<Watched> {
  const { id } = await house.tab({ permissions: "ask", model: "openai-compatible/test-model", ...body });
  const host = "127.0.0.1:4477";
  const headers = { host, authorization: `Bearer ${house.parts.token}` };
  const stream = new Stream(await house.parts.doors.app.request(`http://${host}/api/tabs/${id}/events`, { headers }));
  return { id, stream };
}
const send = (house: House, { id }: Watched, message: string) =>
  house.call("POST", `/api/tabs/${id}/messages`, { id: message, text: "go" });

type Asked = Extract<Extract<LogChunk, { type: "system" }>["data"], { kind: "permission"; state: "asked" }>;
const askedIn = ({ stream }: Watched): readonly Asked[] =>
  stream.frames.flatMap(rowsOf).flatMap((row) => {
    if (row.type !== "system" || row.data.kind !== "permission" || row.data.state !== "asked") return [];
    return [row.data];
  });

/** The newest question, as soon as there are so many. */
async function question(tab: Watched, count = 1): Promise<Asked> {
  await tab.stream.next(() => askedIn(tab).length >= count);
  const asked = askedIn(tab).at(-1);
  if (asked === undefined) throw new Error("the stream ended without a question");
  return asked;
}
const answer = (house: House, { id }: Watched, body: Readonly<Record<string, unknown>>) =>
  house.call("POST", `/api/tabs/${id}/answers`, body);

async function seen(house: House, id: string, query = ""): Promise<TabPermissionsBody> {
  return tabPermissionsBodySchema.parse((await house.call("GET", `/api/tabs/${id}/permissions${query}`)).json);
}
async function all(house: House): Promise<PermissionsBody> {
  return permissionsBodySchema.parse((await house.call("GET", "/api/permissions")).json);
}

describe("always in this project", () => {
  test("[PERM-43] [PERM-45] allows the chosen rule in every tab there, at once, until it is taken back", async () => {
    const script = [runs("c1", "uname && id -u"), says("a"), runs("c2", "id -u"), says("b"), runs("c3", "id -u")];
    await using house = await openHouse({ script });
    const first = await watched(house);
    await send(house, first, "m1");
    const asked = await question(first);
    expect(asked.subject).toMatchObject({
      offers: ["bash: uname", "bash: id -u"],
      parts: [
        { text: "uname", asks: true },
        { text: "id -u", asks: true },
      ],
    });
    const wide = { askId: asked.askId, verdict: "project", rules: ["bash: *"] };
    expect(await answer(house, first, wide)).toMatchObject({ status: 400, json: { error: { code: "bad-request" } } });
    expect(existsSync(join(house.home, "project-permissions.json"))).toBe(false);
    const body = { askId: asked.askId, verdict: "project", rules: ["bash: id -u"] };
    expect(await answer(house, first, body)).toMatchObject({ status: 200 });
    await first.stream.next(endsTurn);
    expect((await all(house)).projects.roots).toEqual([{ root: house.project, rules: ["bash: id -u"] }]);

    const second = await watched(house);
    await send(house, second, "m2");
    await second.stream.next(endsTurn);
    expect(askedIn(second)).toEqual([]);
    const rule = { root: house.project, rule: "bash: id -u" };
    expect(await house.call("DELETE", "/api/permissions/rules", rule)).toMatchObject({ status: 200, json: rule });
    expect(await house.call("DELETE", "/api/permissions/rules", rule)).toMatchObject({ status: 404 });
    await send(house, second, "m3");
    expect((await question(second)).subject.command).toBe("id -u");
    await Promise.all([first.stream.close(), second.stream.close()]);
  });

  test("[PERM-43] [PERM-45] a question stays open when its rules cannot be kept, and when they come from elsewhere", async () => {
    await using house = await openHouse({ script: [runs("c1", "uname"), says("a")] });
    const path = join(house.home, "project-permissions.json");
    const tab = await watched(house);
    await send(house, tab, "m1");
    const { askId } = await question(tab);
    writeFileSync(path, "{");
    const refused = await answer(house, tab, { askId, verdict: "project" });
    expect(refused).toMatchObject({ status: 400, json: { error: { message: expect.stringContaining(path) } } });
    expect(readFileSync(path, "utf8")).toBe("{");
    writeFileSync(path, JSON.stringify({ projects: [{ root: house.project, allow: ["bash: uname"] }] }));
    expect(await seen(house, tab.id)).toMatchObject({
      rules: [{ action: "allow", rule: "bash: uname", source: "project" }],
      questions: [{ askId, answer: null }],
    });
    expect(await answer(house, tab, { askId, verdict: "deny" })).toMatchObject({ status: 200 });
    await tab.stream.next(endsTurn);
    await tab.stream.close();
  });
});

describe("for this tab", () => {
  test("[PERM-47] what was answered is told, holds in this tab alone, and can be taken back", async () => {
    const script = [
      runs("c1", "uname; $X"),
      runs("c2", "id -u"),
      says("a"),
      runs("c3", "id -u"),
      says("b"),
      runs("c4", "id -u"),
    ];
    await using house = await openHouse({ script });
    writeFileSync(join(house.home, "permissions.json"), '{"deny": ["bash: rm *"], "allow": ["odd: "]}');
    const tab = await watched(house);
    await send(house, tab, "m1");
    const exact = await question(tab);
    expect(exact.subject).not.toHaveProperty("offers");
    await answer(house, tab, { askId: exact.askId, verdict: "tab" });
    const { askId } = await question(tab, 2);
    await answer(house, tab, { askId, verdict: "tab" });
    await tab.stream.next(endsTurn);
    await send(house, tab, "m2");
    await tab.stream.next((frame) => rowsOf(frame).some((row) => row.type === "text" && row.data.text === "b"));

    const body = await seen(house, tab.id);
    expect(body).toMatchObject({
      mode: "ask",
      unattended: { asks: true },
      root: house.project,
      rules: [{ action: "deny", rule: "bash: rm *", source: "person" }],
      problems: [expect.stringContaining("odd")],
      granted: [
        { rules: [], exact: { tool: "bash", key: exact.subject.key } },
        { askId, rules: ["bash: id -u"] },
      ],
      more: false,
    });
    expect(body.questions.map(({ subject, answer: said }) => [subject.command, said?.verdict])).toEqual([
      ["id -u", "tab"],
      ["uname; $X", "tab"],
    ]);
    const [newest, older] = body.questions;
    expect(await seen(house, tab.id, "?limit=1")).toMatchObject({ questions: [newest], more: true });
    expect(await seen(house, tab.id, `?limit=1&before=${newest?.seq}`)).toMatchObject({
      questions: [older],
      more: false,
    });
    for (const bad of ["?limit=0", "?before=x"]) {
      expect((await house.call("GET", `/api/tabs/${tab.id}/permissions${bad}`)).status).toBe(400);
    }

    const path = `/api/tabs/${tab.id}/permissions/${askId}`;
    expect(await house.call("DELETE", path)).toMatchObject({ status: 200, json: { askId } });
    expect(await house.call("DELETE", path)).toMatchObject({ status: 404, json: { error: { code: "unknown-rule" } } });
    expect((await seen(house, tab.id)).granted).toHaveLength(1);
    await send(house, tab, "m3");
    expect((await question(tab, 3)).subject.command).toBe("id -u");
    await tab.stream.close();
  });

  test.each([
    ["read", false, "refused"],
    ["ask", true, "waits"],
    ["edits", true, "waits"],
    ["allow", false, "without asking"],
  ] as const)("[PERM-47] what mode %s does while nobody looks is said in words", async (permissions, asks, word) => {
    await using house = await openHouse();
    const { id } = await house.tab({ permissions });
    const { mode, unattended } = await seen(house, id);
    expect([mode, unattended.asks]).toEqual([permissions, asks]);
    expect(unattended.text).toContain(word);
  });
});
