/** The page while an agent works: steering, stopping, reloading, a second browser, a killed server. */
import { readFile } from "node:fs/promises";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeProject } from "../project.ts";
import { createFakeProvider } from "../provider/fake-provider.ts";
import { type FakeRequest, viewRequest } from "../provider/request-view.ts";
import { desktop, launchBrowser, phone, shot, visit } from "./browser.ts";
import { logProblems, refusals } from "./log-checks.ts";
import { Product } from "./product.ts";
import { call, freshText, say } from "./scripted-agent.ts";
import { TabPage } from "./tab-page.ts";

const model = "anthropic/claude-test";

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser?.close());

/** Works one step with a command when told to begin; answers everything else in words that show what it had read. */
const worker = (request: FakeRequest) => {
  const fresh = freshText(request);
  if (fresh.includes("begin"))
    return { blocks: [say("I begin with a command."), call("bash", { command: "echo one" })] };
  return {
    blocks: [
      say(`I read: ${fresh.trim() === "" ? "nothing new" : fresh.split("\n").at(-1)}. ${"More words. ".repeat(12)}`),
    ],
  };
};

describe.each([
  ["desktop", desktop],
  ["phone", phone],
] as const)("on a %s", (size, screen) => {
  test("a steer joins at the next step, a queued message waits for the end, stop holds what waits, and it goes on", async () => {
    await using project = await makeProject("empty");
    await using provider = await createFakeProvider({ models: ["claude-test"], reply: worker });
    await using product = await Product.start({ provider });
    await using visitor = await visit(browser, product.url, screen);
    const record = await product.api.newTab({ cwd: project.dir, model, permissions: "allow" });
    const tab = new TabPage(visitor.page);
    await tab.signIn(product.link);
    await tab.goTo(record.id);

    const first = provider.gate();
    await tab.send("begin");
    await first.step(1);
    await tab.says("I begin");
    await tab.send("use tabs", "steer");
    await tab.send("then document it", "queue");
    await tab.at("queue-card").nth(1).waitFor();
    await shot(visitor.page, `${size}-queue`);
    const second = provider.gate();
    first.release();
    await second.step(1);
    // The step's results are in, and with them the steer; the other one still waits.
    const joined = freshText(viewRequest("anthropic", 1, (await second.started).body));
    expect(joined).toContain("use tabs");
    expect(joined).not.toContain("document");
    await tab.says("I read: use tabs");
    expect(await tab.at("queue-card").count()).toBe(1);
    const third = provider.gate();
    second.release();
    await third.step(1);
    await tab.says("I read: then doc");
    await tab.at("queue-card").waitFor({ state: "detached" });
    await tab.send("one more thing", "queue");
    await tab.at("queue-card").waitFor();
    await tab.at("stop").click();
    await tab.event("Stopped");
    await tab.untilAtRest();
    expect(await tab.at("queue-card").getAttribute("data-state")).toBe("held");
    await shot(visitor.page, `${size}-held`);
    await tab.at("release-all").click();
    await tab.says("I read: one more thing");
    await tab.untilAtRest();

    expect(provider.calls).toHaveLength(4);
    expect(refusals(provider)).toEqual([]);
    const rows = await product.api.rows(record.id);
    expect(logProblems(rows, [])).toEqual([]);
    const said = rows.flatMap((row) => (row.role === "user" && row.type === "text" ? [row.data.text] : []));
    expect(said).toEqual(["begin", "use tabs", "then document it", "one more thing"]);
    expect(await tab.sideways()).toBe(0);
    expect(visitor.complaints).toEqual([]);
  });
});

test("H13: a reload in mid-stream and a second browser show the same text to the character", async () => {
  await using project = await makeProject("empty");
  const paragraphs = Array.from(
    { length: 12 },
    (_, index) => `Paragraph ${index} with *some* words, \`code${index}\` and 😀.`,
  );
  const text = `# Title\n\n${paragraphs.join("\n\n")}\n\n- one\n- two\n\nThe very end.`;
  await using provider = await createFakeProvider({
    script: [{ blocks: [{ type: "thinking", text: "I think first." }, say(text)], chunkSize: 9 }],
  });
  await using product = await Product.start({ provider });
  const record = await product.api.newTab({ cwd: project.dir, model, permissions: "allow" });
  await using one = await visit(browser, product.url);
  await using two = await visit(browser, product.url);
  const [first, second] = [new TabPage(one.page), new TabPage(two.page)];
  await first.signIn(product.link);
  await first.goTo(record.id);

  const gate = provider.gate();
  await first.send("tell me");
  await gate.step(40);
  await first.says("Paragraph 6");
  await first.page.reload();
  await first.says("Paragraph 6");
  await second.signIn((await product.cli("link")).out.trim().split(/\s/).at(-1) ?? "");
  await second.goTo(record.id);
  await second.says("Paragraph 6");
  // What streams on while both look reaches both.
  await gate.step(10);
  await Promise.all([first.says("Paragraph 8"), second.says("Paragraph 8")]);
  await expect.poll(() => second.words()).toBe(await first.words());
  await shot(one.page, "desktop-streaming");
  gate.release();
  await Promise.all([first.says("The very end."), second.says("The very end.")]);
  await Promise.all([first.untilAtRest(), second.untilAtRest()]);

  const words = await first.words();
  expect(await second.words()).toBe(words);
  await first.page.reload();
  await first.says("The very end.");
  expect(await first.words()).toBe(words);
  const shown = await first.text("assistant-text");
  expect(shown).toContain(paragraphs[11]?.replaceAll(/[*`]/g, ""));
  for (const page of [first, second]) {
    expect(await page.text("tab-model")).toContain("claude-test");
    expect(await page.text("tab-cwd")).toContain(project.dir);
    expect(await page.at("effort-picker").inputValue()).toBe(record.effort);
  }
  expect([...one.complaints, ...two.complaints]).toEqual([]);
});

test("killed in the middle of a command: the page connects again by itself, shows all that was sealed, and goes on", async () => {
  await using project = await makeProject("empty");
  const command = "echo run >> marker; echo halfway; sleep 120";
  await using provider = await createFakeProvider({
    reply: (request) => ({
      blocks: freshText(request).includes("again")
        ? [say("Here I am again.")]
        : [say("Running it."), call("bash", { command })],
    }),
  });
  await using product = await Product.start({ provider });
  await using visitor = await visit(browser, product.url, { ...desktop, colorScheme: "dark" });
  const record = await product.api.newTab({ cwd: project.dir, model, permissions: "allow" });
  const tab = new TabPage(visitor.page);
  await tab.signIn(product.link);
  await tab.goTo(record.id);
  await tab.send("run it");
  await tab.at("live-output").filter({ hasText: "halfway" }).waitFor();
  await shot(visitor.page, "desktop-running");
  await visitor.page.evaluate(() => {
    document.body.dataset.kept = "yes";
  });

  await product.kill();
  await visitor.page.locator('[data-testid="connection"][data-state="waiting"]').waitFor({ state: "attached" });
  await shot(visitor.page, "desktop-offline");
  // Written while nobody listens: it is kept, and sent once somebody does.
  await tab.send("are you there again?");
  await tab.at("pending-message").waitFor();
  await product.restart();
  await visitor.page.locator('[data-testid="connection"][data-state="live"]').waitFor({ state: "attached" });
  await tab.event(/restarted/);
  await tab.says("Here I am again.");
  await tab.untilAtRest();
  await expect.poll(() => tab.at("tab-row").getAttribute("data-mark")).toBe("quiet");
  await shot(visitor.page, "desktop-restarted");

  expect(await visitor.page.evaluate(() => document.body.dataset.kept)).toBe("yes");
  expect(await tab.words()).toMatch(
    /^run it\n---\nRunning it\.\n---\n[\s\S]*are you there again\?\n---\nHere I am again\.$/,
  );
  expect(await tab.at("pending-message").count()).toBe(0);
  expect(await readFile(project.path("marker"), "utf8")).toBe("run\n");
  expect(logProblems(await product.api.rows(record.id), [])).toEqual([]);
  expect(refusals(provider)).toEqual([]);
  expect(visitor.complaints).toEqual([]);
});
