import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { isFault, type Page } from "@varve/protocol";
import {
  acceptedSchema,
  headBodySchema,
  pageSchema,
  queuedMessageSchema,
  tabRecordSchema,
} from "@varve/protocol/schema";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { rowsOf } from "../testing/frames.ts";
import { asToken, type House, openHouse } from "../testing/house.ts";
import { png } from "../testing/pictures.ts";
import { Stream } from "../testing/stream.ts";

let house: House;

beforeAll(async () => {
  house = await openHouse({ script: [{ reply: { blocks: [{ type: "text", text: "fine" }] }, times: "always" }] });
});
afterAll(() => house[Symbol.asyncDispose]());

const pageOf = async (tab: string, query = ""): Promise<Page> =>
  pageSchema.parse((await house.call("GET", `/api/tabs/${tab}/chunks${query}`)).json);

/** Waits for the ends of so many turns, by their rows. */
async function turnEnds(tab: string, count = 1): Promise<void> {
  const host = "127.0.0.1:4477";
  const headers = { host, authorization: `Bearer ${house.parts.token}` };
  const stream = new Stream(await house.parts.doors.app.request(`http://${host}/api/tabs/${tab}/events`, { headers }));
  let ended = 0;
  await stream.next((frame) => {
    ended += rowsOf(frame).filter((row) => row.type === "system" && row.data.kind === "turn-end").length;
    return ended >= count;
  });
  await stream.close();
}

describe("tabs", () => {
  test("[HTTP-10] a tab is made, read, changed, listed, trashed, restored and purged", async () => {
    const made = await house.call("POST", "/api/tabs", { id: "first", title: "One", cwd: house.project });
    expect(made.status).toBe(201);
    expect(tabRecordSchema.parse(made.json)).toMatchObject({
      id: "first",
      title: "One",
      permissions: "ask",
      state: "idle",
    });
    expect(await house.call("POST", "/api/tabs", { id: "first", cwd: house.project })).toMatchObject({ status: 409 });
    const changed = await house.call("PATCH", "/api/tabs/first", {
      title: "Two",
      permissions: "allow",
      model: "demo/demo",
    });
    expect(changed).toMatchObject({ status: 200, json: { title: "Two", permissions: "allow", model: "demo/demo" } });
    expect((await house.call("GET", "/api/tabs/first")).json).toEqual(changed.json);
    expect((await house.call("GET", "/api/tabs")).json).toMatchObject({ tabs: [{ id: "first" }] });
    expect(await house.call("DELETE", "/api/tabs/first")).toMatchObject({ json: { state: "trashed" } });
    const sent = await house.call("POST", "/api/tabs/first/messages", { id: "m", text: "x" });
    expect(sent).toMatchObject({ status: 409, json: { error: { code: "tab-trashed" } } });
    expect(await house.call("PATCH", "/api/tabs/first", { trashed: false })).toMatchObject({
      json: { trashedAt: null },
    });
    await house.call("DELETE", "/api/tabs/first");
    expect(await house.call("DELETE", "/api/tabs/first")).toMatchObject({ json: { state: "purged" } });
    expect((await house.call("GET", "/api/tabs/first")).status).toBe(404);
  });

  test("[HTTP-11] fork, clear, resend and going back keep every earlier log", async () => {
    const { id } = await house.tab();
    await house.call("POST", `/api/tabs/${id}/messages`, { id: "log-1", text: "hello" });
    await turnEnds(id);
    const { tail, logId } = await pageOf(id);
    const forked = await house.call("POST", `/api/tabs/${id}/fork`, { seq: tail });
    expect(forked.status).toBe(201);
    expect(tabRecordSchema.parse(forked.json).id).not.toBe(id);
    const cleared = await house.call("POST", `/api/tabs/${id}/clear`, {});
    expect(cleared).toMatchObject({ status: 200, json: { tail: 0 } });
    const logs = await house.call("GET", `/api/tabs/${id}/logs`);
    expect(logs.json).toMatchObject({ logs: [{ logId, tail, current: false }, { current: true }] });
    expect(await house.call("POST", `/api/tabs/${id}/log`, { logId })).toMatchObject({ status: 200, json: { logId } });
    const seq = (await pageOf(id)).chunks.find((row) => row.id === "log-1")?.seq;
    const again = await house.call("POST", `/api/tabs/${id}/resend`, { seq, id: "log-2", text: "hello again" });
    expect(again).toMatchObject({ status: 202, json: { id: "log-2", state: "sealed" } });
    await turnEnds(id);
  });
});

describe("messages", () => {
  test("[HTTP-12] a message sent twice under one id is there once, and the answer is the same", async () => {
    const { id } = await house.tab();
    const path = `/api/tabs/${id}/messages`;
    const first = await house.call("POST", path, { id: "once", text: "hello" });
    expect(first.status).toBe(202);
    expect(acceptedSchema.parse(first.json)).toEqual({ id: "once", state: "sealed" });
    expect(await house.call("POST", path, { id: "once", text: "hello" })).toMatchObject({
      status: 202,
      json: { state: "sealed" },
    });
    const other = await house.tab();
    const taken = await house.call("POST", `/api/tabs/${other.id}/messages`, { id: "once", text: "hello" });
    expect(taken).toMatchObject({ status: 409, json: { error: { code: "id-taken" } } });
    await turnEnds(id);
    expect((await pageOf(id)).chunks.filter((row) => row.id === "once")).toHaveLength(1);
  });

  test("[HTTP-13] two sends at the same time to an idle tab: one begins the turn, the other waits, both are answered", async () => {
    for (let round = 0; round < 10; round++) {
      const { id } = await house.tab();
      const send = (name: string) =>
        house.call("POST", `/api/tabs/${id}/messages`, { id: `${name}-${round}`, text: name, delivery: "queue" });
      const states = (await Promise.all([send("a"), send("b")])).map(({ json }) => acceptedSchema.parse(json).state);
      expect(states.toSorted()).toEqual(["queued", "sealed"]);
      await turnEnds(id, 2);
      const users = (await pageOf(id)).chunks.filter((row) => row.role === "user");
      expect(new Set(users.map((row) => row.turnId)).size).toBe(2);
    }
  });

  test("[HTTP-14] a waiting message is changed under its version; a stale change gets the record as it is now", async () => {
    await using busy = await openHouse({ script: [{ blocks: [{ type: "text", text: "a b c" }], holdAfter: 0 }] });
    const { id } = await busy.tab();
    await busy.call("POST", `/api/tabs/${id}/messages`, { id: "one", text: "go" });
    const queue = `/api/tabs/${id}/queue/two`;
    const sent = await busy.call("POST", `/api/tabs/${id}/messages`, { id: "two", text: "later", delivery: "queue" });
    expect(sent).toMatchObject({ status: 202, json: { state: "queued", version: 1 } });
    const edited = await busy.call("PATCH", queue, { version: 1, text: "much later", state: "held" });
    expect(edited).toMatchObject({ status: 200, json: { id: "two", state: "held", version: 2, text: "much later" } });
    queuedMessageSchema.parse(edited.json);
    const stale = await busy.call("PATCH", queue, { version: 1, text: "no" });
    expect(stale).toMatchObject({
      status: 409,
      json: { error: { code: "stale-version" }, current: { version: 2, text: "much later" } },
    });
    expect(await busy.call("DELETE", queue)).toMatchObject({ status: 200, json: { id: "two", state: "dropped" } });
    expect(await busy.call("DELETE", `/api/tabs/${id}/queue/one`)).toMatchObject({
      status: 200,
      json: { state: "sealed" },
    });
    expect(await busy.call("DELETE", `/api/tabs/${id}/queue/none`)).toMatchObject({ status: 404 });
    expect(await busy.call("POST", `/api/tabs/${id}/stop`, { turnId: "another" })).toMatchObject({
      json: { stopped: false },
    });
    expect(await busy.call("POST", `/api/tabs/${id}/stop`)).toMatchObject({ status: 200, json: { stopped: true } });
  });
});

describe("rows", () => {
  test("[HTTP-15] pages go both ways and never hold more than is allowed; a row can be read whole", async () => {
    const { id } = await house.tab();
    await house.call("POST", `/api/tabs/${id}/messages`, { id: "page-1", text: "hello" });
    await turnEnds(id);
    const all = await pageOf(id);
    expect(all.total).toBe(all.tail);
    expect(all.chunks.map((row) => row.seq)).toEqual([...all.chunks.keys()].map((n) => n + 1));
    const middle = await pageOf(id, "?after=1&limit=2");
    expect(middle.chunks.map((row) => row.seq)).toEqual([2, 3]);
    expect((await pageOf(id, "?before=4&limit=2")).chunks.map((row) => row.seq)).toEqual([2, 3]);
    expect((await pageOf(id, "?limit=100000")).chunks).toHaveLength(all.tail);
    const one = await house.call("GET", `/api/tabs/${id}/chunks/1`);
    expect(one.json).toMatchObject({ seq: 1, data: { kind: "prefix" } });
  });

  test("[HTTP-16] the digest of a head is the SHA-256 of the rows as they travel", async () => {
    const { id } = await house.tab();
    await house.call("POST", `/api/tabs/${id}/messages`, { id: "digest-1", text: "hello" });
    await turnEnds(id);
    const { tail } = await pageOf(id);
    // As it came: a schema gives an object's fields another order.
    const { chunks } = (await house.call("GET", `/api/tabs/${id}/chunks`)).json as Awaited<ReturnType<typeof pageOf>>;
    const lines = chunks.map(({ seq, id: name, term, data }) => `${seq} ${name} ${term} ${JSON.stringify(data)}\n`);
    const head = await house.call("GET", `/api/tabs/${id}/head?digest=1-${tail}`);
    headBodySchema.parse(head.json);
    const digest = createHash("sha256").update(lines.join("")).digest("hex");
    expect(head.json).toMatchObject({ tail, digest });
  });

  test("[HTTP-30] a comparison is counted, and a difference, but only of the tab's log and term", async () => {
    const { id } = await house.tab();
    await house.call("POST", `/api/tabs/${id}/messages`, { id: "digest-2", text: "hello" });
    await turnEnds(id);
    const { tail, logId, term } = await pageOf(id);
    const plain = await house.call("GET", `/api/tabs/${id}/head?digest=1-${tail}`);
    const { digest: right } = z.object({ digest: z.string() }).parse(plain.json);
    const wrong = "0".repeat(64);
    const counted = async () => {
      const { text } = await house.call("GET", "/api/metrics");
      return ["checks", "mismatches"].map((name) => Number(new RegExp(`varve_digest_${name} (\\d+)`).exec(text)?.[1]));
    };
    expect(await counted()).toEqual([0, 0]);
    const asks: readonly (readonly [log: string, term: number, mine: string, counted: readonly [number, number]])[] = [
      [logId, term, right, [1, 0]],
      [logId, term, wrong, [2, 1]],
      ["another-log", term, wrong, [2, 1]],
      [logId, term - 1, wrong, [2, 1]],
      [logId, term, right, [3, 1]],
    ];
    for (const [log, at, mine, expected] of asks) {
      const path = `/api/tabs/${id}/head?digest=1-${tail}&log=${log}&term=${at}&mine=${mine}`;
      expect(await house.call("GET", path)).toMatchObject({ status: 200, json: { tail, digest: right } });
      expect(await counted()).toEqual(expected);
    }
  });
});

test("[HTTP-31] a call that does not run is not moved, and says so", async () => {
  const { id } = await house.tab();
  const asked = await house.call("POST", `/api/tabs/${id}/background`, { callId: "none", turnId: "t" });
  expect(asked).toMatchObject({ status: 200, json: { moved: false } });
  expect(await house.call("POST", `/api/tabs/${id}/background`, {})).toMatchObject({ status: 400 });
  expect(await house.call("POST", "/api/tabs/none/background", { callId: "c" })).toMatchObject({ status: 404 });
});

describe("files", () => {
  const upload = (body: Uint8Array, type: string) =>
    house.memory({
      method: "POST",
      path: "/api/blobs",
      headers: { ...asToken(house.parts.token, "POST", "").headers, "content-type": type },
      body,
    });

  test("[HTTP-17] a file is named by its bytes, and only an image is ever shown as what it says it is", async () => {
    const image = await upload(png, "image/png");
    const hash = createHash("sha256").update(png).digest("hex");
    expect(image).toMatchObject({ status: 201, json: { blob: hash, mediaType: "image/png", size: png.length } });
    const shown = await house.call("GET", `/api/blobs/${hash}`);
    expect(shown.headers).toMatchObject({ "content-type": "image/png", "content-disposition": "inline" });
    const html = await upload(new TextEncoder().encode("<script>1</script>"), "text/html");
    const got = await house.call("GET", `/api/blobs/${Reflect.get(Object(html.json), "blob")}`);
    expect(got.headers).toMatchObject({
      "content-type": "application/octet-stream",
      "content-disposition": "attachment",
      "x-content-type-options": "nosniff",
    });
    expect(got.headers["content-security-policy"]).toContain("sandbox");
    expect(await upload(new Uint8Array(), "image/png")).toMatchObject({ status: 400 });
    expect(await upload(png, "not a type")).toMatchObject({ status: 415 });
  });
});

describe("everything else", () => {
  test("[HTTP-18] models, credentials, local servers, directories and settings answer in the shapes of their routes", async () => {
    expect(await house.call("GET", "/api/models")).toMatchObject({
      status: 200,
      json: { demoOnly: false, default: "openai-compatible/test-model" },
    });
    await house.call("PATCH", "/api/settings", { defaultModel: "demo/demo" });
    expect(await house.call("GET", "/api/models")).toMatchObject({ json: { default: "demo/demo" } });
    expect((await house.tab()).model).toBe("demo/demo");
    const settings = await house.call("PATCH", "/api/settings", { defaultModel: null });
    expect(settings).toMatchObject({ json: { paths: { home: house.home }, values: { defaultModel: null } } });
    expect(await house.call("GET", "/api/credentials")).toMatchObject({
      json: { credentials: [{ id: "openai-compatible", source: "environment" }] },
    });
    expect(await house.call("GET", "/api/local-servers")).toMatchObject({ status: 200 });
    expect(await house.call("GET", `/api/directories?path=${encodeURIComponent(house.project)}`)).toMatchObject({
      json: { path: house.project, entries: [], recent: [house.project] },
    });
    expect(await house.call("GET", "/api/directories")).toMatchObject({ json: { path: house.project } });
    expect(await house.call("GET", "/api/me")).toMatchObject({ json: { signedIn: true, build: "test-build" } });
  });

  test("[HTTP-19] metrics are lines that Prometheus reads", async () => {
    const { text, headers } = await house.call("GET", "/metrics");
    expect(headers["content-type"]).toContain("text/plain");
    for (const line of text.trimEnd().split("\n"))
      expect(line).toMatch(/^(# TYPE varve_\w+ gauge|varve_[a-z_]+ [\d.e+]+)$/);
    expect(text).toMatch(/^varve_tabs \d+$/m);
    expect(text).toMatch(/^varve_resident_memory_bytes \d{7,}$/m);
  });

  test("[HTTP-20] the OpenAPI document is made of the very routes that answer", async () => {
    const { json, status } = await house.call("GET", "/openapi.json");
    expect(status).toBe(200);
    const document = z
      .object({
        openapi: z.literal("3.1.0"),
        paths: z.record(
          z.string(),
          z.record(z.string(), z.object({ responses: z.object({}), security: z.array(z.unknown()) })),
        ),
        components: z.object({
          schemas: z.object({ Error: z.object({}), Frame: z.object({}), Command: z.object({}) }),
        }),
      })
      .parse(json);
    const listed = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(listed).toContain("GET /api/tabs/{tab}/events");
    for (const line of documentedRoutes()) expect(listed, line).toContain(line);
    const open = Object.entries(document.paths).filter(([, item]) =>
      Object.values(item).some(({ security }) => security.length === 0),
    );
    expect(open.map(([path]) => path).toSorted()).toEqual(["/api/health", "/api/sign-in"]);
    expect(isFault(json)).toBe(false);
  });
});

/** The routes that the rule book names must exist. */
function documentedRoutes(): readonly string[] {
  const path = fileURLToPath(new URL("../../../../docs/spec/server.md", import.meta.url));
  const block = /```routes\n([\s\S]*?)```/.exec(readFileSync(path, "utf8"))?.[1] ?? "";
  const lines = block.split("\n").filter((line) => line !== "");
  expect(lines.length).toBeGreaterThan(20);
  return lines;
}
