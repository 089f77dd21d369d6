import { expect, test } from "vitest";
import { z } from "zod";
import { takeBody } from "./intake.ts";
import type { Intake } from "./routes/route.ts";

const cutOff = (): Request => {
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      controller.enqueue(new TextEncoder().encode('{"a":'));
      controller.error(new Error("aborted"));
    },
  });
  const headers = { "content-type": "application/json" };
  // Node wants `duplex` for a body that streams; the library type of a request does not know it.
  return new Request("http://127.0.0.1/", { method: "POST", headers, body, duplex: "half" } as RequestInit);
};

test.each<[string, Intake]>([
  ["JSON", { kind: "json", schema: z.unknown() }],
  ["bytes", { kind: "bytes", bytesMax: 100 }],
])(
  "[HTTP-8] a caller that goes in the middle of its %s has said nothing, and is no exception",
  async (_what, intake) => {
    expect(await takeBody(cutOff(), intake)).toMatchObject({ code: "bad-request", hint: "Nothing was changed." });
  },
);
