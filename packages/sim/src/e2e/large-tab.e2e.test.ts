/** A tab of 100,000 rows in a real browser: it opens, pages, streams and evicts as one of a thousand rows does. */
import { nodeClock } from "@varve/agent";
import { limits, type TabId } from "@varve/protocol";
import { frameSchema, pageSchema } from "@varve/protocol/schema";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createSeededIds } from "../fake-ids.ts";
import { growTab, type LargeTab } from "../large-tab.ts";
import { makeProject, type Project } from "../project.ts";
import { createFakeProvider, type FakeProvider } from "../provider/fake-provider.ts";
import { createFaultProxy, type FaultProxy } from "../proxy/fault-proxy.ts";
import { launchBrowser, type Visit, visit } from "./browser.ts";
import { Follower } from "./follower.ts";
import { isFlat, pageHeap, residentBytes } from "./heap.ts";
import { Product } from "./product.ts";
import { call, say } from "./scripted-agent.ts";
import { TabPage } from "./tab-page.ts";

/** The machine may be busy with other things. */
const patient = { interval: 20, timeout: 60_000 };
const rows = 100_000;
const model = "anthropic/claude-test";
/** Rows of one made turn, and what of them is on screen. */
const turnRows = 10;

let project: Project;
let provider: FakeProvider;
let product: Product;
let large: LargeTab;
let tabId: TabId;

beforeAll(async () => {
  project = await makeProject("empty");
  // Two steps: six rows that people see, and what the log keeps of the requests.
  provider = await createFakeProvider({
    reply: ({ lastResults }) =>
      lastResults.length > 0
        ? { blocks: [say(`After that: ${"word ".repeat(200)}end.`)] }
        : { blocks: [say("First a command."), call("bash", { command: "echo hello" })] },
  });
  product = await Product.start({ provider });
  const tab = await product.api.newTab({ cwd: project.dir, model, permissions: "allow" });
  tabId = tab.id;
  const { id } = await product.api.send(tabId, "begin");
  {
    using follower = await Follower.on(product.api, tabId);
    await follower.untilAnswered(id);
  }
  await product.stop();
  const ids = createSeededIds(1, nodeClock.now);
  large = await growTab({ home: product.home, tabId, rows, ids, clock: nodeClock });
  await product.restart();
});
afterAll(async () => {
  await product?.[Symbol.asyncDispose]();
  await provider?.close();
  await project?.remove();
});

const getPage = async (query: string) => {
  const { url, token } = product.api;
  const begun = performance.now();
  const response = await fetch(`${url}/api/tabs/${tabId}/chunks?${query}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const text = await response.text();
  return { ms: performance.now() - begun, bytes: text.length, page: pageSchema.parse(JSON.parse(text)) };
};

describe("H17: a tab of 100,000 rows over REST", () => {
  test("a page of a hundred is under 200 kB, and without a limit the answer is the default page", async () => {
    const times: number[] = [];
    for (const before of [large.tail, 50_000, 5_000, 200]) {
      for (let n = 0; n < 5; n += 1) {
        const { ms, bytes, page } = await getPage(`limit=100&before=${before - n * 10}`);
        times.push(ms);
        expect(page.chunks).toHaveLength(100);
        expect(bytes).toBeLessThan(200_000);
      }
    }
    console.log(`large tab: page of 100 in ${times.toSorted((a, b) => a - b)[18]?.toFixed(1)} ms (p95)`);
    const { page } = await getPage("");
    expect(page.chunks).toHaveLength(limits.pageRowsDefault);
    expect([page.tail, page.total]).toEqual([large.tail, large.tail]);
    expect((await getPage("limit=100000")).page.chunks.length).toBeLessThanOrEqual(limits.pageRowsMax);
  });

  test("ten readers at once cost the server little", async (context) => {
    const before = await residentBytes(product.pid);
    if (before === null) return context.skip("no /proc to read memory from");
    const all = Array.from({ length: 10 }, (_, n) => getPage(`limit=500&before=${50_000 + n * 1_000}`));
    await Promise.all(all);
    expect(((await residentBytes(product.pid)) ?? 0) - before).toBeLessThan(100e6);
  });
});

describe("a tab of 100,000 rows in a browser", () => {
  let browser: Awaited<ReturnType<typeof launchBrowser>>;
  let proxy: FaultProxy;
  let seen: Visit;
  let tab: TabPage;
  const fetched = new RowCounter();

  beforeAll(async () => {
    browser = await launchBrowser();
    proxy = await createFaultProxy({ target: () => product.url, clock: nodeClock });
    seen = await visit(browser, proxy.url);
    tab = new TabPage(seen.page);
    await tab.signIn(product.link.replace(product.url, proxy.url));
    fetched.watch(seen.page);
  });
  afterAll(async () => {
    await browser?.close();
    await proxy?.[Symbol.asyncDispose]();
  });

  test("opens with the newest rows, pages twenty pages up and back, and holds no more than its window", async () => {
    const painted = await firstPaint(seen.page, tabId);
    console.log(`large tab: first rows painted in ${painted.toFixed(0)} ms`);
    expect(fetched.take()).toBeLessThanOrEqual(limits.pageRowsDefault);
    const opened = await pageHeap(seen.page);

    const heaps: number[] = [];
    for (let page = 1; page <= 20; page += 1) {
      const from = await shownTurns(seen.page);
      await scrollTo(seen.page, "top");
      await expect.poll(async () => (await shownTurns(seen.page)).lo, patient).toBeLessThan(from.lo);
      expect(fetched.take()).toBeLessThanOrEqual(2 * limits.pageRowsDefault);
      await withinWindow(seen.page);
      if (page === 5) heaps.push(await pageHeap(seen.page));
    }
    heaps.push(await pageHeap(seen.page));
    expect((await shownTurns(seen.page)).lo).toBeLessThanOrEqual((large.tail - 2_000) / turnRows);
    await untilAttached(tab);
    heaps.push(await pageHeap(seen.page));
    for (const heap of heaps) expect(isFlat(heaps[0] ?? 0, heap), `${heaps.join(", ")}`).toBe(true);
    fetched.take();
    console.log(`large tab: heap ${[opened, ...heaps].map((heap) => (heap / 1e6).toFixed(1)).join(", ")} MB`);
  });

  test("streams a turn into the full window, evicts at the other end, and fetches no old row for it", async () => {
    await tab.watchStreaming();
    await tab.send("one more");
    await tab.says("After that:");
    await tab.untilAtRest();
    expect(await tab.hasStreamed()).toBe(true);
    expect(fetched.take()).toBeLessThanOrEqual(6 + 100);
    await withinWindow(seen.page);
    const kept = await pageHeap(seen.page);
    for (let turn = 0; turn < 3; turn += 1) {
      await tab.send(`and again ${turn}`);
      await tab
        .at("user-message")
        .filter({ hasText: `and again ${turn}` })
        .waitFor();
      await tab.untilAtRest();
    }
    await withinWindow(seen.page);
    expect(isFlat(kept, await pageHeap(seen.page))).toBe(true);
  });

  test("a page that was away for a turn of six chunks fetches those, not the tab", async () => {
    fetched.take();
    proxy.refuse(true);
    for (const connection of proxy.connections()) connection.cut();
    await seen.page.locator('[data-testid="connection"]:not([data-state="live"])').waitFor({ state: "attached" });
    using follower = await Follower.on(product.api, tabId);
    await follower.untilAnswered((await product.api.send(tabId, "while you were away")).id);
    proxy.heal();
    await seen.page.evaluate(() => dispatchEvent(new Event("online")));
    await tab.at("user-message").filter({ hasText: "while you were away" }).waitFor();
    await tab.untilAtRest();
    expect(fetched.take()).toBeLessThanOrEqual(6 + 100);
    await withinWindow(seen.page);
    expect(seen.complaints).toEqual([]);
  });
});

/** Counts the rows that reach a page, by whichever way. */
class RowCounter {
  #count = 0;

  watch(page: Page): void {
    page.on("response", (response) => {
      if (!/\/chunks\?/.test(response.url())) return;
      void response.json().then((body: unknown) => {
        this.#count += pageSchema.parse(body).chunks.length;
      });
    });
    page.on("websocket", (socket) => {
      socket.on("framereceived", ({ payload }) => this.#frame(payload.toString()));
    });
  }

  /** Rows since the last time. */
  take(): number {
    const count = this.#count;
    this.#count = 0;
    return count;
  }

  #frame(text: string): void {
    const frame = frameSchema.parse(JSON.parse(text));
    if (frame.type === "head") this.#count += frame.rows.length;
    if (frame.type === "ops") this.#count += frame.ops.filter(({ op }) => op === "chunk-seal").length;
  }
}

/** Milliseconds from the click to the frame that shows rows. */
const firstPaint = (page: Page, tab: TabId): Promise<number> =>
  page.evaluate(async (fragment) => {
    const begun = performance.now();
    location.hash = fragment;
    while (document.querySelector("[data-row]") === null) await new Promise(requestAnimationFrame);
    await new Promise(requestAnimationFrame);
    return performance.now() - begun;
  }, `#/tab/${tab}`);

const scrollTo = (page: Page, end: "top" | "bottom"): Promise<void> =>
  page.getByTestId("rows").evaluate((scroller, to) => {
    scroller.scrollTop = to === "top" ? 0 : scroller.scrollHeight;
  }, end);

/** Numbers of the first and the last made turn on the page, and how many elements stand for rows. */
const shownTurns = (page: Page): Promise<{ lo: number; hi: number; elements: number }> =>
  page.evaluate(() => {
    const texts = [...document.querySelectorAll('[data-testid="user-message"]')].map((one) => one.textContent ?? "");
    const numbers = texts.flatMap((text) => /Message (\d+)\./.exec(text)?.[1] ?? []).map(Number);
    const elements = document.querySelectorAll("[data-row]").length;
    return { lo: Math.min(...numbers), hi: Math.max(...numbers), elements };
  });

/** The window's rows, by the turns that are on screen; of every ten rows seven have an element. */
async function withinWindow(page: Page): Promise<void> {
  const { lo, hi, elements } = await shownTurns(page);
  const whole = Number.isFinite(lo) ? Math.max(0, hi - lo - 1) * turnRows : 0;
  expect(whole).toBeLessThanOrEqual(limits.windowRowsMax);
  expect(elements).toBeLessThanOrEqual(limits.windowRowsMax);
}

/** Back to the end by scrolling, page by page. */
async function untilAttached(tab: TabPage): Promise<void> {
  for (let pages = 0; pages < 60; pages += 1) {
    if ((await tab.page.getByText("Newer rows below").count()) === 0 && (await tab.at("to-end").count()) === 0) return;
    const from = await shownTurns(tab.page);
    await scrollTo(tab.page, "bottom");
    await expect
      .poll(async () => {
        const now = await shownTurns(tab.page);
        return now.hi > from.hi || (await tab.at("to-end").count()) === 0;
      }, patient)
      .toBe(true);
  }
  throw new Error("sixty pages down are not enough");
}
