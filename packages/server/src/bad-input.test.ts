import { errorStatus, limits } from "@varve/protocol";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { asToken, type House, openHouse } from "./testing/house.ts";

let house: House;
let tab: string;

beforeAll(async () => {
  house = await openHouse({ script: [{ reply: { blocks: [{ type: "text", text: "fine" }] }, times: "always" }] });
  tab = (await house.tab()).id;
});
afterAll(() => house[Symbol.asyncDispose]());

const id = "message-1";

describe("what cannot be understood", () => {
  test.each<[string, string, string, unknown, number, string]>([
    ["malformed JSON", "POST", "/api/tabs", "{", 400, "bad-json"],
    ["JSON in bytes that are no UTF-8", "POST", "/api/tabs", new Uint8Array([0x22, 0xff, 0x22]), 400, "bad-json"],
    ["a body of another shape", "POST", "/api/tabs", [], 400, "bad-request"],
    ["a missing field", "POST", "/api/tabs", {}, 400, "bad-request"],
    ["a field of another type", "POST", "/api/tabs", { cwd: 1 }, 400, "bad-request"],
    ["an id that is none", "POST", "/api/tabs", { cwd: "/", id: "a/b" }, 400, "bad-request"],
    ["a mode that does not exist", "POST", "/api/tabs", { cwd: "/", permissions: "god" }, 400, "bad-request"],
    ["a relative directory", "POST", "/api/tabs", { cwd: "src" }, 400, "bad-directory"],
    ["a directory that does not exist", "POST", "/api/tabs", { cwd: "/does/not/exist" }, 400, "bad-directory"],
    ["a file for a directory", "POST", "/api/tabs", { cwd: "/etc/passwd" }, 400, "bad-directory"],
    ["a path with a null character", "POST", "/api/tabs", { cwd: "/tmp\0" }, 400, "bad-directory"],
    ["an unknown model", "POST", "/api/tabs", { cwd: "/tmp", model: "nobody/none" }, 400, "unknown-model"],
    ["an unknown tab", "GET", "/api/tabs/none", undefined, 404, "unknown-tab"],
    ["an unknown tab in a send", "POST", "/api/tabs/none/messages", { id, text: "x" }, 404, "unknown-tab"],
    ["an unknown tab in a stream", "GET", "/api/tabs/none/events", undefined, 404, "unknown-tab"],
    ["a tab id that is none", "GET", "/api/tabs/a.b", undefined, 400, "bad-id"],
    ["a tab id that is too long", "GET", `/api/tabs/${"a".repeat(65)}`, undefined, 400, "bad-id"],
    ["an address that is none", "GET", "/api/nothing", undefined, 404, "unknown-route"],
    ["an address below a route", "GET", "/api/tabs/a/b/c", undefined, 404, "unknown-route"],
    ["the wrong method", "PUT", "/api/tabs", undefined, 405, "method-refused"],
    ["no credential of that name", "DELETE", "/api/credentials/none", undefined, 404, "unknown-credential"],
    ["a credential of the environment", "DELETE", "/api/credentials/openai-compatible", undefined, 400, "bad-request"],
    ["a file that is none", "GET", "/api/blobs/xyz", undefined, 400, "bad-id"],
    ["no file of that hash", "GET", `/api/blobs/${"0".repeat(64)}`, undefined, 404, "unknown-blob"],
    ["no setting of that name", "PATCH", "/api/settings", { color: "red" }, 404, "unknown-setting"],
    ["a default model that is unknown", "PATCH", "/api/settings", { defaultModel: "a/b" }, 400, "unknown-model"],
    ["a default model that is no text", "PATCH", "/api/settings", { defaultModel: 3 }, 400, "bad-request"],
    ["a device that is none", "DELETE", "/api/devices/none", undefined, 404, "unknown-credential"],
  ])("[HTTP-1] %s: %s %s", async (_what, method, path, body, status, code) => {
    const headers = { ...asToken(house.parts.token, method, path).headers, "content-type": "application/json" };
    const reply = await house.memory({ method, path, headers, ...(body !== undefined && { body }) });
    expect(reply).toMatchObject({ status, json: { error: { code } } });
    expect(Object.keys(errorStatus)).toContain(code);
    expect(reply.text).toMatch(/"message":".{10,}?[.?!]"[,}]/);
    expect(reply.headers["content-type"]).toContain("application/json");
  });

  test.each<[string, unknown, number, string]>([
    ["chunks?before=x", undefined, 400, "bad-cursor"],
    ["chunks?after=-1", undefined, 400, "bad-cursor"],
    ["chunks?after=1.5", undefined, 400, "bad-cursor"],
    ["chunks?limit=0", undefined, 400, "bad-cursor"],
    ["chunks?before=9&after=1", undefined, 400, "bad-cursor"],
    ["chunks/0", undefined, 400, "bad-cursor"],
    ["chunks/x", undefined, 400, "bad-cursor"],
    ["chunks/999999", undefined, 404, "unknown-row"],
    ["head?digest=3-1", undefined, 400, "bad-cursor"],
    ["head?digest=1-999999999", undefined, 400, "bad-cursor"],
    [`head?log=l&term=1&mine=${"0".repeat(64)}`, undefined, 400, "bad-request"],
    [`head?digest=1-1&mine=${"0".repeat(64)}`, undefined, 400, "bad-request"],
    [`head?digest=1-1&log=l&mine=${"0".repeat(64)}`, undefined, 400, "bad-request"],
    ["head?digest=1-1&log=l&term=1", undefined, 400, "bad-request"],
    ["head?digest=1-1&log=l&term=1&mine=abc", undefined, 400, "bad-request"],
    [`head?digest=1-1&log=a%20b&term=1&mine=${"0".repeat(64)}`, undefined, 400, "bad-request"],
    [`head?digest=1-1&log=l&term=-1&mine=${"0".repeat(64)}`, undefined, 400, "bad-request"],
    ["fork", { seq: 0 }, 400, "bad-request"],
    ["fork", { seq: 99 }, 404, "unknown-row"],
    ["resend", { seq: 99, id, text: "x" }, 404, "unknown-row"],
    ["log", { logId: "no way" }, 400, "bad-id"],
    ["log", { logId: "none" }, 404, "unknown-log"],
    ["answers", { askId: "none", verdict: "once" }, 404, "unknown-question"],
    ["messages", { id, text: "" }, 400, "bad-request"],
    ["messages", { id, text: "x", delivery: "later" }, 400, "bad-request"],
    ["messages", { id: "a b", text: "x" }, 400, "bad-request"],
    [
      "messages",
      { id, text: "x", attachments: [{ blob: "0".repeat(64), mediaType: "image/png", name: "a" }] },
      404,
      "unknown-blob",
    ],
    ["messages", { id, text: "x".repeat(limits.messageCharsMax + 1) }, 413, "message-too-large"],
  ])("[HTTP-2] on a tab: %s", async (path, body, status, code) => {
    const reply = await house.call(body === undefined ? "GET" : "POST", `/api/tabs/${tab}/${path}`, body);
    expect(reply).toMatchObject({ status, json: { error: { code } } });
  });

  test("[HTTP-3] an event id that is none begins no stream", async () => {
    const { headers } = asToken(house.parts.token, "GET", "");
    for (const bad of ["x", "a:b:c", "log:1", "log:1:-2", "lo g:1:1"]) {
      const path = `/api/tabs/${tab}/events`;
      const reply = await house.memory({ method: "GET", path, headers: { ...headers, "last-event-id": bad } });
      expect(reply, bad).toMatchObject({ status: 400, json: { error: { code: "bad-cursor" } } });
    }
    expect(house.parts.doors.connections().streams).toBe(0);
  });
});

describe("what is too much", () => {
  test("[HTTP-4] a message of 10 MB is refused while it streams in, and the same connection goes on", async () => {
    const caller = await house.listen();
    const before = await house.call("GET", `/api/tabs/${tab}/head`);
    const body = JSON.stringify({ id: "large", text: "x".repeat(10 * 1024 * 1024) });
    const headers = { authorization: `Bearer ${house.parts.token}`, "content-type": "application/json" };
    const path = `/api/tabs/${tab}/messages`;
    for (const extra of [{}, { "transfer-encoding": "chunked" }]) {
      const reply = await caller({ method: "POST", path, headers: { ...headers, ...extra }, body });
      expect(reply).toMatchObject({ status: 413, json: { error: { code: "body-too-large" } } });
      expect(reply.headers.connection).not.toBe("close");
    }
    expect(await caller({ method: "GET", path: "/api/tabs", headers })).toMatchObject({ status: 200 });
    expect((await house.call("GET", `/api/tabs/${tab}/head`)).text).toBe(before.text);
    expect((await house.memory({ method: "POST", path, headers, body })).status).toBe(413);
  });

  test("[HTTP-5] a file over its limit is refused and not kept", async () => {
    const headers = { authorization: `Bearer ${house.parts.token}`, "content-type": "image/png" };
    const body = new Uint8Array(limits.blobBytesMax + 1);
    const reply = await house.memory({ method: "POST", path: "/api/blobs", headers, body });
    expect(reply).toMatchObject({ status: 413, json: { error: { code: "blob-too-large" } } });
  });
});

describe("what breaks inside", () => {
  test("[HTTP-6] an exception is answered by a sentence, never by its stack, and is in the log", async () => {
    const lines: string[] = [];
    await using broken = await openHouse({ writeLog: (line) => lines.push(line) });
    const { workspace } = broken.parts;
    Object.defineProperty(workspace, "list", {
      value: () => {
        throw new Error("secret inner words");
      },
    });
    const reply = await broken.call("GET", "/api/tabs");
    expect(reply).toMatchObject({ status: 500, json: { error: { code: "internal" } } });
    expect(reply.text).not.toMatch(/secret inner words|at .*\.ts/);
    expect(lines.join("")).toContain("secret inner words");
    expect((await broken.call("GET", "/api/health")).status).toBe(200);
  });

  test("[HTTP-7] while the server closes, nothing is changed and everything can still be read", async () => {
    await using closing = await openHouse();
    const { id: name } = await closing.tab();
    closing.parts.doors.refuseChanges();
    const refused = await closing.call("POST", `/api/tabs/${name}/messages`, { id, text: "late" });
    expect(refused).toMatchObject({ status: 503, json: { error: { code: "shutting-down" } } });
    expect((await closing.call("GET", `/api/tabs/${name}`)).status).toBe(200);
  });
});
