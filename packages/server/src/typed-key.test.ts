import { expect, test } from "vitest";
import { typedKey } from "./typed-key.ts";

const key = "sk-ant-api03-Ab_9+/==";

test.each([
  ["as it is", key],
  ["between blanks and line ends", `\r\n  ${key}\t\n`],
  ["in quotes", `"${key}"`],
  ["in single quotes with a blank", `' ${key} '`],
  ["in the quotes of a text editor", `\u201C${key}\u201D`],
  ["in the quotes of a code block", `\`${key}\``],
  ["with signs that no page shows", `\uFEFF${key.slice(0, 5)}\u200B${key.slice(5)}\u00AD`],
  ["as a header", `Authorization: Bearer ${key}`],
  ["with its scheme", `bearer   ${key}`],
  ["as Anthropic's header", `x-api-key: ${key}`],
  ["as Google's header", `X-Goog-Api-Key:${key}`],
  ["as a line of a shell", `export ANTHROPIC_API_KEY=${key}`],
  ["the same, quoted and ended", `export ANTHROPIC_API_KEY="${key}";`],
  ["as a line of a file", `ANTHROPIC_API_KEY = '${key}'`],
  ["as PowerShell has it", `$env:ANTHROPIC_API_KEY="${key}"`],
  ["as a quoted header", `"Authorization: Bearer ${key}"`],
])("[SECRET-13] a pasted key is the key: %s", (_what, pasted) => {
  expect(typedKey(pasted)).toBe(key);
});

test.each([
  ["", ""],
  ["abc==", "abc=="],
  ["QUJD=", "QUJD="],
  ['"', '"'],
  ["two words", "two words"],
])("[SECRET-13] nothing else is taken away: %j", (pasted, kept) => {
  expect(typedKey(pasted)).toBe(kept);
});
