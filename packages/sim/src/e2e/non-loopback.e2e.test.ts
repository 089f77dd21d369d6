/**
 * The page over plain http by this machine's address in its network, as a phone opens it: an insecure context, in which
 * browsers take away locks, the clipboard, service workers and half of `crypto`.
 */
import { networkInterfaces } from "node:os";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeProject } from "../project.ts";
import { createFakeProvider } from "../provider/fake-provider.ts";
import type { FakeRequest } from "../provider/request-view.ts";
import { launchBrowser, phone, shot, visit } from "./browser.ts";
import { logProblems, refusals } from "./log-checks.ts";
import { Product } from "./product.ts";
import { echoed, say } from "./scripted-agent.ts";
import { TabPage } from "./tab-page.ts";

/** The first address of this machine that is not its own alone; undefined where there is none. */
const address = Object.values(networkInterfaces())
  .flatMap((all) => all ?? [])
  .find(({ internal, family }) => !internal && family === "IPv4")?.address;
const token = "a-token-of-the-test-0123456789abcdef";

let browser: Awaited<ReturnType<typeof launchBrowser>>;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser?.close());

describe.skipIf(address === undefined)("by the address in the network (skipped where this machine has none)", () => {
  const start = async (provider: Awaited<ReturnType<typeof createFakeProvider>>): Promise<[Product, string]> => {
    const product = await Product.start({ provider, args: ["--host", "0.0.0.0"], env: { VARVE_TOKEN: token } });
    return [product, `http://${address}:${new URL(product.url).port}`];
  };
  const link = async (product: Product, own: string): Promise<string> =>
    ((await product.cli("link")).out.trim().split(/\s/).at(-1) ?? "").replace(/^https?:\/\/[^/]+/, own);
  const echo = {
    reply: (request: FakeRequest) => ({
      blocks: [
        say(`${echoed(request)}

\`\`\`
code
\`\`\``),
      ],
    }),
  };

  test("signs in, sends, queues, and what was written while the server was away is sent after a reload", async () => {
    await using project = await makeProject("empty");
    await using provider = await createFakeProvider(echo);
    const [product, own] = await start(provider);
    await using _product = product;
    const record = await product.api.newTab({ cwd: project.dir, model: "anthropic/claude-test", permissions: "allow" });
    await using seen = await visit(browser, own, phone);
    const tab = new TabPage(seen.page);
    await tab.signIn(await link(product, own));
    expect(await seen.page.evaluate(() => [isSecureContext, "locks" in navigator])).toEqual([false, false]);
    await tab.goTo(record.id);
    await tab.send("by the network");
    await tab.says("ok by the network");
    await tab.untilAtRest();
    const gate = provider.gate();
    await tab.send("a slow one");
    await gate.started;
    await tab.send("after it", "queue");
    await tab.at("queue-card").waitFor();
    gate.release();
    await tab.says("ok after it");
    await tab.untilAtRest();

    await product.stop();
    await seen.page.locator('[data-testid="connection"]:not([data-state="live"])').waitFor({ state: "attached" });
    await tab.send("written offline");
    await tab.at("pending-message").waitFor();
    await shot(seen.page, "phone-insecure-offline");
    // The page itself can only come from the server: it is reloaded once that is back.
    await product.restart();
    await seen.page.reload();
    await tab.says("ok written offline");
    await tab.untilAtRest();

    expect(await tab.at("pending-message").count()).toBe(0);
    const rows = await product.api.rows(record.id);
    const said = rows.flatMap((row) => (row.role === "user" && row.type === "text" ? [row.data.text] : []));
    expect(said).toEqual(["by the network", "a slow one", "after it", "written offline"]);
    expect(logProblems(rows, [])).toEqual([]);
    expect(refusals(provider)).toEqual([]);
    expect(seen.complaints).toEqual([]);
  });

  test("of two windows each sends its own messages: one that starts does not take the other's while it lives", async () => {
    await using project = await makeProject("empty");
    await using provider = await createFakeProvider(echo);
    const [product, own] = await start(provider);
    await using _product = product;
    const record = await product.api.newTab({ cwd: project.dir, model: "anthropic/claude-test", permissions: "allow" });
    await using seen = await visit(browser, own);
    const first = new TabPage(seen.page);
    await first.signIn(await link(product, own));
    await first.goTo(record.id);
    // Its commands are taken from it and go nowhere, so its message stays in its outbox.
    const held = await holdSends(seen.page);
    await first.send("of the first window");
    await first.at("pending-message").waitFor();

    const secondPage = await seen.page.context().newPage();
    const sends: string[] = [];
    secondPage.on("websocket", (socket) => {
      socket.on("framesent", ({ payload }) => {
        if (payload.toString().includes('"type":"send"')) sends.push(payload.toString());
      });
    });
    const second = new TabPage(secondPage);
    await secondPage.goto(`${own}/#/tab/${record.id}`);
    await second.at("message-field").waitFor();
    await second.send("of the second window");
    await second.says("ok of the second window");
    await second.untilAtRest();
    expect(sends.filter((text) => text.includes("of the first window"))).toEqual([]);

    held.release();
    await first.says("ok of the first window");
    for (const tab of [first, second]) {
      await tab.untilAtRest();
      expect(await tab.at("pending-message").count()).toBe(0);
    }
    const said = (await product.api.rows(record.id)).flatMap((row) =>
      row.role === "user" && row.type === "text" ? [row.data.text] : [],
    );
    expect(said.toSorted()).toEqual(["of the first window", "of the second window"]);
    expect(seen.complaints).toEqual([]);
  });

  test("copying works, or the page says why it does not and what to do", async () => {
    await using project = await makeProject("empty");
    await using provider = await createFakeProvider(echo);
    const [product, own] = await start(provider);
    await using _product = product;
    const record = await product.api.newTab({ cwd: project.dir, model: "anthropic/claude-test", permissions: "allow" });
    await using seen = await visit(browser, own);
    const tab = new TabPage(seen.page);
    await tab.signIn(await link(product, own));
    await tab.goTo(record.id);
    await tab.send("copy this");
    await tab.says("ok copy this");
    await tab.untilAtRest();
    await tab.at("user-message").first().hover();
    const copy = seen.page.getByRole("button", { name: "Copy message" });
    await copy.click();
    const done = seen.page.getByRole("button", { name: "Copied" });
    await done.or(tab.at("alert")).first().waitFor();
    if ((await done.count()) > 0) {
      // Pasted into the message field, since nothing here may read the clipboard.
      await tab.at("message-field").focus();
      await seen.page.keyboard.press("Control+V");
      expect(await tab.at("message-field").inputValue()).toBe("copy this");
    } else {
      expect(await tab.text("alert")).toMatch(/copy/i);
    }
    expect(seen.complaints).toEqual([]);
  });
});

/** Keeps back what a page sends on its open sockets, until it is let go. */
async function holdSends(page: Page): Promise<{ release: () => void }> {
  await page.evaluate(() => {
    const real = WebSocket.prototype.send;
    const kept: (() => void)[] = [];
    WebSocket.prototype.send = function (data) {
      if (typeof data === "string" && data.includes('"type":"send"')) kept.push(() => real.call(this, data));
      else real.call(this, data);
    };
    addEventListener("varve-test-release", () => {
      WebSocket.prototype.send = real;
      for (const send of kept) send();
    });
  });
  return { release: () => void page.evaluate(() => dispatchEvent(new Event("varve-test-release"))) };
}
