import type { ConnectionState } from "@varve/client";
import { unreachable } from "@varve/protocol";
import type { StaleChoice } from "../state/stale-page.ts";

/** A connection that is back at the first attempt was hardly away: a line that flashes by would only push the page about. */
const QUIET_ATTEMPTS = 1;
/** So many failed attempts in a row are no hiccup: the person may have to do something. */
const GONE_ATTEMPTS = 5;

export type ConnectionAct = "retry" | "sign-in" | "reload";
export interface ConnectionLine {
  readonly text: string;
  readonly act: ConnectionAct | null;
}

/** What the line about the connection says and offers; null while all is well. */
export function connectionText(state: ConnectionState, now: number, stale: StaleChoice): ConnectionLine | null {
  switch (state.kind) {
    case "live":
    case "closed":
      return null;
    case "connecting":
      if (isQuiet(state)) return null;
      return { text: `${awayText(state)} Trying…`, act: null };
    case "waiting": {
      if (isQuiet(state)) return null;
      const seconds = Math.max(0, Math.ceil((state.retryAt - now) / 1000));
      const when = seconds === 0 ? "now" : `in ${seconds} s`;
      return { text: `${awayText(state)} Trying again ${when}.`, act: "retry" };
    }
    case "refused":
      return state.code === "unauthorized"
        ? { text: "This browser is no longer signed in; what you write is kept.", act: "sign-in" }
        : { text: STALE[stale], act: "reload" };
    default:
      return unreachable(state);
  }
}

type Away = Extract<ConnectionState, { readonly kind: "connecting" | "waiting" }>;

/** One that said goodbye is away for a while. */
const isQuiet = ({ attempt, reason }: Away): boolean => attempt <= QUIET_ATTEMPTS && reason === undefined;

const awayText = ({ attempt, reason }: Away): string => {
  if (attempt > GONE_ATTEMPTS) return GONE;
  return reason === "shutting-down"
    ? "The server was shut down, or starts anew; what you send is kept."
    : "Not connected; what you send is kept.";
};

const GONE = "The server does not answer: is it running, and is this device in its network? What you send is kept.";

const STALE: Readonly<Record<StaleChoice, string>> = {
  reload: "The server has another version than this page. Reloading it; what you typed is kept.",
  again: "The server has another version than this page, also after a reload.",
  uploading: "The server has another version than this page, which reloads when the upload is done.",
  typing:
    "The server has another version than this page. A reload would lose something that you typed: finish or copy it, then reload.",
};
