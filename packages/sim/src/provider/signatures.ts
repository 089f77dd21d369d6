import { createHash } from "node:crypto";
import { contentBlocks, unmarked } from "../blocks.ts";
import { isObject, type JsonObject, objectsIn, stringOr } from "../json.ts";
import { prefixBlocks } from "./anthropic-breakpoints.ts";

/**
 * Thinking that is bound to what stood before it.
 *
 * A signature remembers the model, the text it was issued for, the fingerprint of every block before it that is not
 * thinking (tools, system, messages), and the tokens of the thinking before it, oldest first. A later request may show
 * the block only behind the same blocks. Earlier thinking may be missing only from the front: what is left must be an
 * end of the list. Blocks of white space count for nothing, because a client must not send them back.
 */
interface Issued {
  readonly model: string;
  readonly thinking: string;
  readonly fingerprint: string;
  readonly before: readonly string[];
}

export interface SignatureCheck {
  /** Why the request is refused, or null. */
  readonly problem: string | null;
  /** How many thinking blocks the model does not see: bound elsewhere and dropped as asked, or of another model. */
  readonly dropped: number;
  /** Paths of those of them that were bound to another prefix. */
  readonly mismatched: readonly string[];
}

export interface Signatures {
  /** A fresh token for thinking that is produced after `content` in answer to `body`. */
  issue(body: JsonObject, content: readonly JsonObject[], thinking: string): string;
  /** Binds a token chosen by the script as `issue` would have. */
  adopt(token: string, body: JsonObject, content: readonly JsonObject[], thinking: string): void;
  check(body: JsonObject): SignatureCheck;
}

export function createSignatures(options: { readonly acceptForeign: boolean }): Signatures {
  const issued = new Map<string, Issued>();
  const adopt: Signatures["adopt"] = (token, body, content, thinking) => {
    const { fingerprint, tokens } = prefixOf(body, content);
    issued.set(token, { model: stringOr(body.model, ""), thinking, fingerprint, before: tokens });
  };
  return {
    adopt,
    issue(body, content, thinking) {
      const { fingerprint } = prefixOf(body, content);
      const token = `sig-${issued.size + 1}-${fingerprint.slice(0, 32)}`;
      adopt(token, body, content, thinking);
      return token;
    },
    check: (body) => check(body, issued, options.acceptForeign),
  };
}

function check(body: JsonObject, issued: ReadonlyMap<string, Issued>, acceptForeign: boolean): SignatureCheck {
  const model = stringOr(body.model, "");
  const drops = dropsMismatches(body);
  let fingerprint = headFingerprint(body);
  const tokens: string[] = [];
  const mismatched: string[] = [];
  let dropped = 0;
  for (const [at, message] of objectsIn(body.messages).entries()) {
    for (const [index, block] of contentBlocks(message.content).entries()) {
      const token = tokenOf(block);
      if (token === null) {
        fingerprint = extend(fingerprint, String(message.role), block);
        continue;
      }
      const known = issued.get(token);
      const path = `messages.${at}.content.${index}`;
      if (known === undefined && !acceptForeign) {
        return { problem: `${path}: Invalid \`signature\` in \`thinking\` block`, dropped, mismatched };
      }
      const otherModel = known !== undefined && known.model !== model;
      const misplaced = known !== undefined && !otherModel && !isBound(known, { block, fingerprint, tokens });
      if (misplaced && !drops) {
        return {
          problem: `${path}: this \`thinking\` block is bound to a different conversation`,
          dropped,
          mismatched,
        };
      }
      if (misplaced) mismatched.push(path);
      if (misplaced || otherModel) dropped += 1;
      tokens.push(token);
    }
  }
  return { problem: null, dropped, mismatched };
}

function isBound(
  known: Issued,
  here: { readonly block: JsonObject; readonly fingerprint: string; readonly tokens: readonly string[] },
): boolean {
  const { block, fingerprint, tokens } = here;
  const text = block.type === "thinking" ? stringOr(block.thinking, "") : "";
  const kept = tokens.length === 0 ? [] : known.before.slice(-tokens.length);
  const frontOnly = kept.length === tokens.length && kept.every((token, index) => token === tokens[index]);
  return text === known.thinking && frontOnly && fingerprint === known.fingerprint;
}

function prefixOf(
  body: JsonObject,
  content: readonly JsonObject[],
): { readonly fingerprint: string; readonly tokens: readonly string[] } {
  const tokens: string[] = [];
  let fingerprint = headFingerprint(body);
  const walk = (role: string, blocks: readonly JsonObject[]): void => {
    for (const block of blocks) {
      const token = tokenOf(block);
      if (token === null) fingerprint = extend(fingerprint, role, block);
      else tokens.push(token);
    }
  };
  for (const message of objectsIn(body.messages)) walk(String(message.role), contentBlocks(message.content));
  walk("assistant", content);
  return { fingerprint, tokens };
}

function headFingerprint(body: JsonObject): string {
  const head = prefixBlocks({ ...body, messages: [] });
  return head.reduce((fingerprint, { place, block }) => extend(fingerprint, place, block), "");
}

/**
 * The fingerprint of a prefix with one more block behind it; a blank text leaves it as it was. The order of a block's
 * own fields says nothing to a vendor that parses JSON; inside them, as in a call's input, order counts.
 */
function extend(fingerprint: string, role: string, block: JsonObject): string {
  if (block.type === "text" && !/\S/u.test(stringOr(block.text, ""))) return fingerprint;
  const fields = Object.entries(unmarkedFields(block)).sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash("sha256")
    .update(`${fingerprint}\n${role}\n${JSON.stringify(fields)}`)
    .digest("hex");
}

function unmarkedFields(block: JsonObject): JsonObject {
  const bare = unmarked(block);
  return isObject(bare) ? bare : {};
}

function tokenOf(block: JsonObject): string | null {
  if (block.type === "thinking") return stringOr(block.signature, "");
  return block.type === "redacted_thinking" ? stringOr(block.data, "") : null;
}

function dropsMismatches(body: JsonObject): boolean {
  const binding = isObject(body.thinking) ? body.thinking.block_binding : undefined;
  return isObject(binding) && binding.prefix_mismatch_behavior === "drop_block";
}
