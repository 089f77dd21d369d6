/** What a run says to a model: a head that is long enough for every vendor's cache, one tool, and short orders. Pure. */
import type { ToolDefinition } from "@varve/protocol";
import { createPrng } from "../prng.ts";

/** Above every vendor's minimum prefix (4096 tokens), also where a token is longer than four characters. */
const headChars = 21_000;
const words = ["ledger", "harbour", "copper", "window", "valley", "pencil", "orchard", "signal", "marble", "lantern"];

/** A system prompt that no cache has seen: `name` stands in front of everything else. */
export function headText(name: string): string {
  const prng = createPrng(7);
  const word = (): string => words[prng.int(0, words.length - 1)] ?? "";
  const lines = [
    `Run ${name}. You take part in a measurement. Follow the orders of the user, think as little as you can, and keep every answer under ten words.`,
    "The list below is only there to be long. Never speak of it.",
  ];
  let length = 0;
  for (let entry = 1; length < headChars; entry += 1) {
    const line = `Entry ${entry}: the ${word()} stands between the ${word()} and the ${word()} near the ${word()}.`;
    lines.push(line);
    length += line.length + 1;
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
