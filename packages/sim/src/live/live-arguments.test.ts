import { expect, test } from "vitest";
import { liveArguments } from "./live-arguments.ts";

test("a bare line asks about every provider, cheaply and without consent", () => {
  expect(liveArguments([])).toEqual({
    provider: null,
    model: null,
    other: null,
    only: null,
    ttl: "5m",
    isConfirmed: false,
    isPatient: false,
    moneyMax: 2,
  });
});

test("every flag is read, in any order", () => {
  const line = "--yes anthropic --model m --other o --only betas --ttl 1h --max-money 0.5 --patient";
  expect(liveArguments(line.split(" "))).toEqual({
    provider: "anthropic",
    model: "m",
    other: "o",
    only: "betas",
    ttl: "1h",
    isConfirmed: true,
    isPatient: true,
    moneyMax: 0.5,
  });
});

test.each([
  ["anthropic openai", "Name one provider"],
  ["nobody", "nobody is no provider"],
  ["--model m", "needs the name of its provider"],
  ["openai --model", "--model needs a value"],
  ["openai --model --yes", "--model needs a value"],
  ["--force", "--force is no flag"],
  ["--only nothing", "nothing is no check"],
  ["openai --only betas", "betas is no check of openai"],
  ["--ttl 2h", "--ttl is 5m or 1h"],
  ["--max-money much", "--max-money is US dollars"],
  ["--max-money 0", "--max-money is US dollars"],
  ["--max-money 51", "--max-money is US dollars"],
])("%s is refused with a sentence", (line, sentence) => {
  expect(liveArguments(line.split(" "))).toContain(sentence);
});
