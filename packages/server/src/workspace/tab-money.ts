/** Money of the tabs: what a turn may still spend, and what a person's answer to a limit changes. */
import type { Spending } from "@varve/agent";
import type { TabEntry } from "@varve/log";
import {
  type Fault,
  fault,
  type LedgerBody,
  type LimitName,
  type TabId,
  type TabOptionsPatch,
  type UsageBody,
  unreachable,
} from "@varve/protocol";
import type { Ledger } from "../ledger/ledger.ts";
import { askedLimit, type LimitedTab, type LimitInput, spendingOf } from "../ledger/money-limits.ts";
import { type LedgerPage, tabLedger } from "../ledger/tab-ledger.ts";
import type { Tree } from "../ledger/tab-tree.ts";
import { usageBody } from "../ledger/usage-body.ts";
import { optionsOf } from "./tab-options.ts";

/** Limits that hold for every tab. */
export interface CommonLimits {
  /** US dollars a day, all tabs of this server; null: none. */
  readonly dayMoneyMax: () => number | null;
  readonly setDayMoneyMax: (max: number) => Promise<Fault | null>;
  /** Requests of one turn, where its tab sets none. */
  readonly stepsMax: () => number;
}

export interface TabMoneyPorts {
  readonly ledger: Ledger;
  readonly limits: CommonLimits;
  /** All tabs as they are now. */
  readonly tabs: () => ReadonlyMap<TabId, TabEntry>;
  /** As the log's: what a purged tab cost goes on counting for the one above it. */
  readonly formerParents: () => ReadonlyMap<TabId, TabId>;
  readonly setOptions: (tab: TabId, patch: TabOptionsPatch) => Promise<Fault | null>;
}

/** A limit's new height, and what it was when it was asked about. */
export interface Raise {
  readonly raiseTo: number;
  readonly max: number;
}

export class TabMoney {
  readonly #ports: TabMoneyPorts;

  constructor(ports: TabMoneyPorts) {
    this.#ports = ports;
  }

  spending(tab: TabId): Spending {
    return spendingOf(this.#input(), tab);
  }

  /**
   * A person raised the limit that a turn of this tab had come to. Money is raised where it was asked about, which may be a tab
   * above. A limit that would be reached at once is refused (`bad-request`), and nothing is changed. The same answer may come
   * again, when it was not known whether the first one was kept: then there is nothing left to raise.
   */
  async raise(tab: TabId, limit: LimitName, { raiseTo, max }: Raise): Promise<Fault | null> {
    const { limits, setOptions } = this.#ports;
    const input = this.#input();
    switch (limit) {
      case "turn-steps":
        if (!Number.isInteger(raiseTo)) return fault("bad-request", "raiseTo: steps are counted in whole numbers.");
        return setOptions(tab, { stepsMax: raiseTo });
      case "tab-money": {
        const asked = askedLimit(input, tab, { raiseTo, max });
        if (asked === null) return null;
        return raiseTo <= asked.spent.price ? tooLow(asked.spent.price) : setOptions(asked.tab, { moneyMax: raiseTo });
      }
      case "day-money":
        return raiseTo <= input.today.price ? tooLow(input.today.price) : limits.setDayMoneyMax(raiseTo);
      case "price-unknown":
        return fault("bad-request", "There is no limit to raise: it is a price that is not known.", stillOpen);
      default:
        return unreachable(limit);
    }
  }

  ledgerOf(tab: TabEntry, page: LedgerPage): Promise<LedgerBody> {
    return tabLedger(this.#ports.ledger, this.#tree(), { ...page, tab });
  }

  usage(days: number): Promise<UsageBody> {
    const { ledger, limits } = this.#ports;
    const tabs = this.#ports.tabs();
    const titleOf = (tab: TabId): string | null => tabs.get(tab)?.title ?? null;
    return usageBody(ledger, days, { titleOf, dayMoneyMax: limits.dayMoneyMax() });
  }

  /** Living tabs, and those that were purged as far as they stand between others. */
  #tree(): Tree<MoneyTab> {
    const parents = this.#ports.formerParents();
    const tree = new Map<TabId, MoneyTab>();
    for (const id of parents.keys()) tree.set(id, purged(id, parents.get(id) ?? null));
    for (const { id, parentId, title, options } of this.#ports.tabs().values()) {
      tree.set(id, { id, parentId: parentId ?? parents.get(id) ?? null, title, limits: optionsOf(options) });
    }
    return tree;
  }

  #input(): LimitInput {
    const { ledger, limits } = this.#ports;
    return {
      tabs: this.#tree(),
      costOf: (tab) => ledger.costOf(tab),
      today: ledger.today(),
      todayFrom: ledger.todayFrom(),
      dayMoneyMax: limits.dayMoneyMax(),
      stepsMax: limits.stepsMax(),
    };
  }
}

type MoneyTab = LimitedTab & { readonly title: string };
const purged = (id: TabId, parentId: TabId | null): MoneyTab => ({ id, parentId, title: "(deleted)", limits: {} });

const stillOpen = "The question is still open.";
const tooLow = (used: number): Fault =>
  fault("bad-request", `raiseTo: $${used.toFixed(4)} are spent already, so the limit must be above that.`, stillOpen);
