/**
 * The fold: rows of a log into the messages of one request. It depends on the rows and on the target alone, never on
 * time, clients or configuration, and the messages for a log's beginning are a prefix of those for the whole log.
 */
import { bySeq, type Fault, fault, type PrefixData, type StoredRow } from "@varve/protocol";
import type { Alarm } from "./alarm.ts";
import type { BlobLookup } from "./blobs.ts";
import { CallIds } from "./call-ids.ts";
import { type Entries, type Entry, entriesOf } from "./entries.ts";
import { JoinedList } from "./list.ts";
import type { ModelMessage } from "./model-message.ts";
import { type Profile, targetUnder, type WireTarget } from "./profile.ts";
import { type Anchor, continueMessage, type Rendered, render, type Standing } from "./render.ts";
import { Segmenter, type SegmentRow } from "./segment.ts";
import { LogView, type View } from "./view.ts";
import { wellFormedText } from "./well-formed.ts";

/** Raised when released code would fold the same rows into other bytes; the older fold then stays beside the new one. */
export const foldVersion = 1;

export interface Fold {
  readonly kind: "fold";
  /** System first, without cache breakpoints. Ends on the user's side. */
  readonly messages: readonly ModelMessage[];
  /** How many of them no further row can change, but for a new prefix, a compaction, an undo or a late void. */
  readonly settled: number;
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

/** A fold whose lists are put together when somebody needs them. */
export interface FoldNow extends Omit<Fold, "messages" | "anchors"> {
  readonly messages: JoinedList<ModelMessage>;
  readonly anchors: JoinedList<Anchor>;
}

export interface FoldOptions {
  readonly blobs?: BlobLookup;
  /** Called with the index of each message that an entry gave, also again for the same index. */
  readonly trace?: (messageIndex: number, entry: Entry) => void;
}

/**
 * `rows` are one log's, from its first. Bad rows never throw: they are left out and named in `alarms`. Faults:
 * `empty-conversation` when nothing of the rows can be sent, `log-damaged` when the log has no prefix row.
 */
export const chunksToModelMessages = (
  rows: readonly StoredRow[],
  target: WireTarget,
  options: FoldOptions = {},
): Fold | Fault => new LogFold(inOrder(rows), target, options).result();

export const inOrder = (rows: readonly StoredRow[]): readonly StoredRow[] =>
  isInOrder(rows, 1) ? rows : [...rows].sort(bySeq);

export function isInOrder(rows: readonly StoredRow[], from: number): boolean {
  for (let index = Math.max(1, from); index < rows.length; index++) {
    if ((rows[index - 1]?.seq ?? 0) > (rows[index]?.seq ?? 0)) return false;
  }
  return true;
}

const noBlobs: BlobLookup = () => undefined;

/** The fold of a log that grows. Segments that have ended are folded once; the open one is folded with each result. */
export class LogFold {
  readonly #target: WireTarget;
  readonly #options: FoldOptions;
  readonly #view = new LogView();
  readonly #segmenter = new Segmenter();
  readonly #callIds = new CallIds();
  readonly #system: readonly ModelMessage[];
  readonly #messages: ModelMessage[];
  readonly #anchors: Anchor[] = [];
  readonly #alarms: Alarm[] = [];
  #standing: Standing;
  #open: SegmentRow[] = [];

  /** `rows` ascend by seq, here and in `extend`. */
  constructor(rows: readonly StoredRow[], target: WireTarget, options: FoldOptions = {}) {
    this.#options = options;
    for (const row of rows) this.#view.add(row);
    // Another prefix row makes a fold begin anew, so this holds for all rows to come.
    this.#target = targetUnder(this.#view.prefix, target);
    this.#system = this.#view.prefix === null ? [] : systemMessages(this.#view.prefix, this.#target.profile);
    this.#messages = [...this.#system];
    this.#standing = { side: "none", messages: this.#messages.length, anchor: -1 };
    this.#addSummary();
    for (const row of rows) this.#place(row);
  }

  get view(): View {
    return this.#view;
  }

  /** False when these rows change what earlier ones mean: then a fold of all rows has to begin anew, and this one is spent. */
  extend(rows: readonly StoredRow[]): boolean {
    for (const row of rows) {
      if (!this.#view.add(row)) return false;
      if (row.type !== "system" || row.data.kind !== "step-void") continue;
      if (this.#segmenter.hasEnded(row.data.turnId, row.data.step)) return false;
    }
    for (const row of rows) this.#place(row);
    return true;
  }

  result(): Fold | Fault {
    const now = this.now();
    return now.kind === "fold" ? { ...now, messages: now.messages.toArray(), anchors: now.anchors.toArray() } : now;
  }

  /** Like `result`, at a cost that no length of the log adds to. */
  now(): FoldNow | Fault {
    const { prefix } = this.#view;
    if (prefix === null) return fault("log-damaged", "This log has no frozen prefix, so no request can be made.");
    const alarms: Alarm[] = [];
    const tail = this.#fold(this.#open, { callIds: new CallIds(this.#callIds), alarms, ended: false });
    if (tail.standing.side === "none") {
      return fault("empty-conversation", "There is no message with any text to send.", "Send a message first.");
    }
    const endsWithAssistant = tail.standing.side === "assistant";
    return {
      kind: "fold",
      messages: new JoinedList(
        this.#messages,
        endsWithAssistant ? [...tail.messages, continueMessage()] : tail.messages,
      ),
      settled: this.#messages.length,
      anchors: new JoinedList(this.#anchors, tail.anchors),
      alarms: this.#alarms.concat(alarms),
      endsDerived: endsWithAssistant || tail.lacksResult,
      prefix,
    };
  }

  #place(row: StoredRow): void {
    const place = this.#segmenter.place(row);
    if (place === "neutral") return;
    if (place === "begins") this.#settle();
    this.#open.push({ row, late: place === "late" });
  }

  #settle(): void {
    if (this.#open.length === 0) return;
    this.#keep(this.#fold(this.#open, { callIds: this.#callIds, alarms: this.#alarms, ended: true }));
    this.#open = [];
  }

  #addSummary(): void {
    const { compaction } = this.#view;
    if (compaction === null) return;
    const { seq, data } = compaction;
    const entries: Entries = {
      entries: [{ kind: "summary", text: data.summary, seq }],
      requests: [],
      answered: false,
      alarms: [],
    };
    this.#keep(this.#render(entries, this.#alarms, true));
  }

  #fold(
    rows: readonly SegmentRow[],
    into: { readonly callIds: CallIds; readonly alarms: Alarm[]; readonly ended: boolean },
  ): Rendered {
    const { callIds, alarms, ended } = into;
    const source = entriesOf(rows, { view: this.#view, profile: this.#target.profile, callIds });
    alarms.push(...source.alarms);
    return this.#render(source, alarms, ended);
  }

  #render(source: Entries, alarms: Alarm[], ended: boolean): Rendered {
    const { blobs = noBlobs, trace } = this.#options;
    return render(source, this.#standing, { target: this.#target, view: this.#view, blobs, alarms, ended, trace });
  }

  #keep(rendered: Rendered): void {
    this.#messages.push(...rendered.messages);
    this.#anchors.push(...rendered.anchors);
    this.#standing = rendered.standing;
  }
}

function systemMessages(prefix: PrefixData, profile: Profile): readonly ModelMessage[] {
  const blocks = prefix.system.map(wellFormedText).filter((block) => /\S/.test(block));
  const contents = profile.systemBlocks === "joined" ? [blocks.join("\n\n")] : blocks;
  return contents.map((content) => ({ role: "system", content }));
}
