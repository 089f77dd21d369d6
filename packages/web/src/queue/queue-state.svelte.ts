import type { ChunkId, Clock, Delivery, ErrorBody, LongCall, QueuedMessage } from "@varve/protocol";
import type { Drafts } from "../state/drafts.ts";
import type { OpenTab } from "../state/open-tab.svelte.ts";
import { editsPlace, editsText, parseEdits, type QueueEdit, type QueueEdits, withEdit } from "./edits.ts";
import { callSubject, jobOf, queueGoesOn, quoted, resultRow } from "./queue-text.ts";

/** Something that happened to a message or a call whose card is gone. */
export interface QueueNote {
  readonly key: number;
  readonly text: string;
}
/** Notes on screen; the oldest makes room. */
const NOTES_MAX = 4;
/** So long a call may take to end after it was asked to: then the person is told that it still runs. */
const ENDING_MS = 6000;

/** What a person does with the messages that wait in one tab, and what came of it. Nothing that was typed is lost by it. */
export class QueueState {
  edits: QueueEdits = $state.raw(new Map());
  errors: ReadonlyMap<ChunkId, ErrorBody> = $state.raw(new Map());
  notes: readonly QueueNote[] = $state.raw([]);
  /** Calls that were asked to move or to stop and have not ended yet. */
  ending: ReadonlySet<string> = $state.raw(new Set());
  #nextNote = 0;
  readonly #tab: OpenTab;
  readonly #drafts: Drafts;
  readonly #clock: Clock;

  constructor(tab: OpenTab, drafts: Drafts, clock: Clock) {
    this.#tab = tab;
    this.#drafts = drafts;
    this.#clock = clock;
    this.edits = parseEdits(drafts.read(editsPlace(tab.handle.tabId)));
  }

  /** Edits of messages that no longer wait: sent or removed meanwhile, here or elsewhere. */
  readonly strays: readonly (readonly [ChunkId, QueueEdit])[] = $derived.by(() => {
    const { ready, queue } = this.#tab.snapshot;
    return ready ? [...this.edits].filter(([id]) => !queue.some((message) => message.id === id)) : [];
  });

  /** It is held first, so that it cannot leave half-written. */
  async startEdit(message: QueuedMessage): Promise<void> {
    const wasHeld = message.state === "held";
    const error = wasHeld ? null : await this.#tab.handle.hold(message.id);
    this.#tell(message, error);
    const { text } = message.data;
    if (error === null) this.#setEdit(message.id, { text, base: text, wasHeld });
  }

  type(id: ChunkId, text: string): void {
    const edit = this.edits.get(id);
    if (edit) this.#setEdit(id, { ...edit, text });
  }

  /** Takes the text that stands on the server now in place of the own one. */
  takeTheirs(message: QueuedMessage): void {
    const edit = this.edits.get(message.id);
    if (edit) this.#setEdit(message.id, { ...edit, text: message.data.text, base: message.data.text });
  }

  async save(message: QueuedMessage): Promise<void> {
    const edit = this.edits.get(message.id);
    if (edit === undefined || edit.text.trim() === "") return;
    const error = await this.#tab.handle.edit(message.id, edit.text);
    this.#tell(message, error);
    if (error !== null) return;
    this.#setEdit(message.id, { ...edit, base: edit.text });
    await this.endEdit(message);
  }

  /** Lets it go again, unless it was held before, or would be held by now had nobody edited it. */
  async endEdit(message: QueuedMessage): Promise<void> {
    const edit = this.edits.get(message.id);
    const { status, rows } = this.#tab.handle.snapshot();
    const goes = edit?.wasHeld === false && queueGoesOn(status, rows);
    const error = goes ? await this.#tab.handle.release(message.id) : null;
    // One that somebody else released is where it should be.
    const done = error === null || !this.#waits(message.id, "held");
    if (done) this.dropEdit(message.id);
    this.#tell(message, done ? null : error);
  }

  dropEdit(id: ChunkId): void {
    this.#setEdit(id, null);
  }

  /** The text of an edit whose message is gone goes out as one of its own. */
  sendStray(id: ChunkId): void {
    const text = this.edits.get(id)?.text.trim() ?? "";
    if (text === "") return;
    this.#tab.handle.send({ text });
    this.dropEdit(id);
  }

  hold = (message: QueuedMessage): Promise<void> => this.#act(message, this.#tab.handle.hold(message.id));
  release = (message: QueuedMessage): Promise<void> => this.#act(message, this.#tab.handle.release(message.id));
  move = (message: QueuedMessage, before: ChunkId | null): Promise<void> =>
    this.#act(message, this.#tab.handle.move(message.id, before));
  deliver = (message: QueuedMessage, delivery: Delivery): Promise<void> =>
    this.#act(message, this.#tab.handle.setDelivery(message.id, delivery));

  async remove(message: QueuedMessage): Promise<void> {
    const error = await this.#tab.handle.cancel(message.id);
    if (error === null && this.#isSealed(message.id))
      this.note(`${quoted(message.data.text)} was sent before it could be removed.`);
    else this.#tell(message, error);
  }

  /** Those that a person holds back; one that is being edited is held for the edit's sake, and stays. */
  readonly held: readonly QueuedMessage[] = $derived.by(() =>
    this.#tab.snapshot.queue.filter((message) => message.state === "held" && !this.edits.has(message.id)),
  );

  /** One after the other, in their order. */
  async releaseAll(): Promise<void> {
    for (const message of this.held) await this.release(message);
  }

  async toBackground(calls: readonly LongCall[]): Promise<void> {
    await Promise.all(calls.filter((call) => call.movable).map((call) => this.#moveCall(call)));
  }

  async stopCalls(calls: readonly LongCall[]): Promise<void> {
    await Promise.all(
      calls.map(async (call) => {
        const ended = await this.#end(call, this.#tab.handle.stop(call.callId));
        if (ended === false) this.note(`${this.#named(call)} has not stopped yet.`);
      }),
    );
  }

  /** What could not be done before can be done now: an error that says otherwise would be wrong. */
  forgetErrors(): void {
    if (this.errors.size > 0) this.errors = new Map();
  }

  note(text: string): void {
    this.notes = [...this.notes, { key: this.#nextNote++, text }].slice(-NOTES_MAX);
  }
  dismiss(key: number): void {
    this.notes = this.notes.filter((one) => one.key !== key);
  }

  async #moveCall(call: LongCall): Promise<void> {
    const name = this.#named(call);
    const ended = await this.#end(call, this.#tab.handle.background(call.callId));
    const { rows } = this.#tab.handle.snapshot();
    if (ended === false) this.note(`${name} still runs here: it could not be moved.`);
    else if (ended && resultRow(call.callId, rows) && jobOf(call.callId, rows) === null) {
      this.note(`${name} was already over.`);
    }
  }

  /** Whether the call ended in time; null when it was refused, which is told. */
  async #end(call: LongCall, asking: Promise<ErrorBody | null>): Promise<boolean | null> {
    this.ending = new Set([...this.ending, call.callId]);
    const error = await asking;
    const ended = error === null ? await this.#untilOver(call.callId) : null;
    this.ending = new Set([...this.ending].filter((one) => one !== call.callId));
    if (error !== null) this.note(`${this.#named(call)}: ${error.message}`);
    return ended;
  }

  #untilOver(callId: string): Promise<boolean> {
    const { handle } = this.#tab;
    const isOver = (): boolean => !handle.snapshot().status.calls?.some((call) => call.callId === callId);
    if (isOver()) return Promise.resolve(true);
    return new Promise((resolve) => {
      const timer = this.#clock.setTimer(ENDING_MS, () => done(false));
      const stop = handle.onChange(() => {
        if (isOver()) done(true);
      });
      const done = (ended: boolean): void => {
        stop();
        timer.cancel();
        resolve(ended);
      };
    });
  }

  async #act(message: QueuedMessage, doing: Promise<ErrorBody | null>): Promise<void> {
    this.#tell(message, await doing);
  }

  /** On the card while there is one; else as a note. */
  #tell(message: QueuedMessage, error: ErrorBody | null): void {
    const { id, data } = message;
    const errors = new Map([...this.errors].filter(([other]) => other !== id && this.#waits(other)));
    if (error !== null && this.#waits(id)) errors.set(id, error);
    this.errors = errors;
    if (error === null || this.#waits(id)) return;
    const fate = this.#isSealed(id) ? "was sent meanwhile" : "no longer waits";
    this.note(`${quoted(data.text)} ${fate}: nothing was changed.`);
  }

  #waits(id: ChunkId, state?: QueuedMessage["state"]): boolean {
    const message = this.#tab.handle.snapshot().queue.find((one) => one.id === id);
    return message !== undefined && (state === undefined || message.state === state);
  }

  #isSealed(id: ChunkId): boolean {
    return this.#tab.handle.snapshot().rows.some((row) => row.id === id);
  }

  #named(call: LongCall): string {
    return quoted(callSubject(call, this.#tab.handle.snapshot().rows));
  }

  #setEdit(id: ChunkId, edit: QueueEdit | null): void {
    this.edits = withEdit(this.edits, id, edit);
    this.#drafts.write(editsPlace(this.#tab.handle.tabId), editsText(this.edits));
  }
}
