/** The provider package as the agent has it: its share of a delta is measured on the very code that the product runs. */
import { createRequire } from "node:module";
import { join } from "node:path";

interface StreamedModel {
  doStream(options: {
    readonly prompt: readonly unknown[];
    readonly includeRawChunks: boolean;
  }): PromiseLike<{ readonly stream: AsyncIterable<unknown> }>;
}
interface ProviderPackage {
  createAnthropic(options: { readonly apiKey: string; readonly baseURL: string }): (model: string) => StreamedModel;
}

/** Loaded when it is asked for. */
export function anthropicModel(baseURL: string, model: string): StreamedModel {
  const root = process.env.VARVE_ROOT ?? process.cwd();
  // What is used of the package, in its own words.
  const found = createRequire(join(root, "packages/agent/package.json"))("@ai-sdk/anthropic") as ProviderPackage;
  return found.createAnthropic({ apiKey: "k", baseURL })(model);
}
