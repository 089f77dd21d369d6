/** What the server promised to the clients of a kill run, and whether a log keeps it. */
import type { ChunkId, HeadBody, LogChunk } from "@varve/protocol";

/** How a message's sender sees it. `unknown`: the answer was lost with the server. */
export type Sending = "unanswered" | "accepted" | "refused";
export type Removal = "none" | "unknown" | "removed";

export interface Promised {
  readonly id: ChunkId;
  sending: Sending;
  removal: Removal;
  /** What its text may be: the last that was acknowledged, and any that was asked for since. */
  texts: readonly string[];
}

/** Where the messages are: in the log, or waiting. */
export interface Found {
  readonly rows: readonly LogChunk[];
  readonly queue: HeadBody["queue"];
}

/** A line for each message that is not where its sender was told. */
export function promiseProblems(promised: Iterable<Promised>, { rows, queue }: Found): readonly string[] {
  const places = new Map<string, string[]>();
  const place = (id: string, text: string): void => void places.set(id, [...(places.get(id) ?? []), text]);
  for (const row of rows) if (row.role === "user" && row.type === "text") place(row.id, row.data.text);
  for (const message of queue) place(message.id, message.text);
  return [...promised].flatMap((message) => problemsOf(message, places.get(message.id) ?? []));
}

function problemsOf(message: Promised, found: readonly string[]): readonly string[] {
  const { id, sending, removal, texts } = message;
  const [min, max] =
    sending === "refused" || removal === "removed"
      ? [0, 0]
      : sending === "accepted" && removal === "none"
        ? [1, 1]
        : [0, 1];
  const count =
    found.length < min || found.length > max
      ? [`message ${id} (${sending}, removal ${removal}) is there ${found.length} times`]
      : [];
  const strange = found.filter((text) => !texts.includes(text)).map((text) => `message ${id} has the text "${text}"`);
  return [...count, ...strange];
}
