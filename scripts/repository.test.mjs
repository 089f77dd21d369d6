import { expect, test } from "vitest";
import { layerProblems } from "./check-layers.mjs";
import { limitProblems } from "./check-limits.mjs";
import { orderProblems } from "./check-order.mjs";
import { packageProblems } from "./check-packages.mjs";
import { purityProblems } from "./check-pure.mjs";
import { sizeProblems } from "./check-sizes.mjs";
import { specProblems } from "./check-spec.mjs";
import { wordProblems } from "./check-words.mjs";

// The repository's own rules are part of every test run; scripts/checks.test.mjs shows that each check can fail.
test.each([
  ["imports go one way, through public surfaces, without circles", layerProblems],
  ["every rule is held by something, every id in a title is a rule", specProblems],
  ["names use the glossary's words", wordProblems],
  ["files and functions fit into a reader's head", sizeProblems],
  ["nothing is ordered by an id or a clock", orderProblems],
  ["versions are exact, and the lock fits and names no host", packageProblems],
  ["every limit stands in the table of limits with its value", limitProblems],
  ["the pure rooms get the outer world passed in", purityProblems],
])("%s", (_name, problems) => expect(problems()).toEqual([]));
