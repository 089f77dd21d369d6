/** Two people look at one tab of the built product: what one does to its cost and context, the other sees without asking. */
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { makeProject } from "../project.ts";
import { createFakeProvider } from "../provider/fake-provider.ts";
import { launchBrowser, visit } from "./browser.ts";
import { Follower } from "./follower.ts";
import { Product } from "./product.ts";
import { say } from "./scripted-agent.ts";
import { TabPage } from "./tab-page.ts";

/** As when a person turns to another tab of the browser, or comes back. */
const look = (page: Page, state: "hidden" | "visible"): Promise<void> =>
  page.evaluate((wanted) => {
    Object.defineProperty(document, "visibilityState", { value: wanted, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  }, state);

test("an open panel follows what another client changes, tells and applies, and model names that reorder are written out; a page that nobody sees asks for nothing", async () => {
  await using project = await makeProject("empty");
  await project.write("AGENTS.md", `Be brief.\n${"A rule of this project. ".repeat(400)}`);
  await using provider = await createFakeProvider({ reply: () => ({ blocks: [say("done")] }) });
  await using product = await Product.start({ provider });
  const { api } = product;
  const tab = await api.newTab({ cwd: project.dir, model: "anthropic/claude-opus-5-5", permissions: "allow" });
  {
    using follower = await Follower.on(api, tab.id);
    await follower.untilAnswered((await api.send(tab.id, "begin")).id);
  }
  await project.write("AGENTS.md", `Be long.\n${"A rule of this project. ".repeat(400)}`);

  const browser = await launchBrowser();
  try {
    await using seen = await visit(browser, product.url);
    const page = new TabPage(seen.page);
    await page.signIn(product.link);
    await page.goTo(tab.id);
    await page.at("meter-context").click();
    await page.at("context-change").waitFor();

    await api.apply(tab.id, "tell");
    await page.at("no-changes").waitFor();

    await page.at("panel-cache").click();
    await page.at("warm-state").filter({ hasText: "Off." }).waitFor();
    await api.patch(tab.id, { options: { keepWarm: { on: true, countMax: 2, moneyMax: 0.1 } } });
    await page.at("warm-state").filter({ hasText: "On;" }).waitFor();
    await page.at("warm-off").waitFor();

    await api.patch(tab.id, { model: "openai-compatible/a\u202Eb\u200Bc" });
    await page.at("no-ttl").waitFor();
    const head = await page.text("tab-model");
    expect(head).toContain("a⟨U+202E⟩b⟨U+200B⟩c");

    const reads: string[] = [];
    seen.page.on("request", (request) => {
      if (request.url().endsWith("/context")) reads.push(request.url());
    });
    await look(seen.page, "hidden");
    await api.patch(tab.id, { options: { keepWarm: { on: false, countMax: 2, moneyMax: 0.1 } }, model: tab.model });
    await page.at("tab-model").filter({ hasText: "claude-opus-5-5" }).waitFor();
    expect(reads).toEqual([]);
    await look(seen.page, "visible");
    await page.at("warm-on").filter({ hasText: "Keep warm" }).waitFor();
    await page.at("cache-ttl").waitFor();
    expect(reads.length).toBeGreaterThan(0);
    expect(seen.complaints).toEqual([]);
  } finally {
    await browser.close();
  }
});
