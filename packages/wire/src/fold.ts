/**
 * The fold: rows of a log into the messages of one request. It depends on the rows and on the target alone, never on
 * time, clients or configuration, and the messages for a log's beginning are a prefix of those for the whole log.
 */
import { bySeq, type Fault, fault, type PrefixData, type StoredRow } from "@varve/protocol";
import type { Alarm } from "./alarm.ts";
import type { BlobLookup } from "./blobs.ts";
import { entriesOf } from "./entries.ts";
import type { ModelMessage } from "./model-message.ts";
import type { Profile, WireTarget } from "./profile.ts";
import { type Anchor, render } from "./render.ts";
import { viewOf } from "./view.ts";
import { wellFormedText } from "./well-formed.ts";

/** Raised when released code would fold the same rows into other bytes; the older fold then stays beside the new one. */
export const foldVersion = 1;

export interface Fold {
  readonly kind: "fold";
  /** System first, without cache breakpoints. Ends on the user's side. */
  readonly messages: readonly ModelMessage[];
  /** Ends of earlier requests, in order: where cache entries may be. */
  readonly anchors: readonly Anchor[];
  readonly alarms: readonly Alarm[];
  /**
   * The end is made up: the last message is the constant `[continue]`, or an open step's missing result is filled in.
   * Such a request must not be sent, for the next row would change it; seal what is missing first.
   */
  readonly endsDerived: boolean;
  readonly prefix: PrefixData;
}

export interface FoldOptions {
  readonly blobs?: BlobLookup;
}

const noBlobs: BlobLookup = () => undefined;

/**
 * `rows` are one log's, from its first. Bad rows never throw: they are left out and named in `alarms`. Faults:
 * `empty-conversation` when nothing of the rows can be sent, `log-damaged` when the log has no prefix row.
 */
export function chunksToModelMessages(
  rows: readonly StoredRow[],
  target: WireTarget,
  options: FoldOptions = {},
): Fold | Fault {
  const ordered = inOrder(rows);
  const view = viewOf(ordered);
  if (view.prefix === null) return fault("log-damaged", "This log has no frozen prefix, so no request can be made.");
  const source = entriesOf(ordered, view, target.profile);
  const system = systemMessages(view.prefix, target.profile);
  const context = { target, view, blobs: options.blobs ?? noBlobs, alarms: source.alarms };
  const { messages, anchors, endsDerived } = render(source, system, context);
  if (messages.length === system.length) {
    return fault("empty-conversation", "There is no message with any text to send.", "Send a message first.");
  }
  return { kind: "fold", messages, anchors, alarms: source.alarms, endsDerived, prefix: view.prefix };
}

function inOrder(rows: readonly StoredRow[]): readonly StoredRow[] {
  const sorted = rows.every((row, index) => index === 0 || (rows[index - 1]?.seq ?? 0) <= row.seq);
  return sorted ? rows : [...rows].sort(bySeq);
}

function systemMessages(prefix: PrefixData, profile: Profile): readonly ModelMessage[] {
  const blocks = prefix.system.map(wellFormedText).filter((block) => /\S/.test(block));
  const contents = profile.systemBlocks === "joined" ? [blocks.join("\n\n")] : blocks;
  return contents.map((content) => ({ role: "system", content }));
}
