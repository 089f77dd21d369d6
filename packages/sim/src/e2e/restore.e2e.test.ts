/** An older copy of the database is put back while pages are open: they say so, and offer what the server has forgotten. */
import { copyFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeProject } from "../project.ts";
import { createFakeProvider } from "../provider/fake-provider.ts";
import { disagreements, shownRows } from "../proxy/agreement.ts";
import { launchBrowser, shot, visit } from "./browser.ts";
import { logProblems, refusals } from "./log-checks.ts";
import { Product } from "./product.ts";
import { echoed, say } from "./scripted-agent.ts";
import { TabPage } from "./tab-page.ts";

let browser: Awaited<ReturnType<typeof launchBrowser>>;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser?.close());

const model = "anthropic/claude-test";
const messagesOf = async (tab: TabPage): Promise<readonly string[]> =>
  (await tab.at("user-message").allTextContents()).map((text) => text.trim());

test("an older database under running pages: they reset, offer again what is gone, keep the draft, and show nothing twice", async () => {
  await using project = await makeProject("empty");
  await using provider = await createFakeProvider({
    reply: (request) => ({ blocks: [say(echoed(request))] }),
  });
  await using product = await Product.start({ provider });
  const record = await product.api.newTab({ cwd: project.dir, model, permissions: "allow" });
  await using one = await visit(browser, product.url);
  await using two = await visit(browser, product.url);
  const [mine, other] = [new TabPage(one.page), new TabPage(two.page)];
  await mine.signIn(product.link);
  await other.signIn((await product.cli("link")).out.trim().split(/\s/).at(-1) ?? "");
  for (const tab of [mine, other]) await tab.goTo(record.id);
  await mine.send("in the copy");
  await mine.says("ok in the copy");
  await mine.untilAtRest();

  await product.stop();
  const [file, copy] = ["varve.db", "copy.db"].map((name) => join(product.home, name)) as [string, string];
  await copyFile(file, copy);
  await product.restart();
  await mine.send("after the copy");
  await mine.says("ok after the copy");
  await mine.untilAtRest();
  await mine.send("and one more");
  await mine.says("ok and one more");
  await mine.untilAtRest();
  await other.says("ok and one more");
  await mine.at("message-field").fill("half a tho");
  for (const page of [one.page, two.page]) {
    await page.evaluate(() => {
      document.body.dataset.kept = "yes";
    });
  }

  await product.stop();
  for (const suffix of ["", "-wal", "-shm"]) await rm(`${file}${suffix}`, { force: true });
  await copyFile(copy, file);
  await product.restart();

  const lost = mine.at("lost-message");
  await lost.nth(1).waitFor();
  expect(await lost.allTextContents()).toEqual([
    expect.stringContaining("after the copy"),
    expect.stringContaining("and one more"),
  ]);
  await shot(one.page, "desktop-restored");
  // The other device wrote neither: it resets to what the server has, and offers nothing.
  await other.at("user-message").filter({ hasText: "and one more" }).waitFor({ state: "detached" });
  for (const tab of [mine, other]) {
    expect(await messagesOf(tab)).toEqual(["in the copy"]);
    expect(disagreements(await shownRows(tab.page), await product.api.rows(record.id))).toEqual([]);
  }
  expect(await other.at("lost-message").count()).toBe(0);
  expect(await mine.at("message-field").inputValue()).toBe("half a tho");

  await lost.filter({ hasText: "after the copy" }).getByRole("button", { name: "Send again" }).click();
  for (const tab of [mine, other]) await tab.says("ok after the copy");
  await mine.untilAtRest();
  await lost.getByRole("button", { name: "Forget" }).click();
  await lost.waitFor({ state: "detached" });
  // What was offered once is not offered again, and what was forgotten stays so.
  await mine.page.reload();
  await mine.says("ok after the copy");

  expect(await mine.at("lost-message").count()).toBe(0);
  expect(await mine.at("message-field").inputValue()).toBe("half a tho");
  const rows = await product.api.rows(record.id);
  for (const tab of [mine, other]) {
    expect(await messagesOf(tab)).toEqual(["in the copy", "after the copy"]);
    await expect.poll(async () => disagreements(await shownRows(tab.page), rows), { timeout: 30_000 }).toEqual([]);
  }
  expect(await other.page.evaluate(() => document.body.dataset.kept)).toBe("yes");
  expect(logProblems(rows, [])).toEqual([]);
  expect(refusals(provider)).toEqual([]);
  expect([...one.complaints, ...two.complaints]).toEqual([]);
});
