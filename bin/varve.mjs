#!/usr/bin/env node
// Varve from a built checkout. Nothing is checked, installed or built here: the time until the server is ready counts.
import { existsSync } from "node:fs";
import module from "node:module";
import { fileURLToPath } from "node:url";

const dist = new URL("../dist/", import.meta.url);
const main = new URL("server/main.mjs", dist);

if (existsSync(main)) {
  silenceSqliteNotice();
  module.enableCompileCache?.(fileURLToPath(new URL(".compile-cache", dist)));
  await import(main.href);
} else {
  process.stderr.write("Varve is not built yet: run `npm start` in this checkout once, which builds it.\n");
  process.exitCode = 1;
}

/** Node 22 announces on each start that its SQLite is experimental. Every other warning stays. */
function silenceSqliteNotice() {
  const emitWarning = process.emitWarning;
  process.emitWarning = (warning, ...rest) => {
    if (String(warning).startsWith("SQLite is an experimental feature")) return;
    emitWarning.call(process, warning, ...rest);
  };
}
