/** A folder that remembers nothing but the chain of the last request: what every other one must equal. */
import { isFault } from "@varve/protocol";
import type { Folder } from "@varve/wire";
import { buildRequest, neededBlobs } from "@varve/wire";

export function plainFolder(): Folder {
  let previousChain: readonly string[] | undefined;
  return {
    request(input) {
      const built = buildRequest({ ...input, previousChain });
      if (!isFault(built)) previousChain = built.chain;
      return built;
    },
    neededBlobs,
  };
}
