/** What a newcomer does first, on the real page of the real server. */
import { readFile } from "node:fs/promises";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeProject } from "../project.ts";
import { createFakeProvider } from "../provider/fake-provider.ts";
import { desktop, launchBrowser, phone, shot, visit } from "./browser.ts";
import { Product, testKey } from "./product.ts";
import { call, freshText, say } from "./scripted-agent.ts";
import { TabPage } from "./tab-page.ts";

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser?.close());

describe.each([
  ["desktop", desktop],
  ["phone", phone],
] as const)("on a %s", (size, screen) => {
  test("signs in by the link, opens a tab with the demo model and has the first TODO comment fixed", async () => {
    await using project = await makeProject();
    await using product = await Product.start();
    await using visitor = await visit(browser, product.url, screen);
    const tab = new TabPage(visitor.page);

    await tab.signIn(product.link);
    expect(visitor.page.url()).not.toContain("code=");
    await shot(visitor.page, `${size}-first`);
    expect((await tab.text("demo-note")).toLowerCase()).toContain("demo model");
    await tab.openTab(project.dir);
    await shot(visitor.page, `${size}-empty`);
    const before = await readFile(project.path("src/format.js"), "utf8");
    await tab.watchStreaming();
    await tab.send("list the TODO comments in this project and fix the first one");
    await tab.at("permission-prompt").waitFor();
    await shot(visitor.page, `${size}-question`);
    expect(await tab.text("permission-path")).toBe(project.path("src/format.js"));
    expect(await readFile(project.path("src/format.js"), "utf8")).toBe(before);
    await tab.allowAll();
    await tab.untilAtRest();
    await shot(visitor.page, `${size}-done`);

    expect(await tab.hasStreamed()).toBe(true);
    expect(before).toContain("// TODO: show finished tasks");
    expect(await readFile(project.path("src/format.js"), "utf8")).not.toContain("TODO");
    expect(await readFile(project.path("src/list.js"), "utf8")).toContain("TODO: refuse an empty title");
    const tools = await tab.at("tool-card").evaluateAll((cards) => cards.map((card) => card.getAttribute("data-tool")));
    expect(tools).toEqual(["grep", "read", "edit", "bash"]);
    expect(await tab.sideways()).toBe(0);
    expect(visitor.complaints).toEqual([]);
  });

  test("denies a change and says why; the model reads the reason and the turn goes on", async () => {
    await using project = await makeProject();
    await using provider = await createFakeProvider({
      reply: (request) => {
        const [result] = request.lastResults;
        if (result !== undefined) return { blocks: [say(`You said: ${result.text}`)] };
        const edit = { path: "README.md", oldText: "# tasks", newText: "# changed" };
        return {
          blocks: [freshText(request).includes("edit") ? call("edit", edit) : call("bash", { command: "true" })],
        };
      },
    });
    await using product = await Product.start({ provider });
    await using visitor = await visit(browser, product.url, screen);
    const record = await product.api.newTab({ cwd: project.dir, model: "anthropic/claude-test" });
    const tab = new TabPage(visitor.page);
    await tab.signIn(product.link);
    await tab.goTo(record.id);

    await tab.send("edit the readme");
    await tab.at("deny-why").click();
    await tab.at("deny-reason").fill("the title is right as it is");
    await tab.at("deny-send").click();
    await tab.says(/You said: .*the title is right as it is/);
    await tab.untilAtRest();
    expect(await readFile(project.path("README.md"), "utf8")).toContain("# tasks");

    // What is typed while a question is open is offered as its answer.
    await tab.send("run it");
    await tab.at("permission-command").waitFor();
    expect(await tab.text("permission-command")).toBe("true");
    await tab.send("not now, please");
    await tab.says(/You said: .*not now, please/);
    await tab.untilAtRest();
    await shot(visitor.page, `${size}-denied`);

    expect(await tab.sideways()).toBe(0);
    expect(visitor.complaints).toEqual([]);
  });
});

test("adds a key in the settings: a wrong one is refused in words, the right one brings its models", async () => {
  await using project = await makeProject();
  await using provider = await createFakeProvider({
    apiKey: testKey,
    models: ["claude-test"],
    script: [{ blocks: [say("Hello from a real key.")] }],
  });
  await using product = await Product.start();
  await using visitor = await visit(browser, product.url);
  const tab = new TabPage(visitor.page);
  await tab.signIn(product.link);
  await tab.at("demo-badge").click();
  const add = async (key: string): Promise<void> => {
    await tab.at("credential-key").fill(key);
    await tab.at("credential-url").fill(provider.url);
    await tab.at("credential-add").click();
  };

  await add("wrong-key-0000000000");
  await tab.at("credential-error").waitFor();
  expect(await tab.at("credential").count()).toBe(0);
  await shot(visitor.page, "desktop-key-refused");
  await add(testKey);
  await tab.at("credential").waitFor();
  await shot(visitor.page, "desktop-key-added");
  expect(await tab.text("credential")).toContain("6789");
  expect(await visitor.page.content()).not.toContain(testKey);
  await visitor.page.keyboard.press("Escape");
  await tab.at("demo-badge").waitFor({ state: "detached" });
  await tab.at("model-choice").selectOption("anthropic/claude-test");
  await tab.openTab(project.dir);
  await tab.send("hello");
  await tab.says("Hello from a real key.");

  expect(visitor.complaints).toEqual([]);
});

test("starts it a second time on the same home: the address, a new link that signs in, and exit code 0", async () => {
  await using product = await Product.start();

  const second = await product.cli("--port", "0", "--no-open");

  expect(second).toMatchObject({ code: 0, err: "" });
  expect(second.out).toContain(product.url);
  const link = /\S+#code=\S+/.exec(second.out)?.[0] ?? "";
  expect(link).not.toBe(product.link);
  await using visitor = await visit(browser, product.url);
  await new TabPage(visitor.page).signIn(link);
  // A link works once.
  await using other = await visit(browser, product.url);
  await other.page.goto(link);
  await other.page.getByTestId("sign-in").waitFor();
  await shot(other.page, "desktop-signed-out");
  expect([...visitor.complaints, ...other.complaints]).toEqual([]);
});

test("enters the link in a page that stands open and is not signed in: that page is signed in, and the code is gone", async () => {
  await using product = await Product.start();
  await using visitor = await visit(browser, product.url);
  const tab = new TabPage(visitor.page);
  await visitor.page.goto(product.url);
  await tab.at("sign-in").waitFor();
  await shot(visitor.page, "desktop-not-signed-in");

  // Nothing but the fragment differs, so the browser loads nothing anew.
  await tab.signIn(product.link);

  expect(visitor.page.url()).not.toContain("code=");
  expect(visitor.complaints).toEqual([]);
});

test("is offered what was found: a local server with one click, a key that lacks its address, and the instruction files", async () => {
  await using project = await makeProject();
  await project.write("AGENTS.md", "Answer in one word.");
  await using provider = await createFakeProvider({
    ollama: true,
    models: ["small-model"],
    script: [
      {
        match: { vendor: "openai", model: "small-model", system: "Answer in one word" },
        reply: { blocks: [say("Yes.")] },
      },
    ],
  });
  await using product = await Product.start({
    env: {
      OLLAMA_HOST: new URL(provider.url).host,
      OPENAI_COMPATIBLE_API_KEY: "sk-without-address",
    },
  });
  await using visitor = await visit(browser, product.url);
  const tab = new TabPage(visitor.page);
  await tab.signIn(product.link);

  await tab.at("local-server").filter({ hasText: "small-model" }).waitFor();
  await shot(visitor.page, "desktop-local-server");
  await tab.at("open-settings").click();
  await expect.poll(() => tab.at("recognised").count()).toBe(1);
  expect(await tab.at("recognised").textContent()).toContain("OPENAI_COMPATIBLE_BASE_URL");
  await shot(visitor.page, "desktop-recognised");
  await visitor.page.keyboard.press("Escape");
  await tab.at("use-local-server").click();
  await tab.at("demo-note").waitFor({ state: "detached" });
  await tab.openTab(project.dir);
  await tab.send("is it you?");
  await tab.says("Yes.");
  await visitor.page.getByLabel("What the model was given").click();
  await tab
    .at("context")
    .filter({ hasText: project.path("AGENTS.md") })
    .waitFor();
  await shot(visitor.page, "desktop-context");

  expect(visitor.complaints).toEqual([]);
});
