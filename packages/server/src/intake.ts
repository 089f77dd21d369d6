/** Request bodies: bounded while they stream in, of the one type that is taken, checked by a schema. */
import { type Fault, fault, isFault, limits } from "@varve/protocol";
import type { Intake } from "./routes/route.ts";

/** What is too long is read on and thrown away up to here, so that the connection stays usable; beyond it is cut. */
const discardMax = 64 * 1024 * 1024;

export async function takeBody(request: Request, intake: Intake): Promise<unknown | Fault> {
  switch (intake.kind) {
    case "nothing":
      return undefined;
    case "bytes": {
      const bytes = await readBytes(request.body, intake.bytesMax);
      if (isFault(bytes)) return bytes;
      return bytes ?? fault("blob-too-large", `A file may have ${intake.bytesMax} bytes.`, "Nothing was kept.");
    }
    case "json":
      return takeJson(request, intake);
  }
}

async function takeJson(request: Request, intake: Extract<Intake, { kind: "json" }>): Promise<unknown | Fault> {
  const bytes = await readBytes(request.body, limits.bodyBytesMax);
  if (isFault(bytes)) return bytes;
  if (bytes === null) {
    return fault(
      "body-too-large",
      `A request may have ${limits.bodyBytesMax} bytes.`,
      "Nothing was changed; attach long texts as files.",
    );
  }
  const type = request.headers.get("content-type")?.split(";", 1)[0]?.trim().toLowerCase();
  // Forms and plain text are what a page of another site may post without asking: they are never taken for JSON.
  if (bytes.length > 0 && type !== "application/json") {
    return fault("type-refused", "A body must be application/json.", "Set the header Content-Type: application/json.");
  }
  const json = parseJson(bytes);
  if (isFault(json)) return json;
  const parsed = intake.schema.safeParse(json);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const where = issue?.path.join(".") || "body";
  return fault("bad-request", `${where}: ${issue?.message ?? "not valid"}.`, "Nothing was changed.");
}

/** No body at all stands for `{}`. */
function parseJson(bytes: Uint8Array): unknown | Fault {
  if (bytes.length === 0) return {};
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    // The parser's own words quote the body; the sentence says enough.
    return fault("bad-json", "The body is not JSON.", "Nothing was changed.");
  }
}

/** Null when there are more bytes than `max`. Whoever goes in the middle of a body has said nothing: no error of ours. */
async function readBytes(body: ReadableStream<Uint8Array> | null, max: number): Promise<Uint8Array | null | Fault> {
  try {
    return await readWhole(body, max);
  } catch {
    return fault("bad-request", "The body did not come whole.", "Nothing was changed.");
  }
}

async function readWhole(body: ReadableStream<Uint8Array> | null, max: number): Promise<Uint8Array | null> {
  if (body === null) return new Uint8Array();
  const parts: Uint8Array[] = [];
  let size = 0;
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size <= max) parts.push(value);
    else parts.length = 0;
    if (size > Math.max(discardMax, max)) {
      await reader.cancel();
      break;
    }
  }
  return size <= max ? Buffer.concat(parts) : null;
}
