/** Two people, or one with two devices, do things to one tab at the same moment: one of them is first, nobody loses anything. */
import { access } from "node:fs/promises";
import type { LogChunk, TabId } from "@varve/protocol";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { makeProject, type Project } from "../project.ts";
import { createFakeProvider, type FakeProvider } from "../provider/fake-provider.ts";
import type { Gate } from "../provider/gate.ts";
import { disagreements, shownRows } from "../proxy/agreement.ts";
import { PageDriver } from "../proxy/page-driver.ts";
import { launchBrowser } from "./browser.ts";
import { logProblems, refusals } from "./log-checks.ts";
import { Product } from "./product.ts";
import { call, echoed, freshText, say } from "./scripted-agent.ts";
import type { TabPage } from "./tab-page.ts";

const model = "anthropic/claude-test";
const patient = { timeout: 30_000, interval: 30 };

let browser: Browser;
let project: Project;
let provider: FakeProvider;
let product: Product;
let devices: readonly [PageDriver, PageDriver];
let mine: TabPage;
let theirs: TabPage;
let tab: TabId;

beforeAll(async () => {
  browser = await launchBrowser();
  project = await makeProject("empty");
  provider = await createFakeProvider({
    reply: (request) =>
      request.lastResults.length === 0 && freshText(request).includes("run")
        ? { blocks: [call("bash", { command: "touch ran-it" })] }
        : { blocks: [say(echoed(request))] },
  });
  product = await Product.start({ provider });
  const second = (await product.cli("link")).out.trim().split(/\s/).at(-1) ?? "";
  const server = (): string => product.url;
  devices = [await PageDriver.start(browser, server, product.link), await PageDriver.start(browser, server, second)];
  [mine, theirs] = [devices[0].tab, devices[1].tab];
});
afterAll(async () => {
  for (const device of devices ?? []) await device[Symbol.asyncDispose]();
  await browser?.close();
  await product?.[Symbol.asyncDispose]();
  await provider?.close();
  await project?.remove();
});
beforeEach(async () => {
  tab = (await product.api.newTab({ cwd: project.dir, model, permissions: "ask" })).id;
  for (const device of devices) await device.goTo(tab);
});

/** A turn runs until the gate lets it go; what is sent meanwhile waits. */
async function busy(queued: readonly string[]): Promise<Gate> {
  const gate = provider.gate();
  await product.api.send(tab, "begin");
  await gate.started;
  for (const text of queued) await product.api.send(tab, text, { delivery: "queue" });
  for (const page of [mine, theirs]) await expect.poll(() => cardsOf(page), patient).toEqual(queued);
  return gate;
}

const cardsOf = async (page: TabPage): Promise<readonly string[]> =>
  (await page.at("queue-card").locator(".text").allTextContents()).map((text) => text.trim());

/** From now on that device hears nothing, and does not know it. */
function deafen(device: PageDriver): void {
  for (const socket of device.proxy.connections("socket")) socket.set({ down: { kind: "stall" } });
}

async function atRest(): Promise<readonly LogChunk[]> {
  for (const page of [mine, theirs]) await page.untilAtRest();
  const rows = await product.api.rows(tab);
  for (const device of devices) {
    await expect.poll(async () => disagreements(await shownRows(device.page), rows), patient).toEqual([]);
    expect(await device.tab.at("pending-message").count()).toBe(0);
    expect(device.complaints).toEqual([]);
  }
  expect(logProblems(rows, [])).toEqual([]);
  expect(refusals(provider)).toEqual([]);
  return rows;
}
const said = (rows: readonly LogChunk[]): readonly string[] =>
  rows.flatMap((row) => (row.role === "user" && row.type === "text" ? [row.data.text] : []));
const ends = (rows: readonly LogChunk[]): readonly string[] =>
  rows.flatMap((row) => (row.type === "system" && row.data.kind === "turn-end" ? [row.data.reason] : []));

test("drafts are each device's own, and what both send is there once, in one order for both", async () => {
  await mine.at("message-field").fill("a draft of mine");
  await theirs.at("message-field").fill("theirs");
  expect(await mine.at("message-field").inputValue()).toBe("a draft of mine");
  await Promise.all([mine.at("send").click(), theirs.at("send").click()]);
  for (const page of [mine, theirs]) {
    await page.says("ok a draft of mine");
    await page.says("ok theirs");
  }
  expect(said(await atRest()).toSorted()).toEqual(["a draft of mine", "theirs"]);
});

test("both edit one waiting message: the later one is told the other's text beside their own, and decides", async () => {
  const gate = await busy(["as it was"]);
  for (const page of [mine, theirs]) {
    await page.at("queue-edit").click();
    await page.at("queue-text").waitFor();
  }
  await mine.at("queue-text").fill("as I want it");
  await theirs.at("queue-text").fill("as they want it");
  deafen(devices[1]);
  await mine.at("queue-save").click();
  await expect.poll(async () => (await product.api.head(tab)).queue[0]?.text, patient).toBe("as I want it");
  await theirs.at("queue-save").click();
  devices[1].proxy.heal();

  await theirs.at("queue-theirs").filter({ hasText: "as I want it" }).waitFor();
  expect(await theirs.at("queue-text").inputValue()).toBe("as they want it");
  expect((await product.api.head(tab)).queue[0]?.text).toBe("as I want it");
  await theirs.at("queue-save").click();
  for (const page of [mine, theirs]) await expect.poll(() => cardsOf(page), patient).toEqual(["as they want it"]);
  gate.release();
  await releaseHeld();
  for (const page of [mine, theirs]) await page.says("ok as they want it");
  expect(said(await atRest())).toEqual(["begin", "as they want it"]);
});

test("what one does to a card without a connection is refused there, and the card says so no longer than that lasts", async () => {
  const gate = await busy(["later"]);
  devices[0].fault({ kind: "refuse" });
  await mine.page.locator('[data-testid="connection"]:not([data-state="live"])').waitFor({ state: "attached" });
  await mine.at("queue-hold").click();
  await mine.at("queue-error").filter({ hasText: "no connection" }).waitFor();
  await devices[0].heal();
  await mine.at("queue-error").waitFor({ state: "detached" });
  expect((await product.api.head(tab)).queue.map(({ state }) => state)).toEqual(["queued"]);
  gate.release();
  for (const page of [mine, theirs]) await page.says("ok later");
  expect(said(await atRest())).toEqual(["begin", "later"]);
});

test("both reorder at once: both see one order, and each message goes out once", async () => {
  const gate = await busy(["one", "two", "three"]);
  await Promise.all([
    mine.at("queue-card").nth(2).getByTestId("queue-up").click(),
    theirs.at("queue-card").nth(0).getByTestId("queue-down").click(),
  ]);
  await expect
    .poll(async () => (await product.api.head(tab)).queue.map(({ text }) => text).join(" "), patient)
    .not.toBe("one two three");
  // Nothing more is on its way once both have what the server has, twice in a row.
  const order = async (): Promise<readonly string[]> => (await product.api.head(tab)).queue.map(({ text }) => text);
  for (let look = 0; look < 2; look += 1) {
    for (const page of [mine, theirs]) {
      await expect.poll(async () => (await cardsOf(page)).join() === (await order()).join(), patient).toBe(true);
    }
    for (const device of devices) await device.frames(10);
  }
  const agreed = await order();
  expect(agreed.toSorted()).toEqual(["one", "three", "two"]);
  gate.release();
  for (const page of [mine, theirs]) await page.says(`ok ${agreed.at(-1)}`);
  expect(said(await atRest())).toEqual(["begin", ...agreed]);
});

test("both answer one question: the first answer holds, the other device is shown it, and the command runs as answered", async () => {
  await product.api.send(tab, "run it");
  for (const page of [mine, theirs]) await page.at("permission-prompt").waitFor();
  deafen(devices[1]);
  await mine.at("allow-once").click();
  await mine.at("permission-answered").waitFor();
  await theirs.at("deny").click();
  devices[1].proxy.heal();

  await theirs.at("permission-answered").waitFor();
  for (const page of [mine, theirs]) expect(await page.text("permission-answered")).toBe("Allowed once.");
  const rows = await atRest();
  const answered = rows.filter(
    ({ type, data }) => type === "system" && "kind" in data && data.kind === "permission" && data.state === "answered",
  );
  expect(answered).toHaveLength(1);
  expect(await access(project.path("ran-it")).then(() => true)).toBe(true);
});

test("both stop at once: the turn is stopped once, what waits is held for both, and the next message is answered", async () => {
  const gate = await busy(["later"]);
  await Promise.all([mine.at("stop").click(), theirs.at("stop").click()]);
  for (const page of [mine, theirs]) {
    await page.untilAtRest();
    await expect.poll(() => page.at("queue-card").getAttribute("data-state"), patient).toBe("held");
  }
  gate.release();
  await theirs.send("go on");
  for (const page of [mine, theirs]) await page.says("ok go on");
  await mine.at("queue-release").click();
  for (const page of [mine, theirs]) await page.says("ok later");
  const rows = await atRest();
  expect(said(rows)).toEqual(["begin", "go on", "later"]);
  expect(ends(rows).filter((reason) => reason === "stopped")).toHaveLength(1);
});

test.each(["steer", "queue", "stop"] as const)(
  "one stops while the other sends (%s): the message is there once and is answered",
  async (delivery) => {
    const gate = await busy([]);
    await theirs.at("message-field").fill("in that moment");
    await theirs.at(`delivery-${delivery}`).check({ force: true });
    await Promise.all([mine.at("stop").click(), theirs.at("send").click()]);
    gate.release();
    await releaseHeld("in that moment");
    for (const page of [mine, theirs]) await page.says("ok in that moment");
    const rows = await atRest();
    expect(said(rows)).toEqual(["begin", "in that moment"]);
    expect(ends(rows)).toContain("stopped");
  },
);

/** What is held is sent, until nothing waits; with a text: until that message is in the log. */
async function releaseHeld(until?: string): Promise<void> {
  await expect
    .poll(async () => {
      const { queue } = await product.api.head(tab);
      for (const { id, version, state } of queue) {
        if (state === "held") await product.api.ask("PATCH", `/tabs/${tab}/queue/${id}`, { version, state: "queued" });
      }
      const sealed = until === undefined || said(await product.api.rows(tab)).includes(until);
      return queue.length === 0 && sealed;
    }, patient)
    .toBe(true);
}
