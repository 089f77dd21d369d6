import { main } from "./lib/programs.mjs";

// `npm run bench -- NAME [--seed N]`: a benchmark ends in one line of JSON, { name, counts, seed, figures }.
await main({ folder: "bench", command: "npm run bench" });
