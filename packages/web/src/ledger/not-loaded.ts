import type { ErrorBody } from "@varve/protocol";

/** A part of the page that did not come. */
export const notLoaded = (what: string): ErrorBody => ({
  code: "log-unavailable",
  message: `${what} could not be loaded.`,
  hint: "The server does not answer, or it has another version: reload the page.",
});
