/** Text from a client as a command, or what is wrong with it. Nothing that comes from outside goes further unchecked. */
import type { Command, ErrorBody } from "@varve/protocol";
import { commandSchema } from "@varve/protocol/schema";

export type ParsedCommand =
  | { readonly ok: true; readonly value: Command }
  | { readonly ok: false; readonly re: number | undefined; readonly error: ErrorBody };

export function parseCommand(text: string): ParsedCommand {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    // The text came from outside; what is wrong with it is told, and the connection goes on.
    return { ok: false, re: undefined, error: { code: "bad-json", message: "A command must be one JSON text." } };
  }
  const parsed = commandSchema.safeParse(json);
  if (parsed.success) return { ok: true, value: parsed.data };
  const issue = parsed.error.issues[0];
  const where = issue?.path.join(".") || "command";
  return {
    ok: false,
    re: reOf(json),
    error: { code: "bad-request", message: `${where}: ${issue?.message ?? "not valid"}.` },
  };
}

function reOf(json: unknown): number | undefined {
  if (typeof json !== "object" || json === null || !("re" in json)) return undefined;
  // A number that no JSON can write (1e400 is read as infinity) cannot be told back.
  return Number.isFinite(json.re) && typeof json.re === "number" ? json.re : undefined;
}
