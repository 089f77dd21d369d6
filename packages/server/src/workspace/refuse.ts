import { type Fault, fault, limits, type MessageBody } from "@varve/protocol";

/** Why a message cannot be sent as it is, whatever its tab does; null when it can. */
export function refuse(message: Pick<MessageBody, "text" | "attachments">): Fault | null {
  if (message.text.length > limits.messageCharsMax) return tooLarge();
  const count = message.attachments?.length ?? 0;
  if (count > limits.attachmentsMax) {
    return fault("bad-request", `A message takes at most ${limits.attachmentsMax} attachments.`, "Nothing was sent.");
  }
  if (message.text.trim() === "" && count === 0) {
    return fault("bad-request", "The message is empty.", "Write something or attach a file.");
  }
  return null;
}

const tooLarge = (): Fault =>
  fault(
    "message-too-large",
    `A message may have ${limits.messageCharsMax} characters.`,
    "Nothing was sent; attach the text as a file, or let the agent read it from disk.",
  );
