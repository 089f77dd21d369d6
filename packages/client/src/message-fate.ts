/** Asks the server what became of an accepted message that a head does not name. */
import type { ChunkId } from "@varve/protocol";
import { decodeFate } from "./decode.ts";
import type { MessageFate } from "./outbox.ts";
import type { TabStage } from "./tab-stage.ts";

/** Null when nobody can say now. */
export async function fateOf({ tabId, rest }: TabStage, id: ChunkId): Promise<MessageFate | null> {
  const answer = await rest({ method: "GET", path: `/tabs/${tabId}/queue/${id}` });
  if (answer.ok) return decodeFate(answer.body);
  return answer.error.code === "unknown-message" ? { kind: "unknown" } : null;
}
