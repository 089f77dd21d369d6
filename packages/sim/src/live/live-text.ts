/** What a run says to a model: a head that is long enough for every vendor's cache, one tool, and short orders. Pure. */
import type { ToolDefinition } from "@varve/protocol";
import { createPrng } from "../prng.ts";

/** With the opening far above every vendor's minimum prefix (4096 tokens). */
const headChars = 18_000;
/**
 * Long enough that a request which reads its system prompt alone reads less than nine tenths, and that one lost step is more
 * than a threshold forgives.
 */
const openingChars = 5_000;
const lineChars = 1_000;
const words = ["ledger", "harbour", "copper", "window", "valley", "pencil", "orchard", "signal", "marble", "lantern"];

/** A system prompt that no cache has seen: `name` stands in front of everything else. */
export const headText = (name: string): string =>
  [
    `Run ${name}. You take part in a measurement. Follow the orders of the user, think as little as you can, and keep every answer under ten words.`,
    "The list below is only there to be long. Never speak of it.",
    entries(7, headChars),
  ].join("\n");

/** A first order with a long list behind it. */
export const opening = (order: string): string =>
  `${order}\nThe list behind this line is only there to be long.\n${entries(8, openingChars)}`;

function entries(seed: number, chars: number): string {
  const prng = createPrng(seed);
  const word = (): string => words[prng.int(0, words.length - 1)] ?? "";
  const lines: string[] = [];
  for (let length = 0; length < chars; length += lines.at(-1)?.length ?? chars) {
    lines.push(`Entry ${lines.length + 1}: the ${word()} stands between the ${word()} and the ${word()}.`);
  }
  return lines.join("\n");
}

export const lookTool: ToolDefinition = {
  name: "look",
  description: "Returns one line of the list that is measured. Takes the number of the line.",
  inputSchema: {
    type: "object",
    properties: { n: { type: "integer", description: "Number of the line, from 1." } },
    required: ["n"],
  },
};

export const askForCalls =
  "Call the tool look with n = 1. When its result is there call it with n = 2, then with n = 3, and so on: exactly one call in each answer and no other words, until I tell you to stop.";
export const goOn = "Call the tool look once more, with the next number.";
export const askForWord = "Answer with the one word: ready.";
export const alsoThis = "One more thing: answer with the one word: noted.";
export const lineText = (number: number): string =>
  `Line ${number}: the tide table for pier ${number * 17} is complete.`;
export const longLineText = (number: number): string => `${lineText(number)}\n${entries(100 + number, lineChars)}`;
