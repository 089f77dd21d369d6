import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Scratch, scratch } from "../tools/testing/scratch.ts";
import type { ToolPlace } from "../tools/tool.ts";
import { KnownSecrets } from "./known-secrets.ts";

const secret = "sk-canary_0123456789*abcdef";
const secrets = new KnownSecrets();
secrets.know("test", [secret]);

/** Calls a tool in a place that knows the secret. */
async function call(at: Scratch, name: string, args: Parameters<Scratch["call"]>[1]) {
  const place: ToolPlace = { ...at.place, secrets };
  const prepared = await at.box.get(name)?.prepare(args, place);
  if (prepared === undefined || "error" in prepared) return { text: prepared?.error ?? "no tool", isError: true };
  return prepared.run({
    callId: "call",
    signal: new AbortController().signal,
    output: () => undefined,
    ask: async () => null,
    rows: () => [],
  });
}

describe("tools in a place that knows a secret", () => {
  test("[SECRET-1] output that brings it in two writes holds none of it", async () => {
    await using at = scratch();
    at.file("half", `${secret.slice(0, 9)}\n${secret.slice(9)}`);
    const command = 'printf %s "$(head -1 half)"; sleep 0.3; tail -1 half';
    const { text } = await call(at, "bash", { command });
    expect(text).toBe("[secret]");
  });

  test("[SECRET-1] nor does what is left out of a long output and kept in a file", async () => {
    await using at = scratch();
    at.file("key", secret);
    const command = 'k=$(cat key); for i in $(seq 4000); do echo "line $i $k"; done';
    const outcome = await call(at, "bash", { command });
    const spill = "spill" in outcome ? outcome.spill : undefined;
    expect(Buffer.from(spill?.bytes ?? []).toString()).toContain("line 2000 [secret]\n");
    const kept = /is in (\S+)⟩/.exec(outcome.text)?.[1] ?? "";
    for (const text of [outcome.text, Buffer.from(spill?.bytes ?? []).toString(), readFileSync(kept, "utf8")]) {
      expect(text).not.toContain(secret.slice(0, 16));
    }
  });

  test("[SECRET-1] nor does a job, looked at while it runs", async () => {
    await using at = scratch();
    at.file("key", secret);
    await call(at, "bash", { command: "cat key; echo; echo done", background: true });
    const { text } = await call(at, "job", { action: "read", id: "1" });
    expect(text).not.toContain(secret);
  });

  test("[SECRET-3] nor does a page that is made into Markdown, which escapes signs of it", async () => {
    await using at = scratch({ privateHosts: ["127.0.0.1"] });
    const server = createServer((_request, response) =>
      response
        .setHeader("content-type", "text/html")
        .end(`<html><body><p>The key is ${secret}, here.</p></body></html>`),
    );
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    const address = server.address();
    const port = typeof address === "object" ? address?.port : undefined;
    const { text } = await call(at, "fetch", { url: `http://127.0.0.1:${port}/` });
    server.closeAllConnections();
    server.close();
    expect(text).toContain("secret");
    expect(text.replaceAll("\\", "")).not.toContain(secret);
  });

  test("[SECRET-10] a file that was shown without its secret does not lose it by being written as it was shown", async () => {
    await using at = scratch();
    const path = at.file(".env", `KEY=${secret}\nPORT=1\n`);
    await call(at, "read", { path });
    const written = await call(at, "write", { path, content: "KEY=[secret]\nPORT=2\n" });
    expect(written).toMatchObject({ isError: true });
    expect(written.text).toContain("holds a secret");
    expect(readFileSync(path, "utf8")).toBe(`KEY=${secret}\nPORT=1\n`);
    const edited = await call(at, "edit", { path, oldText: "PORT=1", newText: "PORT=2" });
    expect(edited.text).not.toContain(secret);
    expect(readFileSync(join(at.ws, ".env"), "utf8")).toBe(`KEY=${secret}\nPORT=2\n`);
  });
});
