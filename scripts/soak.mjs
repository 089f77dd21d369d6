import { main } from "./lib/programs.mjs";

// `npm run soak -- NAME [--short] [--seed N]`: long runs of the simulation; --short is the length that fits into a day's work.
await main({ folder: "packages/sim/src/soak", command: "npm run soak" });
