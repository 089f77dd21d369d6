import { writeFileSync } from "node:fs";

/**
 * Counts a finished run. A file that failed to load and a suite whose hook failed count as failed tests, and so does
 * each error that no test caught: a run with failed = 0 is a run in which nothing went wrong.
 */
export function countRun(modules, unhandled = []) {
  const counts = { passed: 0, failed: unhandled.length, skipped: 0 };
  for (const module of modules) {
    const before = counts.failed;
    for (const test of module.children.allTests()) {
      const { state } = test.result();
      if (state === "passed") counts.passed += 1;
      else if (state === "failed") counts.failed += 1;
      else counts.skipped += 1;
    }
    for (const suite of module.children.allSuites()) counts.failed += suite.errors().length;
    counts.failed += module.errors().length;
    if (module.state() === "failed" && counts.failed === before) counts.failed += 1;
  }
  return counts;
}

export function countLine({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`;
}

/** Prints the counts as the last line, or leaves them in the file that `$VARVE_TEST_COUNTS` names for `npm test` to print. */
export default class CountReporter {
  onTestRunEnd(modules, unhandled) {
    const counts = countRun(modules, unhandled);
    if (counts.failed > 0) process.exitCode = 1;
    const file = process.env.VARVE_TEST_COUNTS;
    if (file) writeFileSync(file, JSON.stringify(counts));
    else process.stdout.write(`${countLine(counts)}\n`);
  }
}
