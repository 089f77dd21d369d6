/** What is known of a model by its name `<credential>/<model>`, without asking anybody. */
import {
  demoFacts,
  demoInfo,
  factsOf,
  type ModelFacts,
  type ModelRegistry,
  type PriceOverrides,
  unknownFacts,
} from "@varve/agent";
import type { ProviderName } from "@varve/protocol";
import { providerNameSchema } from "@varve/protocol/schema";

/** A credential that is gone is taken for the provider that it is named after, so that old bills stay readable. */
export function factsByName(
  models: Pick<ModelRegistry, "credentials">,
  overrides: () => PriceOverrides,
): (model: string) => ModelFacts {
  return (name) => {
    if (name === demoInfo.id) return demoFacts;
    const cut = name.indexOf("/");
    const [id, model] = [name.slice(0, Math.max(0, cut)), name.slice(cut + 1)];
    const credential = models.credentials().find((one) => one.id === id);
    const provider = credential?.provider ?? providerNamed(id);
    if (provider === null) return unknownFacts;
    return factsOf(provider, model, { override: overrides()[name], baseUrl: credential?.baseUrl ?? null });
  };
}

const providerNamed = (id: string): ProviderName | null =>
  providerNameSchema.options.find((name) => name === id) ?? null;
