/** How far this page and the server agree, in words. */
import type { ConnectionState, SyncCheck, TabSnapshot } from "@varve/client";
import { unreachable } from "@varve/protocol";

export const connectionWords = (state: ConnectionState): string => {
  switch (state.kind) {
    case "live":
      return "connected";
    case "connecting":
      return state.attempt <= 1 ? "connecting" : `connecting, attempt ${state.attempt}`;
    case "waiting":
      return `not connected, attempt ${state.attempt} comes`;
    case "refused":
      return state.message;
    case "closed":
      return "closed";
    default:
      return unreachable(state);
  }
};

export interface CheckWords {
  readonly level: "quiet" | "good" | "bad";
  readonly text: string;
}

export function checkWords(check: SyncCheck): CheckWords {
  const rows = rowsText(check);
  switch (check.state) {
    case "unknown":
      return { level: "quiet", text: "Not compared yet." };
    case "checking":
      return { level: "quiet", text: "Comparing…" };
    case "same":
      if (check.hi < check.lo || check.hi === 0) return { level: "good", text: "In sync: there are no rows yet." };
      return { level: "good", text: `In sync: ${rows} here and on the server are the same, byte for byte.` };
    case "healed":
      return { level: "good", text: `In sync again: ${rows} differed, were read anew, and are the same now.` };
    case "different":
      return { level: "bad", text: `Not in sync: ${rows} differ, also after they were read anew. Reload the page.` };
    case "failed":
      return {
        level: "bad",
        text: `It could not be compared. ${check.error?.message ?? "The tab moved on each time."} Nothing was changed.`,
      };
    default:
      return unreachable(check.state);
  }
}

const rowsText = ({ lo, hi }: SyncCheck): string => {
  if (hi < lo || hi === 0) return "no rows";
  return lo === hi ? `row ${lo}` : `rows ${lo} to ${hi}`;
};

/** Which rows this page holds, of how many. */
export function windowWords({ lo, hi, tail }: TabSnapshot["window"]): string {
  if (tail === 0) return "no rows yet";
  return hi < lo || hi === 0 ? `none of ${tail}` : `${lo} to ${hi} of ${tail}`;
}

export const attachedWords = ({ attached, unread }: TabSnapshot["window"]): string => {
  if (attached) return "follows the end";
  return unread === 0 ? "apart from the end" : `apart from the end, ${unread} newer rows not read`;
};
