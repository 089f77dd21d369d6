import { type NewRow, parseBlobHash, type SystemData, type ToolCallData } from "@varve/protocol";
import { newRowSchema } from "@varve/protocol/schema";
import { createFakeIds } from "@varve/sim";
import { describe, expect, test } from "vitest";
import { cleanRow, hadSecrets } from "./clean-row.ts";
import { KnownSecrets } from "./known-secrets.ts";

const secret = "sk-canary-0123456789";
const secrets = new KnownSecrets();
// The second is spelled like a word of rows: it must never change their shape.
secrets.know("test", [secret, "permission", "arguments", "step-void"]);
const ids = createFakeIds("r");
const base = { id: ids.chunk(), turnId: ids.turn(), step: 0, createdAt: 0 } as const;
const system = (data: SystemData): NewRow => ({ ...base, role: "system", type: "system", data });
const askId = ids.chunk();
const blob = parseBlobHash("a".repeat(64));
if (blob === null) throw new Error("a legal hash");

const rows: readonly (readonly [string, NewRow])[] = [
  ["a user's message", { ...base, role: "user", type: "text", data: { text: `use ${secret}` } }],
  [
    "the name of a file",
    {
      ...base,
      role: "user",
      type: "text",
      data: { text: "", attachments: [{ blob, mediaType: "image/png", name: secret }] },
    },
  ],
  ["thinking", { ...base, role: "assistant", type: "thinking", data: { text: secret, modelScope: "s" } }],
  [
    "a result",
    {
      ...base,
      role: "tool",
      type: "tool_result",
      data: { callId: "c", name: "bash", result: secret, isError: false, details: { diff: `+${secret}` } },
    },
  ],
  ["an error", { ...base, role: "assistant", type: "error", data: { message: secret, hint: secret } }],
  ["a note", system({ kind: "note", topic: "environment", text: secret })],
  ["a notice", system({ kind: "notice", level: "info", code: "x", text: secret })],
  ["a voided step", system({ kind: "step-void", turnId: base.turnId, step: 0, reason: secret })],
  ["a summary", system({ kind: "compaction", summary: secret, keepFrom: 1, keptUserSeqs: [] })],
  [
    "a question about a command",
    system({
      kind: "permission",
      state: "asked",
      askId,
      callId: "c",
      subject: {
        tool: "bash",
        key: secret,
        command: `echo ${secret}`,
        parts: [{ text: secret, asks: true }],
        offers: [`bash(${secret})`],
      },
    }),
  ],
  [
    "an answer to it",
    system({
      kind: "permission",
      state: "answered",
      askId,
      callId: "c",
      verdict: "tab",
      reason: secret,
      allows: { tool: "bash", key: secret },
      rules: [secret],
      by: "me",
    }),
  ],
  ["a question", system({ kind: "ask", state: "asked", askId, callId: "c", question: secret, options: [secret] })],
  ["an answer", system({ kind: "ask", state: "answered", askId, callId: "c", answer: secret, by: "me" })],
];

describe("a row before it is sealed", () => {
  test.each(rows)("[SECRET-6] %s holds no secret, and is a row as before", (_what, row) => {
    const clean = cleanRow(row, secrets);
    expect(JSON.stringify(clean)).not.toContain(secret);
    expect(JSON.stringify(clean)).toContain("[secret]");
    expect(newRowSchema.safeParse(clean).success).toBe(true);
    expect({ ...clean, data: null }).toEqual({ ...row, data: null });
  });

  test("[SECRET-6] one without secrets says the same as before", () => {
    const row = system({ kind: "notice", level: "info", code: "x", text: "nothing here" });
    expect(cleanRow(row, secrets)).toEqual(row);
    const thinking: NewRow = {
      ...base,
      role: "assistant",
      type: "thinking",
      data: { text: "hm", modelScope: "s", metadata: { anthropic: { signature: "SIG" } } },
    };
    expect(cleanRow(thinking, secrets)).toEqual(thinking);
  });

  test("[SECRET-7] a token that vouches for a text goes with it; one that holds a secret goes by itself", () => {
    const metadata = { anthropic: { signature: "SIG" } };
    const thinking = (text: string, given: typeof metadata): NewRow => ({
      ...base,
      role: "assistant",
      type: "thinking",
      data: { text, modelScope: "s", metadata: given },
    });
    expect(cleanRow(thinking(secret, metadata), secrets).data).toEqual({ text: "[secret]", modelScope: "s" });
    const echoed = { anthropic: { signature: secret } };
    expect(cleanRow(thinking("hm", echoed), secrets).data).toEqual({ text: "hm", modelScope: "s" });
  });

  test.each([
    ["plain", `{"command":"echo ${secret}"}`],
    ["escaped", `{"command":"echo \\u0073${secret.slice(1)}"}`],
  ])("[SECRET-8] a call whose arguments held one is marked and holds none: %s", (_what, argsText) => {
    const data: ToolCallData = { callId: "c", name: "bash", arguments: { command: `echo ${secret}` }, argsText };
    const clean = cleanRow({ ...base, role: "assistant", type: "tool_call", data }, secrets);
    expect(clean.data).toMatchObject({
      arguments: { command: "echo [secret]" },
      argsText: '{"command":"echo [secret]"}',
    });
    expect(clean.type === "tool_call" && hadSecrets(clean.data)).toBe(true);
    expect(hadSecrets(data)).toBe(false);
  });

  test("[SECRET-8] a secret that a call holds as a number is in no part of its row", () => {
    const digits = new KnownSecrets();
    digits.know("test", ["4929123456789012"]);
    const data = {
      callId: "c",
      name: "bash",
      arguments: { card: 4929123456789012 },
      argsText: '{"card":4929123456789012}',
    };
    const clean = cleanRow({ ...base, role: "assistant", type: "tool_call", data }, digits);
    expect(JSON.stringify(clean)).not.toContain("4929123456789012");
    expect(clean.type === "tool_call" && hadSecrets(clean.data)).toBe(true);
  });
});
