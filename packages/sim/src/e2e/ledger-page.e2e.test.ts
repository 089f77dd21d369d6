/** Cost, context and limits as a person meets them on the real page. */
import { copyFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeProject } from "../project.ts";
import { createFakeProvider } from "../provider/fake-provider.ts";
import type { FakeRequest } from "../provider/request-view.ts";
import type { Reply } from "../provider/script.ts";
import { recordedDataDir, WITHOUT_RECORDINGS } from "../recorded/data-dir.ts";
import { desktop, launchBrowser, phone, shot, visit } from "./browser.ts";
import { refusals } from "./log-checks.ts";
import { Product } from "./product.ts";
import { call, freshText, say } from "./scripted-agent.ts";
import { TabPage } from "./tab-page.ts";

const opus = "anthropic/claude-opus-5-5";
const sonnet = "anthropic/claude-sonnet-5-5";

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser?.close());

/** As the page writes small sums. */
const money = (price: number): string => `$${price.toFixed(price < 0.1 ? 4 : 2)}`;

/** Runs three commands when told to, answers at length, and sums up in one sentence. */
function worker(request: FakeRequest): Reply {
  if (request.lastUserText.startsWith("Please write a summary"))
    return { blocks: [say("We talked, and nothing is open.")] };
  const fresh = freshText(request);
  if (fresh.includes("run three")) return { blocks: [call("bash", { command: "echo one" })] };
  const commands =
    request.lastResults.length > 0 && request.messages.filter(({ calls }) => calls.length > 0).length < 3;
  if (commands) return { blocks: [call("bash", { command: "echo more" })] };
  return { blocks: [say(`I read it: ${fresh.split("\n").at(-1)}. ${"Words that fill a turn. ".repeat(90)}`)] };
}

describe.each([
  ["desktop", desktop],
  ["phone", phone],
] as const)("on a %s", (size, screen) => {
  test("a person reads the bill, looks at a request, sees prices before a change, answers a limit, sums up and undoes it", async () => {
    await using project = await makeProject("empty");
    await project.write("AGENTS.md", "Answer in one word.");
    await using provider = await createFakeProvider({
      models: ["claude-opus-5-5", "claude-sonnet-5-5"],
      reply: worker,
    });
    await using product = await Product.start({ provider });
    await using visitor = await visit(browser, product.url, screen);
    const record = await product.api.newTab({
      cwd: project.dir,
      model: opus,
      permissions: "allow",
      title: "The bill",
      options: { stepsMax: 2 },
    });
    const tab = new TabPage(visitor.page);
    const picture = (name: string): Promise<void> => shot(visitor.page, `${size}-ledger-${name}`);
    await tab.signIn(product.link);
    await tab.goTo(record.id);

    // A limit asks in the page, and is answered there.
    await tab.send("run three");
    await tab.at("limit-prompt").waitFor();
    expect(await tab.text("limit-used")).toContain("2 of 2");
    await picture("limit");
    await tab.at("limit-amount").fill("50");
    await tab.at("limit-raise").click();
    await tab.at("limit-prompt").waitFor({ state: "detached" });
    await tab.untilAtRest();
    expect((await product.api.tab(record.id)).options.stepsMax).toBe(50);
    for (const text of ["first wish", "second wish", "third wish"]) {
      await tab.send(text);
      await tab.says(`I read it: ${text}`);
      await tab.untilAtRest();
    }

    // The bill: what the table says is what the route says, step by step.
    await expect.poll(() => tab.text("meter-cost")).toMatch(/^\$0\.\d+/);
    await tab.at("meter-cost").click();
    await tab.at("step-table").waitFor();
    const steps = await product.api.steps(record.id);
    await expect.poll(() => tab.at("step").count()).toBe(steps.length);
    expect(steps.length).toBe(provider.calls.length);
    await picture("cost");
    expect(await tab.sideways()).toBe(0);

    // What was sent, by block.
    await tab.at("panel-requests").click();
    await tab.at("request").first().click();
    await tab.at("sent-request").waitFor();
    await tab.at("intact").waitFor();
    const sent = await product.api.sentRequest(record.id, steps.at(-1)?.requestSeq ?? 0);
    await expect.poll(() => tab.at("sent-block").count()).toBe(sent.blocks.length);
    expect(new Set(sent.blocks.map(({ state }) => state))).toEqual(new Set(["cached", "written"]));
    await picture("request");
    expect(await tab.sideways()).toBe(0);

    // What changed outside is in sight with its price, and one click tells it.
    await project.write("AGENTS.md", "Answer in two words.");
    await tab.at("panel-context").click();
    await tab.at("context-change").filter({ hasText: "AGENTS.md" }).waitFor();
    await picture("context");
    await tab.at("context-tell").click();
    await tab.at("no-changes").waitFor();
    expect((await product.api.context(record.id)).changes).toEqual([]);

    // Summing up, and back.
    await tab.at("compact-now").click();
    await tab.at("compaction-done").waitFor();
    await picture("compacted");
    await tab.at("panel-cache").click();
    await tab.at("cache-part").waitFor();
    await picture("cache");
    await visitor.page.keyboard.press("Escape");
    await tab.at("panel").waitFor({ state: "detached" });
    await tab.at("undo-here").waitFor();
    await picture("separator");
    await tab.at("undo-here").click();
    await expect.poll(async () => (await product.api.context(record.id)).compactions[0]?.undone).toBe(true);
    await tab.at("undo-here").waitFor({ state: "detached" });

    // Another model: its price stands there before it is chosen.
    const preview = await product.api.preview(record.id, { model: sonnet });
    if (size === "phone") await tab.at("tab-controls").click();
    await tab.at("model-picker").selectOption(sonnet);
    await tab.at("change-dialog").waitFor();
    await tab.at("preview").waitFor();
    expect(await tab.text("preview")).toContain(money(preview.price ?? Number.NaN));
    await picture("change");
    await tab.at("change-apply").click();
    await expect.poll(async () => (await product.api.tab(record.id)).model).toBe(sonnet);
    await tab.send("fourth wish");
    await tab.says("I read it: fourth wish");
    await tab.untilAtRest();
    expect(provider.calls.at(-1)?.body.model).toBe("claude-sonnet-5-5");

    // All tabs by day.
    if (size === "phone") await tab.at("open-drawer").first().click();
    await tab.at("open-usage").first().click();
    await tab.at("usage-page").waitFor();
    await tab.at("day-bar").last().waitFor();
    const { today } = await product.api.usage();
    expect(await tab.text("today")).toContain(money(today.price));
    await picture("usage");
    expect(await tab.sideways()).toBe(0);
    expect(refusals(provider)).toEqual([]);
    expect(visitor.complaints).toEqual([]);
  });
});

const data = recordedDataDir();
test.skipIf(data === null)(
  `on the first run a recording of another tool is found, and its bill is read on the page${WITHOUT_RECORDINGS}`,
  async () => {
    await using product = await Product.start();
    const folder = join(product.env().HOME ?? "", ".pi/agent/sessions/--work--");
    await mkdir(folder, { recursive: true });
    await copyFile(join(data ?? "", "sessions/pi/large-session.jsonl"), join(folder, "2026-01-01_one.jsonl"));
    await using visitor = await visit(browser, product.url, phone);
    const page = new TabPage(visitor.page);
    await page.signIn(product.link);
    await page.at("found-recordings").waitFor();
    await shot(visitor.page, "phone-recordings-found");
    await page.at("found-recordings").getByRole("link").click();
    await page.at("show-bill").click();
    await page.at("rewritten").waitFor();
    expect(await page.text("bill")).toContain("$30.33");
    expect(await page.at("bill-causes").locator("tr").count()).toBeGreaterThan(1);
    await page.at("bill").scrollIntoViewIfNeeded();
    await shot(visitor.page, "phone-recording-bill");
    expect(await page.sideways()).toBe(0);
    expect(visitor.complaints).toEqual([]);
  },
);
