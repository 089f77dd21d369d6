import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { expect, test } from "vitest";

const bundled = await build({
  entryPoints: [fileURLToPath(new URL("./index.ts", import.meta.url))],
  bundle: true,
  write: false,
  minify: true,
  format: "esm",
  platform: "browser",
  metafile: true,
});
const code = bundled.outputFiles[0]?.contents ?? new Uint8Array();

test("[ENTRY-1] the light entry brings no schema library into a browser", () => {
  const inputs = Object.keys(bundled.metafile.inputs);
  expect(inputs.filter((path) => path.includes("node_modules"))).toEqual([]);
  expect(inputs.filter((path) => /\/(chunk|op|frame|command|rest|schema)\.ts$/.test(path))).toEqual([]);
  expect(inputs.length).toBeGreaterThan(5);
});
test("[ENTRY-1] and is small: under 8 KB compressed", () => {
  expect(code.length).toBeGreaterThan(1_000);
  expect(gzipSync(code).length).toBeLessThan(8 * 1024);
});
