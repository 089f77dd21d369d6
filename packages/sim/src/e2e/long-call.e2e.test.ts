/** A message that waits for a long command: its card says so, and the person lets it through by moving or stopping it. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeProject } from "../project.ts";
import { createFakeProvider } from "../provider/fake-provider.ts";
import type { FakeRequest } from "../provider/request-view.ts";
import { launchBrowser, phone, shot, visit } from "./browser.ts";
import { logProblems, refusals } from "./log-checks.ts";
import { Product } from "./product.ts";
import { call, freshText, say } from "./scripted-agent.ts";
import { TabPage } from "./tab-page.ts";

let browser: Awaited<ReturnType<typeof launchBrowser>>;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser?.close());

const COMMAND = "echo began; sleep 300";
const worker = (request: FakeRequest) => ({
  blocks: freshText(request).includes("run")
    ? [say("I run it."), call("bash", { command: COMMAND })]
    : [say(`I read: ${freshText(request).split("\n").at(-1)}.`)],
});

test("moved to the background the command goes on as a job and the message joins; stopped, it joins as well", async () => {
  await using project = await makeProject("empty");
  await using provider = await createFakeProvider({ reply: worker });
  await using product = await Product.start({ provider });
  await using visitor = await visit(browser, product.url, phone);
  const record = await product.api.newTab({ cwd: project.dir, model: "anthropic/claude-test", permissions: "allow" });
  const tab = new TabPage(visitor.page);
  await tab.signIn(product.link);
  await tab.goTo(record.id);

  await tab.send("run it");
  await tab.at("live-output").filter({ hasText: "began" }).waitFor();
  await tab.send("use tabs", "steer");
  await tab.at("queue-wait").filter({ hasText: COMMAND }).waitFor();
  await shot(visitor.page, "phone-long-call");
  await tab.at("queue-background").click();
  await tab.at("tool-card").filter({ hasText: "continues as job 1" }).waitFor();
  await tab.says("I read: use tabs");
  await tab.untilAtRest();

  await tab.send("run it again");
  await tab.at("live-output").filter({ hasText: "began" }).waitFor();
  await tab.send("and spaces", "steer");
  await tab.at("queue-stop-call").click();
  await tab.says("I read: and spaces");
  await tab.untilAtRest();

  expect(await tab.at("queue-card").count()).toBe(0);
  expect(await tab.at("queue-note").count()).toBe(0);
  await tab.at("tab-menu").click();
  await tab.at("inspect-sync").click();
  await visitor.page.locator("[data-testid=sync-state][data-state=same]").waitFor();
  expect(logProblems(await product.api.rows(record.id), [])).toEqual([]);
  expect(refusals(provider)).toEqual([]);
  expect(visitor.complaints).toEqual([]);
});
