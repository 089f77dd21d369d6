/** What happens in a random log, as values that shrink: turns of steps of blocks, with everything that can go wrong. */
import fc from "fast-check";

const texts = fc.constantFrom(
  "hello",
  "a\n",
  "  \n",
  " lead",
  "",
  "x".repeat(50),
  "half \ud83d",
  "[continue]",
  "naïve 😀",
);
const spoken = fc.oneof(texts, fc.constantFrom("one", "two", "three"));
const argsTexts = fc.constantFrom(
  "{}",
  "",
  '{"z":1.0,"a":2}',
  '{"z":',
  "[1]",
  '"s"',
  '{"__proto__":{"a":1}}',
  '{"n":12345678901234567890}',
);
const callNames = fc.constantFrom("bash", "read", "functions.read", "", "x".repeat(70));

export type Block =
  | {
      readonly kind: "signed" | "unsigned" | "other-scope" | "redacted" | "partial" | "text" | "part" | "token-text";
      readonly text: string;
    }
  | { readonly kind: "call"; readonly id: string | null; readonly args: string; readonly name: string };
const thinkingKinds = ["signed", "signed", "unsigned", "other-scope", "redacted", "partial"] as const;
const calls = fc.record({
  kind: fc.constant("call" as const),
  // Null makes a fresh legal id; the others repeat within one log, as those of small local servers do.
  id: fc.oneof(
    { weight: 5, arbitrary: fc.constant(null) },
    fc.constantFrom("call_0", "a|b", "", "y".repeat(60), "__proto__"),
  ),
  args: argsTexts,
  name: callNames,
});
const blocks: fc.Arbitrary<Block> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom(...thinkingKinds), text: texts }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom("text", "part", "token-text"), text: spoken }) },
  { weight: 5, arbitrary: calls },
);
const steps = fc.record({
  outcome: fc.oneof({ weight: 6, arbitrary: fc.constant("ok") }, fc.constantFrom("cut", "cancel", "refused", "ends")),
  blocks: fc.oneof(
    { weight: 18, arbitrary: fc.array(blocks, { maxLength: 6 }) },
    fc.array(blocks, { minLength: 20, maxLength: 26 }),
    { weight: 1, arbitrary: fc.array(calls, { minLength: 20, maxLength: 60 }) },
  ),
  order: fc.array(fc.nat(), { minLength: 1, maxLength: 8 }),
  results: fc.array(fc.constantFrom("ok", "", "error", "image", "broken-image", "twice", "ok"), {
    minLength: 1,
    maxLength: 8,
  }),
  early: fc.option(spoken, { freq: 5 }),
  steers: fc.array(spoken, { maxLength: 2 }),
  logged: fc.boolean(),
});
export type Step = typeof steps extends fc.Arbitrary<infer S> ? S : never;
/** Pictures, what goes as a file or as text, and what no model takes. */
const mediaTypes: fc.Arbitrary<string> = fc.constantFrom(
  "image/png",
  "image/png",
  "application/pdf",
  "text/plain",
  "application/zip",
);
const turns = fc.record({
  before: fc.constantFrom("", "", "", "note", "prefix", "compaction", "undo"),
  /** Whose turn it is: 0 is the model that the requests are for, the others are models of other profiles. */
  speaker: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.nat({ max: 7 })),
  messages: fc.array(spoken, { minLength: 1, maxLength: 2 }),
  attachments: fc.oneof(fc.constant<string[]>([]), fc.array(mediaTypes, { minLength: 1, maxLength: 3 })),
  late: fc.boolean(),
  steps: fc.array(steps, { minLength: 1, maxLength: 5 }),
});
export type Turn = typeof turns extends fc.Arbitrary<infer S> ? S : never;

export const scripts = fc.array(turns, { minLength: 1, maxLength: 5 });
