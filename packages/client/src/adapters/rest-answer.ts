import type { ErrorBody } from "@varve/protocol";
import { decodeError, parseJson } from "../decode.ts";

/** What both adapters make of an answer. */
export async function restAnswer(
  ask: () => Promise<Response>,
): Promise<{ readonly ok: true; readonly body: unknown } | { readonly ok: false; readonly error: ErrorBody }> {
  try {
    const response = await ask();
    const body = parseJson(await response.text());
    if (response.ok) return { ok: true, body };
    return { ok: false, error: decodeError(body, `The server answered ${response.status}.`) };
  } catch {
    // What fetch throws has no text that would help a person.
    return { ok: false, error: unreachableServer };
  }
}

const unreachableServer: ErrorBody = {
  code: "log-unavailable",
  message: "The server does not answer.",
  hint: "Check that Varve is running, then try again.",
};
