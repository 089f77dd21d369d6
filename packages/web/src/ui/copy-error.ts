import type { ErrorBody } from "@varve/protocol";
import type { CopyOutcome } from "./copy-text.ts";

/** How a page gets what a browser gives to secure addresses only. */
export const WAY_ON =
  "Open Varve by https (a reverse proxy in front of it does that), or as localhost on its own machine or through an SSH tunnel.";

/** What a failed copy says at its control. */
export const copyError = (outcome: Exclude<CopyOutcome, "copied">): ErrorBody => ({
  code: "internal",
  message:
    outcome === "insecure"
      ? "This browser does not copy from a page that came over plain http from another machine."
      : "The browser did not allow copying.",
  hint:
    outcome === "insecure"
      ? `Select the text and copy it by key or by a long press. ${WAY_ON}`
      : "Select the text and copy it by key.",
});
