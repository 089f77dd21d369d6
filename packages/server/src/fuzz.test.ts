import { errorStatus, type Frame } from "@varve/protocol";
import { createFakeClock } from "@varve/sim";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ConnectionDoor } from "./connection-door.ts";
import { asToken, type House, openHouse } from "./testing/house.ts";

/** Inputs of each property; a longer run belongs to a soak. */
const runs = 400;
const seed = 20_261_130;
let house: House;
beforeAll(async () => {
  house = await openHouse();
  for (const id of ["a", "b"]) await house.tab({ id });
});
afterAll(() => house[Symbol.asyncDispose]());

const known = fc.constantFrom("a", "b", "none", "..", "%2e%2e", "", "a/b", "😀", "x".repeat(70), "-", "1", "0", "NaN");
const paths = [
  "tabs",
  "tabs/:",
  "tabs/:/chunks",
  "tabs/:/chunks/:",
  "tabs/:/head",
  "tabs/:/messages",
  "tabs/:/queue/:",
  "tabs/:/stop",
  "tabs/:/answers",
  "tabs/:/fork",
  "tabs/:/clear",
  "tabs/:/resend",
  "tabs/:/log",
  "tabs/:/logs",
  "tabs/:/ledger",
  "usage",
  "recordings",
  "recordings/:/bill",
  "models",
  "credentials",
  "credentials/:",
  "directories",
  "settings",
  "blobs",
  "blobs/:",
  "me",
  "links",
  "devices",
  "devices/:",
  "sign-in",
  "health",
  "metrics",
  "openapi.json",
  ":",
  ":/:",
];
const words = fc.constantFrom(
  "id",
  "text",
  "tab",
  "seq",
  "version",
  "cwd",
  "delivery",
  "state",
  "before",
  "turnId",
  "askId",
  "code",
  "provider",
  "key",
  "baseUrl",
  "model",
  "title",
  "permissions",
  "attachments",
  "__proto__",
  "constructor",
);
const values = fc.oneof(
  fc.constantFrom(
    "a",
    "",
    "steer",
    "queue",
    "stop",
    "held",
    "/tmp",
    "demo/demo",
    "anthropic",
    "openai",
    "\ud800",
    "\0",
  ),
  fc.integer(),
  fc.double(),
  fc.boolean(),
  fc.constant(null),
  fc.array(fc.string(), { maxLength: 3 }),
  fc.jsonValue({ maxDepth: 2 }),
);
const bodies = fc.oneof(
  { weight: 5, arbitrary: fc.dictionary(words, values, { maxKeys: 6 }).map((value) => JSON.stringify(value)) },
  { weight: 1, arbitrary: fc.json({ maxDepth: 2 }) },
  { weight: 1, arbitrary: fc.string() },
);

describe("garbage", () => {
  test("[HTTP-8] whatever a request holds, the answer is JSON or a known type, quick, without a stack, and never an exception", async () => {
    const request = fc.record({
      method: fc.constantFrom("GET", "POST", "PATCH", "DELETE", "PUT", "HEAD", "OPTIONS"),
      path: fc.constantFrom(...paths),
      ids: fc.array(known, { minLength: 2, maxLength: 2 }),
      query: fc.constantFrom(
        "",
        "?limit=1",
        "?before=x",
        "?after=1&limit=0",
        "?digest=1-1",
        "?path=%00",
        "?path=/",
        "?a=%",
      ),
      type: fc.constantFrom("application/json", "application/json; charset=utf-8", "text/plain", "image/png", ""),
      body: bodies,
    });
    await fc.assert(
      fc.asyncProperty(request, async ({ method, path, ids, query, type, body }) => {
        const [first = "", second = ""] = ids;
        const filled = path.replace(":", encodeURI(first)).replace(":", encodeURI(second));
        const { headers } = asToken(house.parts.token, method, "");
        const takesBody = method !== "GET" && method !== "HEAD";
        const reply = await house.memory({
          method,
          path: `/api/${filled}${query}`,
          headers: { ...headers, "content-type": type },
          ...(takesBody && { body }),
        });
        expect(reply.status, reply.text).not.toBe(500);
        expect(reply.text).not.toMatch(/(?:\n|\\n)\s+at .+:\d+/);
        if (reply.status >= 400 && method !== "HEAD") {
          const code: unknown = Reflect.get(Object(Reflect.get(Object(reply.json), "error")), "code");
          expect(Object.keys(errorStatus), reply.text).toContain(code);
        }
      }),
      { numRuns: runs, seed },
    );
  });

  test("[WS-4] whatever a client says, it is answered or ignored, and the connection goes on until it breaks its rules", async () => {
    const kinds = fc.constantFrom(
      "hello",
      "sub",
      "sub-workspace",
      "unsub",
      "send",
      "edit",
      "hold",
      "release",
      "move",
      "cancel",
      "stop",
      "answer",
      "focus",
      "seen",
      "pong",
      "x",
    );
    const command = fc.oneof(
      {
        weight: 6,
        arbitrary: fc
          .tuple(kinds, fc.dictionary(fc.oneof(words, fc.constantFrom("re", "have", "focus", "v", "client")), values))
          .map(([type, rest]) => JSON.stringify({ re: 1, tab: "a", ...rest, type })),
      },
      { weight: 1, arbitrary: fc.string() },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(command, { maxLength: 8 }), async (commands) => {
        const broken: unknown[] = [];
        const frames: Frame[] = [];
        let ended = false;
        const socket = {
          send: (text: string) => void frames.push(JSON.parse(text)),
          buffered: () => 0,
          close: () => {
            ended = true;
          },
        };
        const door = new ConnectionDoor(
          socket,
          { kind: "token" },
          {
            workspace: house.parts.workspace,
            devices: house.parts.gate.devices,
            clock: createFakeClock(),
            build: "b",
            boot: "b",
            broke: (error) => broken.push(error),
          },
        );
        await door.received(JSON.stringify({ type: "hello", v: [1], client: "c" }));
        for (const text of commands) await door.received(text);
        expect(broken).toEqual([]);
        const offersNothing = commands.some((text) => text.includes('"hello"'));
        if (!offersNothing) {
          expect(ended).toBe(false);
          await door.received('{"type":"sub-workspace","re":77}');
          expect(frames.at(-1)).toMatchObject({ type: "workspace", re: 77 });
        }
        door.closed();
      }),
      { numRuns: runs, seed },
    );
  });
});
