import type { ErrorBody, UsageBody } from "@varve/protocol";
import type { Api } from "../api/api.ts";
import { usageSpans } from "./limits.ts";
import { overridesOf, type PriceOverrides } from "./price-overrides.ts";

/** What the usage page shows and sets. */
export class UsageState {
  body: UsageBody | null = $state.raw(null);
  error: ErrorBody | null = $state.raw(null);
  days: number = $state(usageSpans[1]);
  /** Null until the settings were read: nothing may be written over what is not known. */
  overrides: PriceOverrides | null = $state.raw(null);
  settingsError: ErrorBody | null = $state.raw(null);
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  async load(days: number): Promise<void> {
    const result = await this.#api.usage(days);
    // Another span may have been chosen since.
    if (days !== this.days) return;
    this.error = result.ok ? null : result.error;
    if (result.ok) this.body = result.body;
  }

  async loadSettings(): Promise<void> {
    const result = await this.#api.settings();
    this.settingsError = result.ok ? null : result.error;
    if (result.ok) this.overrides = overridesOf(result.body.values.priceOverrides);
  }

  /** Null takes the limit away. */
  async setDayLimit(dayMoneyMax: number | null): Promise<ErrorBody | null> {
    const result = await this.#api.changeSettings({ dayMoneyMax });
    if (!result.ok) return result.error;
    await this.load(this.days);
    return null;
  }

  async setOverrides(overrides: PriceOverrides): Promise<ErrorBody | null> {
    const result = await this.#api.changeSettings({ priceOverrides: overrides });
    if (!result.ok) return result.error;
    this.overrides = overrides;
    return null;
  }
}
