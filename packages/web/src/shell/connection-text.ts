import type { ConnectionState } from "@varve/client";
import { unreachable } from "@varve/protocol";

/** A connection that is back at the first attempt was hardly away: a line that flashes by would only push the page about. */
const QUIET_ATTEMPTS = 1;

export type ConnectionAct = "retry" | "sign-in" | "reload";

/** What the line about the connection says and offers; null while all is well. */
export function connectionText(
  state: ConnectionState,
  now: number,
): { readonly text: string; readonly act: ConnectionAct | null } | null {
  switch (state.kind) {
    case "live":
    case "closed":
      return null;
    case "connecting":
      if (state.attempt <= QUIET_ATTEMPTS) return null;
      return { text: "Not connected; what you send is kept. Trying…", act: null };
    case "waiting": {
      if (state.attempt <= QUIET_ATTEMPTS) return null;
      const seconds = Math.max(0, Math.ceil((state.retryAt - now) / 1000));
      const when = seconds === 0 ? "now" : `in ${seconds} s`;
      return { text: `Not connected; what you send is kept. Trying again ${when}.`, act: "retry" };
    }
    case "refused":
      return state.code === "unauthorized"
        ? { text: "This browser is no longer signed in.", act: "sign-in" }
        : { text: "The server has another version than this page.", act: "reload" };
    default:
      return unreachable(state);
  }
}
