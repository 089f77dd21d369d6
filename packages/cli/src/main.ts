/** The program. Bundled as `dist/server/main.mjs` and imported by `bin/varve.mjs`: it runs on import. */
import { nodeWorld } from "./node-world.ts";
import { run } from "./run.ts";

const code = await run(process.argv.slice(2), nodeWorld(import.meta.url));
process.exit(code);
