/**
 * A whole workspace for tests: the real owner, loop, registry and log; a provider over loopback HTTP; a clock that the test
 * moves; tools whose work the test decides.
 */
import {
  createModelRegistry,
  type Decide,
  type PriceOverrides,
  type Tool,
  type ToolBox,
  type ToolRun,
} from "@varve/agent";
import { type Log, memoryLog } from "@varve/log";
import {
  applyHead,
  applyOps,
  type ChunkId,
  emptyTabState,
  type Frame,
  isFault,
  type StoredRow,
  type TabId,
  type TabState,
} from "@varve/protocol";
import {
  createFakeClock,
  createFakeIds,
  createFakeProvider,
  type FakeClock,
  type FakeProvider,
  type FakeProviderOptions,
  type ScriptItem,
} from "@varve/sim";
import { factsByName } from "../../model-facts.ts";
import { createWorkspace, type LiveWorkspace, type WorkspaceOptions } from "../workspace.ts";

/** Turns of the event loop that `until` gives a condition; the clock moves on with each. */
const turnsMax = 3_000;

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export interface Rig extends AsyncDisposable {
  readonly clock: FakeClock;
  readonly provider: FakeProvider;
  readonly log: Log;
  readonly workspace: LiveWorkspace;
  readonly tab: TabId;
  /** Tabs whose background jobs were ended, and whether their long outputs were kept. */
  readonly closedPlaces: string[];
  /** What the tools named `work` were asked to do and have not ended: by call id. */
  readonly works: Map<string, { readonly run: ToolRun; readonly end: (text: string) => void }>;
  /** While it is not null, a call of `work` or `ask` does not get past its preparation. */
  readonly preparing: { until: Promise<void> | null };
  /** Limits of the whole server, kept as settings are. */
  readonly limits: { dayMoneyMax: number | null; stepsMax: number };
  /** Another server on the same log, as after a crash of this one. */
  restarted(options?: { readonly log?: Log }): Promise<Rig>;
  until(what: string, condition: () => boolean | Promise<boolean>): Promise<void>;
  rows(): Promise<readonly StoredRow[]>;
  id(text: string): ChunkId;
}

export interface RigOptions {
  readonly script?: readonly ScriptItem[];
  /** What the provider answers where no entry of the script does, and how strict the caches behind it are. */
  readonly provider?: Pick<FakeProviderOptions, "reply" | "cache">;
  readonly log?: Log;
  readonly permissions?: "ask" | "allow";
  readonly turnDeadlineMs?: number;
  readonly prices?: PriceOverrides;
  /** Default: a model that no table knows. */
  readonly model?: string;
  /** What becomes of promises of ours that were broken; unless said they fail the test. */
  readonly broke?: (error: unknown) => void;
  /** By absolute path; the test may change it. */
  readonly files?: Readonly<Record<string, string>>;
}

interface Shared {
  readonly limits: Rig["limits"];
  readonly clock: FakeClock;
  readonly provider: FakeProvider;
  readonly log: Log;
  readonly boots: { count: number };
  readonly preparing: Rig["preparing"];
}

export async function makeRig(options: RigOptions = {}): Promise<Rig> {
  const clock = createFakeClock();
  const provider = await createFakeProvider({
    ...options.provider,
    script: options.script ?? [],
    now: () => clock.now(),
  });
  const shared: Shared = {
    clock,
    provider,
    log: options.log ?? memoryLog(),
    boots: { count: 0 },
    preparing: { until: null },
    limits: { dayMoneyMax: null, stepsMax: 200 },
  };
  const rig = await startOn(shared, options);
  const made = await rig.workspace.create({
    cwd: "/project",
    model: options.model ?? "anthropic/claude-test",
    permissions: options.permissions ?? "allow",
  });
  if (isFault(made)) throw new Error(made.message);
  return { ...rig, tab: made.id };
}

async function startOn(shared: Shared, options: RigOptions): Promise<Rig> {
  const { clock, provider, log, boots } = shared;
  const works: Rig["works"] = new Map();
  const closedPlaces: string[] = [];
  const first = boots.count === 0;
  const workspace = await createWorkspace(workspaceOptions(shared, options, { works, closedPlaces }));
  await workspace.recoverAll();
  const tab = workspace.list()[0]?.id;
  const until: Rig["until"] = async (what, condition) => {
    for (let turn = 0; turn < turnsMax; turn++) {
      if (await condition()) return;
      await clock.advance(2);
      await nextTurn();
    }
    throw new Error(`it never came true: ${what}`);
  };
  const rig: Rig = {
    clock,
    provider,
    log,
    workspace,
    works,
    closedPlaces,
    preparing: shared.preparing,
    limits: shared.limits,
    // Without a tab the rig is only ever used by `makeRig`, which makes one.
    tab: tab ?? ("none" as TabId),
    until,
    id: (text) => text as ChunkId,
    restarted: (again = {}) => startOn({ ...shared, log: again.log ?? log }, options),
    async rows() {
      const record = workspace.get(rig.tab);
      const first = isFault(record) ? workspace.list()[0] : record;
      if (first === undefined) return [];
      const page = await log.page({ logId: first.logId, after: 0, limit: 500 });
      return isFault(page) ? [] : page.rows;
    },
    async [Symbol.asyncDispose]() {
      for (const work of works.values()) work.end("ended by the test");
      const closing = workspace.close(1).then(() => true);
      // The clock stands still by itself; the grace of open turns is over as soon as it moves on.
      while (!(await Promise.race([closing, clock.advance(5).then(() => false)]))) await nextTurn();
      if (first) await provider.close();
    },
  };
  return rig;
}

function workspaceOptions(
  shared: Shared,
  options: RigOptions,
  seen: Pick<Rig, "works" | "closedPlaces">,
): WorkspaceOptions {
  const { clock, provider, log, boots } = shared;
  boots.count++;
  const { limits } = shared;
  const env = environmentOf(provider);
  const models = createModelRegistry({ env, clock, fetch: globalThis.fetch, demoDelayMs: 0 });
  const prices = options.prices ?? {};
  models.setOverrides(prices);
  return {
    log,
    clock,
    limits: {
      dayMoneyMax: () => limits.dayMoneyMax,
      stepsMax: () => limits.stepsMax,
      setDayMoneyMax: async (max) => {
        limits.dayMoneyMax = max;
        return null;
      },
    },
    facts: factsByName(models, () => prices),
    offsetAt: () => 0,
    ids: createFakeIds(`b${boots.count}`),
    giveWay: () => new Promise((resolve) => setImmediate(resolve)),
    random: () => 0.5,
    models,
    tools: workTools(seen, shared.preparing),
    context: {
      readText: async (path, { charsMax }) => {
        const text = options.files?.[path];
        if (text === undefined) return null;
        return { text: text.slice(0, charsMax), bytes: text.length, clipped: text.length > charsMax };
      },
      list: async () => null,
      place: async () => null,
      repository: async () => null,
      system: "test",
      shell: "none",
    },
    decide: decideForTests,
    rules: () => [],
    keepRules: () => null,
    home: "/home/none",
    boot: `boot-${boots.count}`,
    defaultModel: async () => "demo/demo",
    directory: async (path) => path,
    strict: true,
    broke:
      options.broke ??
      ((error) => {
        throw error;
      }),
    ...(options.turnDeadlineMs !== undefined && { turnDeadlineMs: options.turnDeadlineMs }),
  };
}

/** Every vendor is the fake one. */
function environmentOf({ url }: Pick<FakeProvider, "url">): Readonly<Record<string, string>> {
  const key = "test-key-0123456789";
  return {
    ANTHROPIC_API_KEY: key,
    ANTHROPIC_BASE_URL: url,
    OPENAI_API_KEY: key,
    OPENAI_BASE_URL: `${url}/v1`,
    GOOGLE_GENERATIVE_AI_API_KEY: key,
    GOOGLE_GENERATIVE_AI_BASE_URL: `${url}/v1beta`,
    DEEPSEEK_API_KEY: key,
    DEEPSEEK_BASE_URL: url,
    OPENROUTER_API_KEY: key,
    OPENROUTER_BASE_URL: `${url}/api/v1`,
    OPENAI_COMPATIBLE_API_KEY: key,
    OPENAI_COMPATIBLE_BASE_URL: `${url}/v1`,
  };
}

const decideForTests: Decide = (call, { mode, granted }) =>
  mode === "allow" || granted.some(({ tool, key }) => tool === call.subject.tool && key === call.subject.key)
    ? { decision: "allow" }
    : { decision: "ask" };

/** `work` runs until the test ends it or it is stopped; `ask` asks the person. */
function workTools({ works, closedPlaces }: Pick<Rig, "works" | "closedPlaces">, preparing: Rig["preparing"]): ToolBox {
  const work: Tool = {
    definition: { name: "work", description: "Works.", inputSchema: { type: "object", properties: {} } },
    prepare: async (args) => {
      await preparing.until;
      return {
        effect: "run",
        subject: { tool: "work", key: JSON.stringify(args), command: "work" },
        lock: null,
        run: (run) =>
          new Promise((resolve) => {
            const end = (text: string): void => {
              works.delete(run.callId);
              resolve({ text, isError: run.signal.aborted });
            };
            works.set(run.callId, { run, end });
            run.signal.addEventListener("abort", () => end("stopped"), { once: true });
          }),
      };
    },
  };
  const ask: Tool = {
    definition: { name: "ask", description: "Asks.", inputSchema: { type: "object", properties: {} } },
    prepare: async () => {
      await preparing.until;
      return {
        effect: "ask",
        subject: { tool: "ask", key: "" },
        lock: null,
        run: async (run) => {
          const answer = await run.ask("Which one?", ["a", "b"]);
          return { text: answer ?? "nobody answered", isError: answer === null };
        },
      };
    },
  };
  const tools = new Map([ask, work].map((tool) => [tool.definition.name, tool]));
  return {
    definitions: [...tools.values()].map((tool) => tool.definition),
    get: (name) => tools.get(name),
    closePlace: async (tabId, outputs = "drop") => void closedPlaces.push(`${tabId}:${outputs}`),
    close: async () => undefined,
  };
}

/** A client that follows a tab by frames alone, as a page does. */
export class Follower {
  state: TabState = emptyTabState;
  readonly frames: Frame[] = [];
  #subscription: { close(): void } | null = null;

  static async on(rig: Rig, tab: TabId = rig.tab): Promise<Follower> {
    const follower = new Follower();
    await follower.attach(rig, tab);
    return follower;
  }

  async attach(rig: Rig, tab: TabId): Promise<void> {
    const newest = [...this.state.sealed.values()].map((cell) => cell.row).toSorted((a, b) => b.seq - a.seq)[0];
    const have =
      this.state.logId === null ? null : { log: this.state.logId, term: newest?.term ?? 0, seq: newest?.seq ?? 0 };
    const sink = { send: (frame: Frame) => this.#take(frame), buffered: () => 0, closeSlow: () => undefined };
    const subscription = await rig.workspace.subscribe({ tab, have, focus: true }, sink);
    if (isFault(subscription)) throw new Error(subscription.message);
    this.#subscription = subscription;
  }

  detach(): void {
    this.#subscription?.close();
  }

  texts(): readonly string[] {
    const sealed = [...this.state.sealed.values()].map((cell) => cell.row).toSorted((a, b) => a.seq - b.seq);
    return sealed.flatMap((row) => (row.type === "text" ? [`${row.role}:${row.data.text}`] : []));
  }

  openText(): string {
    return [...this.state.open.values()].map((cell) => cell.text).join("|");
  }

  #take(frame: Frame): void {
    this.frames.push(frame);
    const outcome =
      frame.type === "head"
        ? applyHead(this.state, frame, { answersSub: true })
        : frame.type === "ops"
          ? applyOps(this.state, frame)
          : null;
    if (outcome?.kind === "resub") throw new Error(`a follower in order never needs to ask again: ${outcome.reason}`);
    if (outcome?.kind === "applied") this.state = outcome.state;
  }
}
