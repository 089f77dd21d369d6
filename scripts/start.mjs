// `npm start`: makes the checkout ready and then becomes the server, in this same process. Everything newer than what an
// old Node can read is imported after the version is known to be good.
import { nodeTooOld } from "./lib/node-version.mjs";

const args = process.argv.slice(2);
const sentence = nodeTooOld(process.versions.node);

if (sentence !== undefined) fail(sentence, 1);
else run().catch((error) => fail(error instanceof Error ? error.message : String(error), 1));

async function run() {
  const { misplacedArgument } = await import("./lib/start-arguments.mjs");
  const misplaced = misplacedArgument(args, process.env);
  if (misplaced !== undefined) {
    fail(misplaced, 2);
    return;
  }
  const { ensure } = await import("./ensure.mjs");
  await ensure();
  await import("../bin/varve.mjs");
}

function fail(line, code) {
  process.stderr.write(`${line}\n`);
  process.exitCode = code;
}
