import { noSecrets } from "@varve/agent";
import type { TabChange, TabEntry } from "@varve/log";
import {
  type Accepted,
  type AnswerBody,
  type Attachment,
  type BackgroundBody,
  type ChunkId,
  type Fault,
  fault,
  type HeadBody,
  isFault,
  type LedgerBody,
  type LogChunk,
  type LogId,
  limits,
  type MessageBody,
  type MessageFate,
  type NewTabBody,
  type Page,
  type QueuedMessage,
  type QueuePatch,
  type StopBody,
  type SubCommand,
  type TabId,
  type TabOptionsPatch,
  type TabPatch,
  type TabRecord,
  type UsageBody,
} from "@varve/protocol";
import { TabContexts } from "../context/tab-contexts.ts";
import { Ledger } from "../ledger/ledger.ts";
import type { LedgerPage } from "../ledger/tab-ledger.ts";
import { DigestChecks } from "./digest-checks.ts";
import { faultIn, readable, unknownTab, unreadable } from "./faults.ts";
import { headBody } from "./head.ts";
import { keptWarm } from "./keep-warm.ts";
import { Mailbox } from "./mailbox.ts";
import { type AskedInTab, askedInTab, type QuestionPage } from "./permission-log.ts";
import { closeCut, pointInside, resendInside, targetAt } from "./pointer.ts";
import { subscribe } from "./subscribe.ts";
import { TabMoney } from "./tab-money.ts";
import { patchedOptions } from "./tab-options.ts";
import { TabOwners } from "./tab-owners.ts";
import { checkedReach } from "./tab-reach.ts";
import { digestOf, pageOf, rowOf } from "./tab-reads.ts";
import { modeOf, tabRecord } from "./tab-record.ts";
import type { TabSubscription } from "./tab-subscription.ts";
import type {
  DigestHeld,
  FrameSink,
  PageRequest,
  QueueFault,
  RowSpan,
  Subscription,
  Workspace,
} from "./workspace-contract.ts";
import { WorkspaceFeed } from "./workspace-feed.ts";
import type { WorkspaceOptions } from "./workspace-options.ts";

export type { WorkspaceOptions } from "./workspace-options.ts";

/** Reads the tabs and what recovery must look at; `recoverAll` does the work. */
export async function createWorkspace(options: WorkspaceOptions): Promise<LiveWorkspace> {
  const { log } = options;
  const [entries, unfinished, waiting] = await Promise.all([log.tabs(), log.unfinished(), log.tabsWithWaiting()]);
  const ledger = await Ledger.load(options, entries);
  return new LiveWorkspace(options, {
    entries,
    formerParents: await log.formerParents(),
    ledger,
    unfinished: new Set([...unfinished, ...log.journal.tabsWithBlocks()]),
    waiting,
  });
}

interface Found {
  readonly formerParents: ReadonlyMap<TabId, TabId>;
  readonly ledger: Ledger;
  readonly entries: readonly TabEntry[];
  readonly unfinished: Set<TabId>;
  readonly waiting: readonly TabId[];
}

export class LiveWorkspace implements Workspace {
  readonly contexts: TabContexts;
  readonly #options: WorkspaceOptions;
  readonly #entries = new Map<TabId, TabEntry>();
  readonly #owners: TabOwners;
  /** Tabs that an earlier process left in the middle of a turn. */
  readonly #unfinished: ReadonlySet<TabId>;
  /** Tabs whose messages waited at the start. */
  readonly #waiting: readonly TabId[];
  readonly #feed: WorkspaceFeed;
  readonly #ledger: Ledger;
  readonly #digests: DigestChecks;
  #formerParents: ReadonlyMap<TabId, TabId>;
  readonly #money: TabMoney;
  /** One change of a tab's fields at a time: a change of its options is made on what the one before has left. */
  readonly #changes = new Mailbox();
  readonly #subscriptions = new Set<TabSubscription>();

  constructor(options: WorkspaceOptions, found: Found) {
    this.#options = options;
    this.#unfinished = found.unfinished;
    this.#waiting = found.waiting;
    for (const entry of found.entries) this.#entries.set(entry.id, entry);
    this.#ledger = found.ledger;
    this.#digests = new DigestChecks(options.log);
    this.#formerParents = found.formerParents;
    this.#money = new TabMoney({
      ledger: found.ledger,
      limits: options.limits,
      tabs: () => this.#tabs(),
      formerParents: () => this.#formerParents,
      setOptions: async (tab, patch) => faultIn(await this.#change(tab, {}, patch)),
    });
    this.contexts = new TabContexts({
      options,
      spending: (tab) => this.#money.spending(tab),
      open: (tab, act) => this.#owners.with(tab, act),
    });
    this.#owners = new TabOwners({
      options,
      unfinished: found.unfinished,
      money: this.#money,
      isKnown: (tab) => this.#entries.has(tab),
      changed: (tab) => this.#feed.changed(tab),
      sealed: (fence, rows) => this.#ledger.sealed(fence, rows),
      rested: (actor) => this.contexts.rested(actor),
    });
    this.#feed = new WorkspaceFeed({
      clock: options.clock,
      boot: options.boot,
      list: () => this.list(),
      record: (tab) => this.#record(tab),
    });
  }

  /**
   * Gives every tab with an unfinished turn its owner, which ends the turn or goes on waiting, and every tab with messages that
   * wait, which holds them. Tabs that cannot are told.
   */
  async recoverAll(): Promise<readonly { readonly tab: TabId; readonly fault: Fault }[]> {
    const failed: { tab: TabId; fault: Fault }[] = [];
    for (const tab of new Set([...this.#unfinished, ...this.#waiting, ...keptWarm(this.#entries)])) {
      const actor = await this.#owners.open(tab).catch((error: unknown) => unreadable(error));
      if (isFault(actor)) failed.push({ tab, fault: actor });
    }
    return failed;
  }

  list(): readonly TabRecord[] {
    return [...this.#entries.keys()].flatMap((tab) => this.#record(tab) ?? []);
  }

  get(tab: TabId): TabRecord | Fault {
    return this.#record(tab) ?? unknownTab();
  }

  async create(body: NewTabBody): Promise<TabRecord | Fault> {
    const { ids, clock, log } = this.#options;
    const cwd = await this.#options.directory(body.cwd);
    if (isFault(cwd)) return cwd;
    const model = body.model ?? (await this.#options.defaultModel());
    const resolved = await this.#options.models.resolve(model);
    if (isFault(resolved)) return resolved;
    const reach = await this.#checkedReach(body.options ?? {});
    if (isFault(reach)) return reach;
    const entry = await log.createTab({
      id: body.id ?? ids.tab(),
      title: this.#titleOf(body.title ?? ""),
      cwd,
      model,
      effort: body.effort ?? "default",
      permissions: body.permissions ?? "ask",
      parentId: null,
      logId: ids.log(),
      createdAt: clock.now(),
      options: patchedOptions({}, reach),
    });
    return isFault(entry) ? entry : this.#added(entry);
  }

  async patch(tab: TabId, patch: TabPatch): Promise<TabRecord | Fault> {
    if (!this.#entries.has(tab)) return unknownTab();
    const change = await this.#changeOf(patch);
    if (isFault(change)) return change;
    const reach = patch.options === undefined ? undefined : await this.#checkedReach(patch.options);
    if (isFault(reach)) return reach;
    const changed = await this.#change(tab, change, reach);
    if (isFault(changed)) return changed;
    if (patch.trashed === true) await this.#rest(tab);
    return this.get(tab);
  }

  #checkedReach(options: TabOptionsPatch): Promise<TabOptionsPatch | Fault> {
    return checkedReach(options, { added: this.#options.added ?? this.#options.directory });
  }

  async remove(tab: TabId): Promise<Fault | null> {
    const entry = this.#entries.get(tab);
    if (entry === undefined) return unknownTab();
    if (entry.trashedAt === null) {
      const changed = await this.patch(tab, { trashed: true });
      return isFault(changed) ? changed : null;
    }
    if (this.#owners.get(tab)?.isRunning === true) {
      await this.#rest(tab);
      return fault("tab-running", "A turn is still ending in this tab.", "Try again in a moment.");
    }
    const problem = await this.#options.log.purge(tab);
    if (problem !== null) return problem;
    for (const subscription of this.#subscriptions) if (subscription.tab === tab) subscription.close();
    await this.#options.tools.closePlace(tab);
    this.#entries.delete(tab);
    this.#owners.left(tab);
    this.contexts.left(tab);
    this.#ledger.purged(tab);
    await this.#orphan(tab);
    this.#feed.purged(tab);
    return null;
  }

  async page(tab: TabId, request: PageRequest): Promise<Page | Fault> {
    return this.#owners.with(tab, ({ core }) => pageOf(this.#options.log, core, request));
  }

  async row(tab: TabId, seq: number): Promise<LogChunk | Fault> {
    return this.#owners.with(tab, ({ core }) => rowOf(this.#options.log, core, seq));
  }

  async head(tab: TabId): Promise<HeadBody | Fault> {
    return this.#owners.with(tab, ({ core }) => headBody(core));
  }

  async digest(tab: TabId, lo: number, hi: number): Promise<string | Fault> {
    return this.#owners.with(tab, ({ core }) => digestOf(this.#options.log, core, { lo, hi }));
  }

  async compare(tab: TabId, rows: RowSpan, held: DigestHeld): Promise<string | Fault> {
    return this.#owners.with(tab, ({ core }) => this.#digests.compare(core, rows, held));
  }

  async send(tab: TabId, message: MessageBody, by: string): ReturnType<Workspace["send"]> {
    return this.#owners.with(tab, async (actor) => {
      const attachments: Attachment[] = [];
      for (const attached of message.attachments ?? []) {
        const kept = await this.#options.log.blobs.get(attached.blob);
        if (kept === null) {
          const missing = `There is no uploaded file ${attached.blob}.`;
          return fault("unknown-blob", missing, "Upload it again; nothing was sent.");
        }
        // What the sender calls a picture may be none, and providers would refuse it in every later request.
        attachments.push({ ...attached, mediaType: kept.mediaType });
      }
      return actor.send(message.attachments ? { ...message, attachments } : message, by);
    });
  }

  patchQueued(tab: TabId, id: ChunkId, patch: QueuePatch): Promise<QueuedMessage | QueueFault> {
    return this.#owners.with(tab, (actor): Promise<QueuedMessage | QueueFault> => actor.patchQueued(id, patch));
  }

  cancelQueued(tab: TabId, id: ChunkId): Promise<Accepted | Fault> {
    return this.#owners.with(tab, (actor) => actor.cancelQueued(id));
  }

  messageFate(tab: TabId, id: ChunkId): Promise<MessageFate | Fault> {
    return this.#owners.with(tab, (actor) => actor.messageFate(id));
  }

  stop(tab: TabId, body: StopBody): Promise<{ readonly stopped: boolean } | Fault> {
    return this.#owners.with(tab, (actor) => actor.stop(body));
  }

  background(tab: TabId, body: BackgroundBody): Promise<{ readonly moved: boolean } | Fault> {
    return this.#owners.with(tab, (actor) => actor.background(body));
  }

  async asked(tab: TabId, page: QuestionPage): Promise<AskedInTab | Fault> {
    return this.#owners.with(tab, async (actor) => {
      const log = await actor.readLog();
      return isFault(log) ? log : askedInTab(log.rows, modeOf(actor.core.tab.permissions), page);
    });
  }

  takeBack(tab: TabId, askId: ChunkId, by: string): Promise<Fault | null> {
    return this.#owners.with(tab, (actor) => actor.takeBack(askId, by));
  }

  answer(tab: TabId, body: AnswerBody, by: string): Promise<Fault | null> {
    return this.#owners.with(tab, (actor) => actor.answer(body, by));
  }

  async fork(tab: TabId, seq: number): Promise<TabRecord | Fault> {
    return this.#owners.with(tab, async ({ core }) => {
      if (seq < 1 || seq > core.tail) {
        return fault("unknown-row", `This tab has no row ${seq}.`, `Fork at a row from 1 to ${core.tail}.`);
      }
      const { title, cwd, model, effort, permissions, options } = core.tab;
      const { ids, clock, log } = this.#options;
      const logId = ids.log();
      const entry = await log.createTab(
        {
          id: ids.tab(),
          title: `${title} (fork)`,
          cwd,
          model,
          effort,
          permissions,
          parentId: null,
          logId,
          createdAt: clock.now(),
          // What costs money by itself is wished for one tab.
          options: patchedOptions(options, { keepWarm: null }),
        },
        targetAt(logId, { id: core.fence.logId, seq }),
      );
      if (isFault(entry)) return entry;
      this.#added(entry);
      const problem = await this.#owners.with(entry.id, (actor) => actor.core.mailbox.run(() => closeCut(actor)));
      if (problem === null) return this.get(entry.id);
      // The cut is closed by whoever opens the tab next, as after a crash.
      this.#owners.leftUnfinished(entry.id);
      return problem;
    });
  }

  async clear(tab: TabId): Promise<TabRecord | Fault> {
    const target = { kind: "fresh", logId: this.#options.ids.log() } as const;
    const problem = await this.#owners.with(tab, (actor) => actor.act(() => pointInside(actor, target)));
    return problem ?? this.get(tab);
  }

  async pointTo(tab: TabId, logId: LogId): Promise<TabRecord | Fault> {
    const target = { kind: "earlier", logId } as const;
    const problem = await this.#owners.with(tab, (actor) => actor.act(() => pointInside(actor, target)));
    return problem ?? this.get(tab);
  }

  async resend(
    tab: TabId,
    at: { readonly seq: number; readonly id: ChunkId; readonly text: string },
    by: string,
  ): Promise<Accepted | Fault> {
    return this.#owners.with(tab, (actor) => actor.act(() => resendInside(actor, at, by)));
  }

  async logs(tab: TabId): ReturnType<Workspace["logs"]> {
    return this.#entries.has(tab) ? readable(() => this.#options.log.logsOf(tab)) : unknownTab();
  }

  async ledger(tab: TabId, page: LedgerPage): Promise<LedgerBody | Fault> {
    return readable(async () => {
      const entry = this.#tabs().get(tab);
      return entry === undefined ? unknownTab() : this.#money.ledgerOf(entry, page);
    });
  }

  async usage(days: number): Promise<UsageBody | Fault> {
    return readable(() => this.#money.usage(days));
  }

  async seen(tab: TabId, seq: number): Promise<void> {
    const record = this.#record(tab);
    const seen = Math.trunc(Math.min(seq, record?.tail ?? 0));
    if (record === undefined || !(seen > record.seen)) return;
    await this.#change(tab, { seen });
  }

  async subscribe(
    command: Pick<SubCommand, "tab" | "have" | "focus"> & Partial<Pick<SubCommand, "re" | "open" | "want">>,
    sink: FrameSink,
  ): Promise<Subscription | Fault> {
    return this.#owners.with(command.tab, async ({ core }) => {
      const { log, clock } = this.#options;
      const closed = (subscription: TabSubscription): void => {
        this.#subscriptions.delete(subscription);
      };
      const subscription = await subscribe({ log, clock, core, sink, closed }, command);
      if (!isFault(subscription) && !subscription.isClosed) this.#subscriptions.add(subscription);
      return subscription;
    });
  }

  subscribeWorkspace(re: number | undefined, sink: FrameSink): () => void {
    return this.#feed.subscribe(re, sink);
  }

  readonly counters = (): Readonly<Record<string, number>> => ({
    tabs: this.#entries.size,
    ...this.#owners.counters(),
    subscriptions: this.#subscriptions.size,
    ...this.#digests.counters(),
    journalFaults: this.#options.log.journal.faults(),
  });

  async close(graceMs: number): Promise<void> {
    this.contexts.close();
    await this.#owners.close(graceMs);
    for (const subscription of this.#subscriptions) subscription.close();
    this.#feed.close();
  }

  #record(tab: TabId): TabRecord | undefined {
    const core = this.#owners.get(tab)?.core;
    const entry = core?.tab ?? this.#entries.get(tab);
    return entry === undefined ? undefined : tabRecord(entry, core, this.#ledger);
  }

  /** All tabs as they are now. */
  #tabs(): ReadonlyMap<TabId, TabEntry> {
    const now = [...this.#entries].map(([id, entry]) => {
      return [id, this.#owners.get(id)?.core.tab ?? entry] as const;
    });
    return new Map(now);
  }

  /** Children of a tab that is gone are tabs of their own; what they cost goes on counting where it did. */
  async #orphan(parent: TabId): Promise<void> {
    const former = await readable(() => this.#options.log.formerParents());
    if (!isFault(former)) this.#formerParents = former;
    for (const [id, entry] of this.#entries) {
      if (entry.parentId !== parent) continue;
      this.#entries.set(id, { ...entry, parentId: null });
      const core = this.#owners.get(id)?.core;
      core?.renewed({ ...core.tab, parentId: null });
      this.#feed.changed(id);
    }
  }

  #added(entry: TabEntry): TabRecord {
    this.#entries.set(entry.id, entry);
    this.#feed.changed(entry.id);
    return tabRecord(entry, undefined, this.#ledger);
  }

  #titleOf(text: string): string {
    const clean = (this.#options.secrets ?? noSecrets).text(text.trim());
    return clean.slice(0, limits.titleCharsMax).toWellFormed();
  }

  async #changeOf(patch: TabPatch): Promise<TabChange | Fault> {
    const cwd = patch.cwd === undefined ? undefined : await this.#options.directory(patch.cwd);
    if (isFault(cwd)) return cwd;
    if (patch.model !== undefined) {
      const resolved = await this.#options.models.resolve(patch.model);
      if (isFault(resolved)) return resolved;
    }
    return {
      ...(patch.title !== undefined && { title: this.#titleOf(patch.title) }),
      ...(cwd !== undefined && { cwd }),
      ...(patch.model !== undefined && { model: patch.model }),
      ...(patch.effort !== undefined && { effort: patch.effort }),
      ...(patch.permissions !== undefined && { permissions: patch.permissions }),
      ...(patch.trashed !== undefined && { trashedAt: patch.trashed ? this.#options.clock.now() : null }),
    };
  }

  #change(tab: TabId, change: TabChange, options?: TabOptionsPatch): Promise<TabRecord | Fault> {
    return this.#changes.run(async () => {
      const stored = this.#entries.get(tab)?.options ?? {};
      const whole = options === undefined ? change : { ...change, options: patchedOptions(stored, options) };
      const entry = await this.#options.log.changeTab(tab, whole);
      if (isFault(entry)) return entry;
      this.#entries.set(tab, entry);
      const actor = this.#owners.renewed(entry);
      if (actor !== undefined) this.contexts.rested(actor);
      this.#feed.changed(tab);
      return this.get(tab);
    });
  }

  /** A tab in the trash comes to rest. It is marked as trashed before, so that nothing begins behind the stop. */
  async #rest(tab: TabId): Promise<void> {
    const actor = await this.#owners.settled(tab);
    await actor?.rest();
    // Nothing works on in the trash; what rows name by path stays for as long as they do.
    await this.#options.tools.closePlace(tab, "keep");
  }
}
