import type { Clock, ContextBody, ErrorBody, LedgerBody, LedgerStep, TabId } from "@varve/protocol";
import type { Api } from "../api/api.ts";
import type { Result } from "../api/http.ts";
import { joinSteps } from "./join-steps.ts";
import { PacedReading } from "./paced-reading.ts";

/** The parts of the side panel. */
export type PanelPart = "cost" | "context" | "cache" | "limits" | "permissions" | "reach" | "requests" | "sync";

/** An act that is under way: its button waits, the others are off. */
export type ContextAct = "tell" | "rebuild" | "compact" | "undo";

/**
 * Cost, context and cache of one tab as the server last told them. Read anew when a request was billed, a turn ended or an
 * act was done.
 */
export class TabLedger {
  body: LedgerBody | null = $state.raw(null);
  context: ContextBody | null = $state.raw(null);
  error: ErrorBody | null = $state.raw(null);
  contextError: ErrorBody | null = $state.raw(null);
  /** Newest first: what `body` brought and the older pages that were asked for. */
  steps: readonly LedgerStep[] = $state.raw([]);
  more = $state(false);
  loadingOlder = $state(false);
  /** The panel is open at this part; null: closed. */
  part: PanelPart | null = $state(null);
  /** The request that the panel shows, by the seq of its row; null: the list of them. */
  inspected: number | null = $state(null);
  act: ContextAct | null = $state(null);
  actError: ErrorBody | null = $state.raw(null);
  readonly #tab: TabId;
  readonly #api: Api;
  readonly #reading: PacedReading;

  constructor(tab: TabId, api: Api, clock: Clock) {
    this.#tab = tab;
    this.#api = api;
    this.#reading = new PacedReading(async () => {
      await Promise.all([this.#readLedger(), this.#readContext()]);
    }, clock);
  }

  open(part: PanelPart): void {
    this.part = part;
    this.inspected = null;
    void this.refresh();
  }

  close(): void {
    this.part = null;
  }

  inspect(requestSeq: number): void {
    this.part = "requests";
    this.inspected = requestSeq;
  }

  refresh = (): Promise<void> => this.#reading.now();
  /** For bills that come in while an agent works, many a minute. */
  refreshSoon = (): void => this.#reading.soon();
  /** Nobody looks at the tab any more. */
  rest = (): void => this.#reading.rest();

  async older(): Promise<void> {
    const last = this.steps.at(-1);
    if (last === undefined || !this.more || this.loadingOlder) return;
    this.loadingOlder = true;
    const result = await this.#api.ledger(this.#tab, last.usageSeq);
    this.loadingOlder = false;
    this.error = result.ok ? null : result.error;
    // Another log may have taken the place of the one that was asked about: what does not join is not shown.
    if (!result.ok || this.steps.at(-1) !== last) return;
    this.steps = [...this.steps, ...result.body.steps];
    this.more = result.body.more;
  }

  apply = (how: "tell" | "rebuild"): Promise<void> => this.#do(how, this.#api.applyContext(this.#tab, how));
  compact = (): Promise<void> => this.#do("compact", this.#api.compact(this.#tab));
  undo = (seq: number): Promise<void> => this.#do("undo", this.#api.undoCompaction(this.#tab, seq));

  async #do(act: ContextAct, doing: Promise<Result<unknown>>): Promise<void> {
    this.act = act;
    const result = await doing;
    this.act = null;
    this.actError = result.ok ? null : result.error;
    await this.refresh();
  }

  async #readLedger(): Promise<void> {
    const result = await this.#api.ledger(this.#tab);
    this.error = result.ok ? null : result.error;
    if (!result.ok) return;
    const { body } = result;
    this.steps = joinSteps(body.steps, this.steps);
    if (this.steps.length === body.steps.length) this.more = body.more;
    this.body = body;
  }

  async #readContext(): Promise<void> {
    const result = await this.#api.context(this.#tab);
    this.contextError = result.ok ? null : result.error;
    if (result.ok) this.context = result.body;
  }
}
