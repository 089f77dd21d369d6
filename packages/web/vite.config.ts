import { fileURLToPath } from "node:url";
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";

const build = process.env.VARVE_BUILD;

/** The page carries no inline script or style, so that the server's content policy can forbid both. */
export default defineConfig({
  base: "/",
  plugins: [svelte()],
  ...(build === undefined ? {} : { define: { __VARVE_BUILD__: JSON.stringify(build) } }),
  build: {
    outDir: fileURLToPath(new URL("../../dist/web", import.meta.url)),
    emptyOutDir: true,
    target: "es2023",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
});
