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
import { bindingLimit, type LimitInput, spendingOf } from "../ledger/money-limits.ts";
import { type LedgerPage, tabLedger } from "../ledger/tab-ledger.ts";
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
  readonly setOptions: (tab: TabId, patch: TabOptionsPatch) => Promise<Fault | null>;
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
   * A person raised the limit that a turn of this tab had come to. Money is raised where it binds, which may be a tab above. A
   * limit that would be reached at once is refused (`bad-request`), and nothing is changed.
   */
  async raise(tab: TabId, limit: LimitName, raiseTo: number): Promise<Fault | null> {
    const { limits, setOptions } = this.#ports;
    const input = this.#input();
    switch (limit) {
      case "turn-steps":
        if (!Number.isInteger(raiseTo)) return fault("bad-request", "raiseTo: steps are counted in whole numbers.");
        return setOptions(tab, { stepsMax: raiseTo });
      case "tab-money": {
        const binding = bindingLimit(input, tab);
        return raiseTo <= binding.spent.price
          ? tooLow(binding.spent.price)
          : setOptions(binding.tab, { moneyMax: raiseTo });
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
    const { ledger, tabs } = this.#ports;
    return tabLedger(ledger, tabs(), { ...page, tab });
  }

  usage(days: number): Promise<UsageBody> {
    const { ledger, limits } = this.#ports;
    const tabs = this.#ports.tabs();
    const titleOf = (tab: TabId): string | null => tabs.get(tab)?.title ?? null;
    return usageBody(ledger, days, { titleOf, dayMoneyMax: limits.dayMoneyMax() });
  }

  #input(): LimitInput {
    const { ledger, limits, tabs } = this.#ports;
    const limited = [...tabs().values()].map(
      ({ id, parentId, options }) => [id, { id, parentId, limits: optionsOf(options) }] as const,
    );
    return {
      tabs: new Map(limited),
      costOf: (tab) => ledger.costOf(tab),
      today: ledger.today(),
      dayMoneyMax: limits.dayMoneyMax(),
      stepsMax: limits.stepsMax(),
    };
  }
}

const stillOpen = "The question is still open.";
const tooLow = (used: number): Fault =>
  fault("bad-request", `raiseTo: $${used.toFixed(4)} are spent already, so the limit must be above that.`, stillOpen);
