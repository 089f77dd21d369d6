import type { SentBlock } from "@varve/protocol";

const KINDS: Readonly<Record<SentBlock["kind"], string>> = {
  tools: "tool definitions",
  system: "system prompt",
  text: "text",
  thinking: "thinking",
  call: "tool call",
  result: "tool result",
  file: "file",
};
const ROLES: Readonly<Record<SentBlock["role"], string | null>> = {
  tools: null,
  system: null,
  tool: null,
  user: "person",
  assistant: "model",
};

/** Who said it and what it is. */
export function blockText({ role, kind }: Pick<SentBlock, "role" | "kind">): string {
  const who = ROLES[role];
  return who === null ? KINDS[kind] : `${KINDS[kind]} of the ${who}`;
}

export const stateText: Readonly<Record<SentBlock["state"], string>> = {
  cached: "read from the cache",
  written: "written to the cache",
  fresh: "paid in full",
  unknown: "not known",
};
