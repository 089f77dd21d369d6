/** The server was updated while a page stood open: the page replaces itself, and nothing that was typed is gone. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeProject } from "../project.ts";
import { createFakeProvider } from "../provider/fake-provider.ts";
import type { FakeRequest } from "../provider/request-view.ts";
import { launchBrowser, visit } from "./browser.ts";
import { Follower } from "./follower.ts";
import { makeOtherBuild } from "./other-build.ts";
import { Product } from "./product.ts";
import { echoed, say } from "./scripted-agent.ts";
import { TabPage } from "./tab-page.ts";

let browser: Awaited<ReturnType<typeof launchBrowser>>;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser?.close());

const echo = { reply: (request: FakeRequest) => ({ blocks: [say(echoed(request))] }) };

test("a page of another build reloads itself: the draft stays, and a message written meanwhile is sent once", async () => {
  await using project = await makeProject("empty");
  await using provider = await createFakeProvider(echo);
  await using other = await makeOtherBuild({ page: true });
  await using product = await Product.start({ provider });
  const record = await product.api.newTab({ cwd: project.dir, model: "anthropic/claude-test", permissions: "allow" });
  await using seen = await visit(browser, product.url);
  const tab = new TabPage(seen.page);
  await tab.signIn(product.link);
  await tab.goTo(record.id);
  await tab.send("before the update");
  await tab.says("ok before the update");
  await tab.untilAtRest();
  await seen.page.evaluate(() => {
    document.body.dataset.kept = "yes";
  });

  await product.stop();
  await seen.page.locator('[data-testid="connection"]:not([data-state="live"])').waitFor({ state: "attached" });
  await tab.send("written while it was updated");
  await tab.at("pending-message").waitFor();
  await tab.at("message-field").fill("half a tho");
  await product.restart(other.program);

  await tab.says("ok written while it was updated");
  expect(await seen.page.evaluate(() => document.body.dataset.kept)).toBeUndefined();
  expect(await tab.at("message-field").inputValue()).toBe("half a tho");
  await tab.untilAtRest();
  const said = (await product.api.rows(record.id)).flatMap((row) =>
    row.role === "user" && row.type === "text" ? [row.data.text] : [],
  );
  expect(said).toEqual(["before the update", "written while it was updated"]);
  expect(await tab.at("pending-message").count()).toBe(0);
  expect(seen.complaints).toEqual([]);
});

test("a server that still has the page of the old build makes no loop: it reloads once, then says what is wrong", async () => {
  await using project = await makeProject("empty");
  await using provider = await createFakeProvider(echo);
  await using other = await makeOtherBuild({ page: false });
  await using product = await Product.start({ provider });
  const record = await product.api.newTab({ cwd: project.dir, model: "anthropic/claude-test", permissions: "allow" });
  await using seen = await visit(browser, product.url);
  const tab = new TabPage(seen.page);
  await tab.signIn(product.link);
  await tab.goTo(record.id);
  await tab.at("message-field").fill("half a tho");
  let loads = 0;
  seen.page.on("load", () => {
    loads += 1;
  });

  await product.stop();
  await product.restart(other.program);
  await seen.page.locator('[data-testid="connection"][data-state="refused"]').waitFor({ state: "attached" });
  await expect.poll(() => loads, { timeout: 30_000 }).toBe(1);
  const line = seen.page.locator('[data-testid="connection"][data-state="refused"]');
  await line.getByRole("button", { name: "Reload" }).waitFor();

  expect(await line.textContent()).toMatch(/version/);
  expect(loads).toBe(1);
  await product.stop();
  await product.restart();
  await line.getByRole("button", { name: "Reload" }).click();
  expect(await tab.at("message-field").inputValue()).toBe("half a tho");
  expect(seen.complaints).toEqual([]);
});

test("a page that speaks another protocol than the server is told so, with a way on", async () => {
  await using project = await makeProject("empty");
  await using provider = await createFakeProvider(echo);
  await using product = await Product.start({ provider });
  const record = await product.api.newTab({ cwd: project.dir, model: "anthropic/claude-test", permissions: "allow" });
  await using seen = await visit(browser, product.url);
  // The page of a later release, as far as the server can tell.
  await seen.page.routeWebSocket(/\/api\/ws$/, (page) => {
    const server = page.connectToServer();
    page.onMessage((text) => {
      server.send(text.toString().replace(/"type":"hello","v":\[[\d,]*\]/, '"type":"hello","v":[9001]'));
    });
  });
  await seen.page.goto(product.link);
  const line = seen.page.locator('[data-testid="connection"][data-state="refused"]');
  // It reloads once, which may bring the page that fits; here it does not.
  await line.filter({ hasText: "also after a reload" }).waitFor();

  expect(await line.textContent()).toMatch(/version/);
  await line.getByRole("button", { name: "Reload" }).waitFor();
  // Programs that follow by the event stream are not concerned.
  using follower = await Follower.on(product.api, record.id);
  expect(follower.state.logId).not.toBeNull();
  expect(seen.complaints).toEqual([]);
});
