/**
 * The wire against real accounts: small scripted checks of what no fake can prove. `npm run live -- [PROVIDER] [--yes] ...`.
 * Says what it would send and cost; sends only with a key and `--yes`. The last line is one JSON object.
 */
import { randomUUID } from "node:crypto";
import { nodeClock } from "@varve/agent";
import { runLive } from "./run-live.ts";

process.exitCode = await runLive(process.argv.slice(2), {
  env: process.env,
  clock: nodeClock,
  fetch: globalThis.fetch,
  nonce: randomUUID(),
  wait: (ms) => new Promise((resolve) => nodeClock.setTimer(ms, resolve)),
  say: (line) => console.log(line),
});
