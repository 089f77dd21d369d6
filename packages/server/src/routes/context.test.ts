import { contextBodySchema, pageSchema, previewBodySchema, sentRequestBodySchema } from "@varve/protocol/schema";
import { describe, expect, test } from "vitest";
import { openHouse } from "../testing/house.ts";

const says = (text: string) => ({ blocks: [{ type: "text" as const, text }] });

describe("the routes of a context", () => {
  test("[CONTEXT-8] each answers in its shape, and refuses what it cannot read", async () => {
    await using house = await openHouse({ script: [says("hello")] });
    const { id } = await house.tab({ model: "openai-compatible/test-model" });
    const at = `/api/tabs/${id}`;
    await house.call("POST", `${at}/messages`, { id: "m1", text: "hi" });
    await house.provider.arrived(1);
    await expect
      .poll(async () => (await house.call("GET", at)).json, { timeout: 10_000 })
      .toMatchObject({ state: "idle" });

    const context = await house.call("GET", `${at}/context`);
    expect(context.status).toBe(200);
    expect(contextBodySchema.parse(context.json)).toMatchObject({ changes: [], warm: { state: "off" } });
    const told = await house.call("POST", `${at}/context`, { apply: "tell" });
    expect([told.status, contextBodySchema.safeParse(told.json).success]).toEqual([200, true]);
    const preview = await house.call("GET", `${at}/preview?effort=high&cacheTtl=1h`);
    expect(previewBodySchema.parse(preview.json)).toMatchObject({ effort: "high", preview: { price: null } });

    const { chunks } = pageSchema.parse((await house.call("GET", `${at}/chunks`)).json);
    const seq = chunks.find(({ type, data }) => type === "system" && data.kind === "request")?.seq ?? 0;
    const sent = await house.call("GET", `${at}/requests/${seq}`);
    expect(sentRequestBodySchema.parse(sent.json)).toMatchObject({ seq, intact: true });

    const refused: readonly (readonly [method: string, path: string, body: unknown, code: string])[] = [
      ["POST", `${at}/context`, { apply: "all" }, "bad-request"],
      ["GET", `${at}/preview?effort=utmost`, undefined, "bad-request"],
      ["GET", `${at}/preview?cacheTtl=2h`, undefined, "bad-request"],
      ["GET", `${at}/preview?model=none/none`, undefined, "unknown-model"],
      ["GET", `${at}/requests/zero`, undefined, "bad-cursor"],
      ["GET", `${at}/requests/${seq}?from=-1`, undefined, "bad-cursor"],
      ["GET", `${at}/requests/1`, undefined, "unknown-row"],
      ["POST", `${at}/compact`, {}, "nothing-to-compact"],
      ["POST", `${at}/compact/undo`, { seq: 0 }, "bad-request"],
      ["POST", `${at}/compact/undo`, { seq: 1 }, "nothing-to-compact"],
      ["GET", "/api/tabs/nobody/context", undefined, "unknown-tab"],
    ];
    for (const [method, path, body, code] of refused) {
      const { json } = await house.call(method, path, body);
      expect(json, `${method} ${path}`).toMatchObject({ error: { code } });
    }
  });
});
