import { createHash } from "node:crypto";

/** What a vendor that signs its thinking remembers of a token: the model, and the words it stands for. */
export interface IssuedTokens {
  /** A fresh token for what `model` said. `bound` is what it must come back with; "" binds it to the model alone. */
  issue(model: string, bound: string): string;
  /** Takes a token chosen by the script as its own. */
  adopt(token: string, model: string, bound: string): void;
  verdict(token: string, model: string, bound: string): "known" | "unknown" | "other-model" | "other-words";
}

export function createIssuedTokens(): IssuedTokens {
  const issued = new Map<string, { readonly model: string; readonly bound: string }>();
  const adopt: IssuedTokens["adopt"] = (token, model, bound) => {
    issued.set(token, { model, bound });
  };
  return {
    adopt,
    issue(model, bound) {
      const digest = createHash("sha256").update(`${model}\n${bound}\n${issued.size}`).digest("base64url");
      const token = `enc-${issued.size + 1}-${digest}`;
      adopt(token, model, bound);
      return token;
    },
    verdict(token, model, bound) {
      const known = issued.get(token);
      if (known === undefined) return "unknown";
      if (known.model !== model) return "other-model";
      return known.bound === bound ? "known" : "other-words";
    },
  };
}
