/** The outbox in the database of a real browser, on plain http by a name that is not loopback: no locks there. */
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";

const address = "http://varve.home/";
const entry = `
import { leaseGuard, leaseMs } from "./owner-guard.ts";
import { pageOutbox } from "./page-outbox.ts";
import { indexedDbStore } from "./page-store.ts";
const clock = { skewMs: 0, now: () => Date.now() + clock.skewMs, setTimer: (ms, fire) => {
  const timer = setTimeout(fire, ms);
  return { cancel: () => clearTimeout(timer) };
} };
globalThis.open = (owner) => {
  const page = { store: indexedDbStore(indexedDB), owner };
  const outbox = pageOutbox({ ...page, guard: leaseGuard(page, clock), clock });
  const got = [];
  const ids = (entries) => entries.map((entry) => entry.id).sort();
  outbox.adopted((entries) => got.push(...ids(entries)));
  const put = (id) => outbox.put({ tabId: "tab", id, text: id, attachments: [], delivery: "steer", at: 1 });
  return { load: async () => ids(await outbox.load()), put, remove: outbox.remove, got, outbox, clock, leaseMs };
};
globalThis.secure = [isSecureContext, "locks" in navigator];
`;

let script = "";
let browser: Browser;
beforeAll(async () => {
  const resolveDir = fileURLToPath(new URL(".", import.meta.url));
  const bundle = await build({ stdin: { contents: entry, resolveDir }, bundle: true, format: "iife", write: false });
  script = bundle.outputFiles[0]?.text ?? "";
  const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
  browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
}, 60_000);
afterAll(() => browser.close());

async function profile(): Promise<BrowserContext> {
  const context = await browser.newContext();
  const body = `<!doctype html><title>page</title><script>${script.replaceAll("</script", "<\\/script")}</script>`;
  await context.route("**/*", (route) => route.fulfill({ contentType: "text/html", body }));
  return context;
}
async function opened(context: BrowserContext, owner: string): Promise<Page> {
  const page = await context.newPage();
  await page.goto(address);
  await page.evaluate(`globalThis.it = open(${JSON.stringify(owner)}); undefined`);
  return page;
}
const ask = (page: Page, expression: string): Promise<unknown> => page.evaluate(`(async () => ${expression})()`);

test("[OUTBOX-101] two windows without locks: each keeps its own, and a crashed one's are taken once, after its lease", async () => {
  await using context = await profile();
  const crashing = await opened(context, "crashing");
  expect(await ask(crashing, "secure")).toEqual([false, false]);
  expect(await ask(crashing, "it.load()")).toEqual([]);
  await ask(crashing, 'Promise.all(["a", "b", "c"].map(it.put))');
  await ask(crashing, 'it.remove("c")');
  const [one, two] = [await opened(context, "one"), await opened(context, "two")];
  expect([await ask(one, "it.load()"), await ask(two, "it.load()")]).toEqual([[], []]);
  // Nobody says good-bye for it: only `pagehide` would, and no listener is there.
  await crashing.close();
  for (const page of [one, two]) await ask(page, "void it.outbox.awake()");
  expect([await ask(one, "it.got"), await ask(two, "it.got")]).toEqual([[], []]);
  for (const page of [one, two]) await ask(page, "void (it.clock.skewMs = it.leaseMs + 1)");
  await Promise.all([one, two].map((page) => ask(page, "void it.outbox.awake()")));
  const got = async () => [await ask(one, "it.got"), await ask(two, "it.got")];
  await expect.poll(async () => (await got()).flat()).toEqual(["a", "b"]);
  // Both of one owner's entries went to one page.
  expect((await got()).map((ids) => (Array.isArray(ids) ? ids.length : -1)).sort()).toEqual([0, 2]);
});

test("[OUTBOX-8] a page that is closed leaves its messages to the next; a database of an earlier build is upgraded, or waited for", async () => {
  await using context = await profile();
  const old = await context.newPage();
  await old.goto(address);
  const makeOld = `new Promise((resolve) => {
    const opening = indexedDB.open("varve-outbox", 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore("entries", { keyPath: "id" });
    opening.onsuccess = () => {
      globalThis.held = opening.result;
      const writing = held.transaction("entries", "readwrite");
      writing.objectStore("entries").put({ id: "old", owner: "gone", entry: { id: "old", tabId: "tab", text: "old", at: 1 } });
      writing.oncomplete = () => resolve(null);
    };
  })`;
  await ask(old, makeOld);
  const first = await opened(context, "first");
  expect(await ask(first, "it.load().catch((error) => error.message)")).toContain("blocked");
  await old.close();
  expect(await ask(first, "it.load()")).toEqual(["old"]);
  await ask(first, 'it.put("typed")');
  await ask(first, "void it.outbox.release()");
  const second = await opened(context, "second");
  await expect.poll(() => ask(second, "it.load()")).toEqual(["old", "typed"]);
  await ask(first, "void it.outbox.awake()");
  expect(await ask(second, "it.load()")).toEqual(["old", "typed"]);
});
