/** What a workspace is composed of, and what it hands on to each turn. */
import type {
  ContextOperations,
  Decide,
  ModelFacts,
  ModelRegistry,
  PermissionRule,
  Secrets,
  Spending,
  TabContext,
  ToolBox,
  TurnLimits,
  TurnPorts,
} from "@varve/agent";
import type { Log } from "@varve/log";
import type { Clock, Fault, IdMaker, TabId, TurnId } from "@varve/protocol";
import type { OffsetAt } from "../ledger/local-day.ts";
import type { TabCore } from "./tab-core.ts";
import type { CommonLimits } from "./tab-money.ts";
import { optionsOf } from "./tab-options.ts";
import { modeOf } from "./tab-record.ts";

export interface WorkspaceOptions {
  readonly log: Log;
  readonly clock: Clock;
  readonly ids: IdMaker;
  /** Uniform in [0, 1): spreads retries. */
  readonly random: () => number;
  readonly models: ModelRegistry;
  readonly tools: ToolBox;
  readonly context: ContextOperations;
  readonly decide: Decide;
  /** Permission rules from files, for a directory; read when a call is about to run. */
  readonly rules: (cwd: string) => readonly PermissionRule[];
  /** Keeps rules that allow for a directory, from now on and for all tabs in it. A fault: nothing was kept. */
  readonly keepRules: (cwd: string, rules: readonly string[]) => Fault | null;
  /** What runs commands here. Absent: bash. */
  readonly shell?: "bash" | "posix";
  /** `VARVE_HOME`. */
  readonly home: string;
  /** Taken out of everything that a tab writes or shows. Absent: none are known. */
  readonly secrets?: Secrets;
  /** Environment variables that a person hides from children. Absent: none. */
  readonly hiddenEnv?: () => readonly string[];
  /** Answers after whatever else waits in this process has had its turn. */
  readonly giveWay: () => Promise<void>;
  /** Names one start of the server. */
  readonly boot: string;
  readonly defaultModel: () => Promise<string>;
  /** The absolute path of a directory that a person named, or why it cannot be worked in (`bad-directory`). */
  readonly directory: (path: string) => Promise<string | Fault>;
  /** The real path of a directory that a tab may use beside its own. Absent: as `directory` says. */
  readonly added?: (path: string) => Promise<string | Fault>;
  readonly limits: CommonLimits;
  /** What is known of a model by its name, without asking anybody. */
  readonly facts: (model: string) => ModelFacts;
  /** The place whose days count. Default: where this process runs. */
  readonly offsetAt?: OffsetAt;
  readonly turnDeadlineMs?: number;
  readonly turnLimits?: Partial<TurnLimits>;
  /** Requests that break the wire's rules end the turn (tests) or are sent with a notice. */
  readonly strict?: boolean;
  /** A promise of ours was broken; for the log of the server. */
  readonly broke: (error: unknown, tab: TabId, turn: TurnId) => void;
}

/** When a tab compacts by itself that says nothing about it. */
const autoCompactDefault = { on: true, share: 0.8 };

/** What a turn of this tab needs, as its fields are now. */
export function turnPorts(options: WorkspaceOptions, core: TabCore, spending: () => Spending): TurnPorts {
  const { clock, ids, tools, models, decide, random, turnLimits, strict, log } = options;
  return {
    clock,
    ids,
    tools,
    models,
    decide,
    random,
    blobs: log.blobs,
    place: {
      tabId: core.tabId,
      cwd: core.tab.cwd,
      home: options.home,
      // Read at each call: what a person takes away or puts in a sandbox holds in the turn that runs.
      get directories() {
        return optionsOf(core.tab.options).directories ?? [];
      },
      get sandbox() {
        const { sandbox, network } = optionsOf(core.tab.options);
        return { mode: sandbox ?? "off", network: network ?? [] };
      },
      hiddenEnv: [...models.secretEnv, ...(options.hiddenEnv?.() ?? [])],
      ...(options.secrets !== undefined && { secrets: options.secrets }),
    },
    folder: core.folder(),
    spending,
    autoCompact: () => optionsOf(core.tab.options).autoCompact ?? autoCompactDefault,
    permission: () => ({
      mode: modeOf(core.tab.permissions),
      rules: options.rules(core.tab.cwd),
      shell: options.shell ?? "bash",
    }),
    ...(turnLimits !== undefined && { limits: turnLimits }),
    ...(strict !== undefined && { strict }),
  };
}

export function tabContext(options: WorkspaceOptions, core: TabCore): TabContext {
  const { clock, ids, tools, home } = options;
  const { cwd, model, effort } = core.tab;
  const { cacheTtl } = optionsOf(core.tab.options);
  return { operations: options.context, clock, ids, tools, home, cwd, model, effort, cacheTtl };
}
