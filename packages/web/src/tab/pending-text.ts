import type { PendingMessage } from "@varve/client";

type Shown = Pick<PendingMessage, "state" | "delivery" | "error">;

/** What becomes of a message that the server has not accepted yet. */
export function pendingText({ state, delivery, error }: Shown): string {
  switch (state) {
    case "waiting":
      return delivery === "queue"
        ? "Kept here; goes into the queue as soon as the server takes it"
        : "Kept here; goes out as soon as the server takes it";
    case "sent":
      return "Sending…";
    default:
      return [error?.message ?? "Not accepted.", error?.hint ?? "The text is kept here."].join(" ");
  }
}

export const lostText = (count: number): string =>
  count === 1
    ? "The server was set back to an older state, which does not have this message. Its text is kept here for a day."
    : `The server was set back to an older state, which does not have these ${count} messages. Their texts are kept here for a day.`;
