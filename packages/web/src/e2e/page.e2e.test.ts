/** The page in a real browser with the stand-in server inside. The newcomer's path on the real server is tested in `sim`. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HOSTILE } from "../dev/fake-hostile.ts";
import { DevPage } from "../testing/dev-page.ts";

let site: DevPage;
beforeAll(async () => {
  site = await DevPage.start();
});
afterAll(async () => {
  await site?.[Symbol.asyncDispose]();
});

const phone = { viewport: { width: 390, height: 844 }, hasTouch: true };
const field = (page: Page) => page.getByTestId("message-field");
const rowTop = (page: Page, text: string) =>
  page
    .getByTestId("user-message")
    .filter({ hasText: text })
    .evaluate((element) => element.getBoundingClientRect().top);
/** Which card has the focus, and on which of its buttons. */
const focusedButton = (page: Page) =>
  page.getByTestId("queue").evaluate((list) => {
    const cards = [...list.querySelectorAll("[data-testid=queue-card]")];
    const active = document.activeElement;
    return [cards.findIndex((card) => card.contains(active)), active?.getAttribute("data-testid")];
  });
/** Asked until it holds: an answer that still grows is followed with the next frame. */
const isAtEnd = (page: Page) =>
  page.getByTestId("rows").evaluate((rows) => rows.scrollHeight - rows.clientHeight - rows.scrollTop < 2);

describe("hostile text", () => {
  test("is text wherever it is shown, and asks for nothing from anywhere", async () => {
    await using opened = await site.open("#/tab/hostile");
    const { page } = opened;
    await page
      .getByTestId("queue-card")
      .nth(HOSTILE.length - 1)
      .waitFor();
    await page.getByTestId("rows").evaluate((rows) => {
      for (const button of rows.querySelectorAll<HTMLElement>(
        ":is([data-testid=tool-card], [data-testid=thinking]) button[aria-expanded=false]",
      ))
        button.click();
    });
    await page.getByTestId("tool-body").nth(HOSTILE.length).waitFor();
    const found = await page.evaluate(() => ({
      ran: "P" in window,
      elements: [
        ...document.querySelectorAll("#app :is(script, iframe, object, embed, form, img, style, math, link, base)"),
      ]
        .map((element) => element.outerHTML.slice(0, 200))
        .filter(
          (html) =>
            !html.startsWith('<form data-testid="composer"') &&
            !/^<form class="[^"]*" data-testid="composer"/.test(html),
        ),
      handlers: [...document.querySelectorAll("#app *")].flatMap((element) =>
        element.getAttributeNames().filter((name) => name.startsWith("on") || name === "srcdoc" || name === "style"),
      ),
      addresses: [...document.querySelectorAll("#app .prose a")].map((a) =>
        [a.getAttribute("href"), a.getAttribute("target"), a.getAttribute("rel")].join(" "),
      ),
    }));
    expect(found.ran).toBe(false);
    expect(found.elements).toEqual([]);
    expect(found.handlers).toEqual([]);
    expect(found.addresses.length).toBeGreaterThan(0);
    for (const address of found.addresses) {
      expect(address).toMatch(/^https:\/\/evil\.example\/\S* _blank noopener noreferrer nofollow$/);
    }
    expect(opened.complaints).toEqual([]);
  });

  test.each(HOSTILE.slice(0, 4))("%s can be read as it was written", async (text) => {
    await using opened = await site.open("#/tab/hostile");
    const shown = opened.page.getByTestId("user-message").filter({ hasText: text });
    await shown.first().waitFor();
    expect(await shown.first().locator("p").textContent()).toBe(text);
    expect(
      await opened.page
        .getByTestId("assistant-text")
        .filter({ hasText: `Before ${text} after` })
        .count(),
    ).toBe(1);
  });
});

describe("reading", () => {
  test("what is read stays in place while older rows come in and an answer streams below", async () => {
    await using opened = await site.open("#/tab/long");
    const { page } = opened;
    await page.getByText("Question 60", { exact: true }).waitFor();
    await expect.poll(() => isAtEnd(page), { timeout: 5_000 }).toBe(true);
    await field(page).fill("One more");
    await field(page).press("Enter");
    await page.getByTestId("rows").evaluate((rows) => {
      rows.scrollTop = 600;
    });
    await page.getByTestId("to-end").waitFor();
    const before = await rowTop(page, "Question 45");
    const drift = await page.evaluate(async () => {
      const row = [...document.querySelectorAll("[data-testid=user-message]")].find((one) =>
        one.textContent?.includes("Question 45"),
      );
      const first = row?.getBoundingClientRect().top ?? 0;
      let worst = 0;
      for (let frame = 0; frame < 60; frame++) {
        await new Promise(requestAnimationFrame);
        worst = Math.max(worst, Math.abs((row?.getBoundingClientRect().top ?? 0) - first));
      }
      return worst;
    });
    expect(drift).toBeLessThanOrEqual(1);
    await page.getByText("Question 30", { exact: true }).waitFor({ state: "attached" });
    expect(Math.abs((await rowTop(page, "Question 45")) - before)).toBeLessThanOrEqual(1);
  });

  test("the pill counts what is new and leads to the end", async () => {
    await using opened = await site.open("#/tab/long");
    const { page } = opened;
    await page.getByText("Question 60", { exact: true }).waitFor();
    await page.getByTestId("rows").evaluate((rows) => {
      rows.scrollTop = 900;
    });
    const pill = page.getByTestId("to-end");
    await pill.getByText("To the end").waitFor();
    await field(page).fill("One more");
    await field(page).press("Enter");
    await pill.getByText("1 new").waitFor();
    await pill.click();
    await pill.waitFor({ state: "detached" });
    await expect.poll(() => isAtEnd(page), { timeout: 5_000 }).toBe(true);
  });

  test("sealing leaves the elements of the text alone", async () => {
    await using opened = await site.open("demo#/tab/empty");
    const { page } = opened;
    await field(page).fill("Go");
    await field(page).press("Enter");
    const first = page.locator("[data-testid=assistant-text] p").first();
    await page.getByTestId("code-block").waitFor();
    await first.evaluate((element) => element.setAttribute("data-mark", "kept"));
    await page.locator("[data-testid=assistant-text][data-sealed=true]").waitFor();
    expect(await first.getAttribute("data-mark")).toBe("kept");
    expect(await page.locator("[data-testid=assistant-text] table td").count()).toBe(9);
    await expect.poll(() => isAtEnd(page), { timeout: 5_000 }).toBe(true);
    expect(opened.complaints).toEqual([]);
  });
});

describe("questions", () => {
  test("show exactly what would run, and a click answers", async () => {
    await using opened = await site.open("#/tab/asks");
    const { page } = opened;
    expect(await page.getByTestId("permission-command").textContent()).toBe(
      "git status --short && bash scripts/release.sh --dry-run 2>&1 | tee release.log",
    );
    await page.getByTestId("allow-once").click();
    expect(await page.getByTestId("permission-answered").textContent()).toBe("Allowed once.");
  });

  test("are answered with no and a reason by what is typed", async () => {
    await using opened = await site.open("#/tab/asks");
    const { page } = opened;
    await field(page).fill("use make release");
    await field(page).press("Enter");
    expect(await page.getByTestId("permission-answered").textContent()).toBe("Denied: use make release");
    expect(await field(page).inputValue()).toBe("");
  });

  test("leave room for a message beside the answer", async () => {
    await using opened = await site.open("#/tab/asks");
    const { page } = opened;
    await page.getByTestId("purpose-message").check({ force: true });
    await page.getByTestId("delivery-queue").check({ force: true });
    await field(page).fill("later: update the notes");
    await page.getByTestId("send").click();
    await page.getByTestId("queue-card").getByText("later: update the notes").waitFor();
    expect(await page.getByTestId("permission-prompt").count()).toBe(1);
  });
});

describe("the composer and the queue", () => {
  test("a message while it works waits as a card that is held while it is edited", async () => {
    await using opened = await site.open("#/tab/runs");
    const { page } = opened;
    await field(page).fill("line one");
    await field(page).press("Shift+Enter");
    await field(page).pressSequentially("line two");
    await field(page).press("Enter");
    const card = page.getByTestId("queue-card").nth(2);
    expect(await card.locator(".text").textContent()).toBe("line one\nline two");
    await card.getByTestId("queue-edit").click();
    await expect.poll(() => card.getAttribute("data-state")).toBe("held");
    await card.getByTestId("queue-text").fill("better");
    await card.getByTestId("queue-save").click();
    await expect.poll(() => card.locator(".text").textContent()).toBe("better");
    await expect.poll(() => card.getAttribute("data-state")).toBe("queued");
    await card.getByTestId("queue-remove").click();
    await expect.poll(() => page.getByTestId("queue-card").count()).toBe(2);
  });

  test("a message that was held before its edit stays held", async () => {
    await using opened = await site.open("#/tab/runs");
    const card = opened.page.getByTestId("queue-card").nth(1);
    await card.getByTestId("queue-edit").click();
    await card.getByTestId("queue-text").fill("better");
    await card.getByTestId("queue-save").click();
    await expect.poll(() => card.locator(".text").textContent()).toBe("better");
    expect(await card.getAttribute("data-state")).toBe("held");
  });

  test("a steer says what it waits for; moved to the background, the command is a job and the message joins", async () => {
    await using opened = await site.open("#/tab/runs");
    const { page } = opened;
    const first = page.getByTestId("queue-card").first();
    await first.getByTestId("queue-wait").getByText("npm run bench -- report").waitFor();
    const time = first.getByTestId("queue-wait-time");
    const before = await time.textContent();
    await first.evaluate((card) => card.setAttribute("data-mark", "kept"));
    await expect.poll(() => time.textContent(), { timeout: 5_000 }).not.toBe(before);
    expect(await first.getAttribute("data-mark")).toBe("kept");
    expect(await page.getByTestId("queue-sender").textContent()).toBe("· from another device");
    await first.getByTestId("queue-background").click();
    await page.getByTestId("tool-card").getByText("continues as job 1").waitFor();
    await page.getByTestId("user-message").getByText("Leave the schema alone").waitFor();
    expect(await page.getByTestId("queue-card").count()).toBe(1);
    expect(opened.complaints).toEqual([]);
  });

  test("cards change places by key, and the focus stays with the card", async () => {
    await using opened = await site.open("#/tab/runs");
    const { page } = opened;
    const texts = () => page.getByTestId("queue-card").locator(".text").allTextContents();
    await page.getByTestId("queue-card").nth(1).waitFor();
    const [first, second] = await texts();
    await page.getByTestId("queue-card").first().getByTestId("queue-down").focus();
    await page.keyboard.press("Enter");
    await expect.poll(texts).toEqual([second, first]);
    // At the end it can go no further down: the next Enter must not do something else than move it.
    const focused = () => focusedButton(page);
    await expect.poll(focused).toEqual([1, "queue-up"]);
    await page.keyboard.press("Alt+ArrowUp");
    await expect.poll(texts).toEqual([first, second]);
    await expect.poll(focused).toEqual([0, "queue-down"]);
    await page.getByTestId("queue-delivery").first().focus();
    await page.keyboard.press("Alt+ArrowDown");
    await page.keyboard.press("Escape");
    expect(await texts()).toEqual([first, second]);
  });

  test("what is done to a card by key leaves the focus with it, or with the next one", async () => {
    await using opened = await site.open("#/tab/runs");
    const { page } = opened;
    const focused = () => focusedButton(page);
    await page.getByTestId("queue-hold").first().focus();
    await page.keyboard.press("Enter");
    await expect.poll(focused).toEqual([0, "queue-release"]);
    await page.getByTestId("queue-edit").first().press("Enter");
    await page.getByTestId("queue-text").press("Escape");
    await expect.poll(focused).toEqual([0, "queue-edit"]);
    await page.getByTestId("queue-remove").first().press("Enter");
    await expect.poll(() => page.getByTestId("queue-card").count()).toBe(1);
    await expect.poll(focused).toEqual([0, "queue-remove"]);
  });

  test("a stop during an edit holds that message as well, and sending what is held leaves it to its edit", async () => {
    await using opened = await site.open("#/tab/runs");
    const { page } = opened;
    const states = () =>
      page.getByTestId("queue-card").evaluateAll((cards) => cards.map((card) => card.getAttribute("data-state")));
    await page.getByTestId("queue-edit").first().click();
    await page.getByTestId("queue-text").waitFor();
    await page.getByTestId("stop").click();
    await page.getByTestId("queue").getByText("One message is held.").waitFor();
    await page.getByTestId("release-all").click();
    await expect.poll(states).toEqual(["held", "queued"]);
    await page.getByTestId("queue-cancel").click();
    await page.getByTestId("queue-text").waitFor({ state: "detached" });
    expect(await states()).toEqual(["held", "queued"]);
  });

  test("an edit outlives a reload; a text from elsewhere stands beside it; one without its message is offered", async () => {
    await using opened = await site.open("#/tab/runs");
    const { page } = opened;
    await page.getByTestId("queue-edit").nth(1).click();
    await page.getByTestId("queue-text").fill("mine, half");
    // As if another device had changed the one message and removed another while this page was away.
    await page.evaluate(() => {
      const key = "varve.draft.edits.runs";
      const [[id, edit]] = JSON.parse(localStorage.getItem(key) ?? "");
      const gone = ["gone", { text: "typed into one that left", base: "", wasHeld: false }];
      localStorage.setItem(key, JSON.stringify([[id, { ...edit, base: "what it said before" }], gone]));
    });
    await page.reload();
    await page.getByTestId("queue-theirs").getByText("Then write down what you found").waitFor();
    expect(await page.getByTestId("queue-text").inputValue()).toBe("mine, half");
    await page.getByTestId("queue-save").click();
    await page.getByTestId("queue-card").locator(".text").getByText("mine, half").waitFor();
    await page.getByTestId("queue-stray").getByText("typed into one that left").waitFor();
    await page.getByTestId("stray-take").click();
    expect(await field(page).inputValue()).toBe("typed into one that left");
    await expect.poll(() => page.evaluate(() => localStorage.getItem("varve.draft.edits.runs"))).toBeNull();
  });

  test("a draft outlives a reload and belongs to its tab", async () => {
    await using opened = await site.open("#/tab/main");
    const { page } = opened;
    await field(page).fill("half a tho");
    await page.reload();
    expect(await field(page).inputValue()).toBe("half a tho");
    await page.getByTestId("tab-row").filter({ hasText: "A long one" }).click();
    expect(await field(page).inputValue()).toBe("");
  });

  test("a chosen file becomes an attachment of the message", async () => {
    await using opened = await site.open("#/tab/main");
    const { page } = opened;
    await page
      .getByTestId("file-input")
      .setInputFiles({ name: "plan.txt", mimeType: "text/plain", buffer: Buffer.from("x") });
    await page.getByTestId("uploads").getByText("plan.txt").waitFor();
    await expect.poll(() => page.getByTestId("send").isEnabled()).toBe(true);
    const more = Array.from({ length: 20 }, (_, i) => `more-${i}.txt`);
    await page
      .getByTestId("file-input")
      .setInputFiles(more.map((name) => ({ name, mimeType: "text/plain", buffer: Buffer.from("x") })));
    await page.getByTestId("composer-error").getByText("the others were left out").waitFor();
    expect(await page.getByTestId("uploads").getByText("more-18.txt").count()).toBe(1);
    expect(await page.getByTestId("uploads").getByText("more-19.txt").count()).toBe(0);
  });
});

describe("when something is wrong", () => {
  test("a page of another build reloads itself once with all that was typed, then leaves it to the person", async () => {
    await using opened = await site.open("#/tab/asks");
    const { page } = opened;
    await field(page).fill("half a tho");
    await page
      .getByTestId("file-input")
      .setInputFiles({ name: "plan.txt", mimeType: "text/plain", buffer: Buffer.from("x") });
    await page.getByTestId("uploads").getByText("plan.txt").waitFor();
    await page.evaluate(() => window.dispatchEvent(new Event("fake-stale")));
    await page.getByTestId("connection").getByText("also after a reload").waitFor();
    expect(await field(page).inputValue()).toBe("half a tho");
    await page.getByTestId("uploads").getByText("plan.txt").waitFor();
    await page.getByTestId("reload-page").waitFor();
  });

  test("a restored server is said, and what it lost goes out again; a row that was cut can be read to its end", async () => {
    await using opened = await site.open("#/tab/restored");
    const { page } = opened;
    await page.getByTestId("tab-fault").getByText("The disk is full.").waitFor();
    await page.getByTestId("lost").getByText("these 2 messages").waitFor();
    await page.getByTestId("resend-all").click();
    await expect.poll(() => page.getByTestId("lost-message").count()).toBe(0);
    expect(await page.locator("[data-testid=pending-message][data-state=sent]").count()).toBe(2);
    await page.getByTestId("tool-card").getByRole("button").first().click();
    const whole = page.getByTestId("tool-body").getByTestId("whole");
    await whole.getByTestId("show-whole").press("Enter");
    await expect
      .poll(() => page.evaluate(() => document.activeElement?.getAttribute("data-testid")))
      .toBe("hide-whole");
    await whole.getByTestId("show-more").click();
    expect(await whole.getByTestId("output").textContent()).toMatch(/THE END$/);
    await page.getByTestId("tab-menu").click();
    await page.getByTestId("inspect-sync").click();
    await page.locator("[data-testid=sync-state][data-state=healed]").waitFor();
    expect(await page.getByTestId("sync-window").textContent()).toBe("1 to 4 of 4");
    expect(opened.complaints).toEqual([]);
  });

  test("a browser that keeps nothing is said, and what works in it stands in the settings", async () => {
    await using opened = await site.open("no-store#/tab/main");
    const { page } = opened;
    await page.getByTestId("outbox-memory").waitFor();
    await page.getByTestId("open-settings").click();
    await page.getByTestId("settings-browser").click();
    expect(await page.getByTestId("browser-facts").locator("[data-works=false]").allTextContents()).toHaveLength(2);
  });
});

describe("first run", () => {
  test("leads from the directory to a suggested message, and says that the demo model is on", async () => {
    await using opened = await site.open("first");
    const { page } = opened;
    await page.getByTestId("demo-note").getByText("The demo model is on.").waitFor();
    await page.getByTestId("local-server").getByText("Ollama").waitFor();
    await page.getByTestId("found-recordings").getByText("Found 3 recordings of other tools").waitFor();
    expect(await page.getByTestId("directory-input").inputValue()).toBe("/home/mika/code/envfile");
    await page.getByTestId("folder").filter({ hasText: "radio" }).click();
    expect(await page.getByTestId("directory-input").inputValue()).toBe("/home/mika/code/radio");
    await page.getByTestId("create-tab").click();
    await page.getByTestId("suggestion").first().click();
    expect(await field(page).inputValue()).toContain("TODO");
    await field(page).press("Enter");
    await page.getByTestId("assistant-text").waitFor();
    expect(opened.complaints).toEqual([]);
  });

  test("a refused key stays in its field beside the reason", async () => {
    await using opened = await site.open("demo#/tab/empty");
    const { page } = opened;
    await page.getByTestId("open-settings").click();
    await page.getByTestId("credential-key").fill("sk-wrong");
    await page.getByTestId("credential-add").click();
    await page.getByTestId("credential-error").getByText("The provider refused this key.").waitFor();
    expect(await page.getByTestId("credential-key").inputValue()).toBe("sk-wrong");
    await page.keyboard.press("Escape");
    await page.getByTestId("settings").waitFor({ state: "detached" });
  });

  test("without sign-in says which command gives a link", async () => {
    await using opened = await site.open("signedout");
    await opened.page.getByTestId("sign-in").getByText("varve link").first().waitFor();
  });
});

describe("cost and context", () => {
  const openPart = async (page: Page, part: string): Promise<void> => {
    await page.getByTestId("meter-cost").click();
    await page.getByTestId(`panel-${part}`).click();
  };

  test("the head tells cost with children, cache, context and expiry, and each leads to its part", async () => {
    await using opened = await site.open("#/tab/main");
    const { page } = opened;
    await page.getByTestId("meter-read").getByText("cache 99.6 %").waitFor();
    expect(await page.getByTestId("meter-cost").textContent()).toBe("$0.43");
    expect(await page.getByTestId("meter-context").textContent()).toContain("about 42k of 200k");
    expect(await page.getByTestId("meter-cache").textContent()).toMatch(/cache expires in 3:\d\d/);
    for (const [meter, part] of [
      ["cost", "cost"],
      ["read", "cost"],
      ["context", "context"],
      ["cache", "cache"],
    ] as const) {
      await page.getByTestId(`meter-${meter}`).click();
      await page.getByTestId(`${part}-part`).waitFor();
      await page.keyboard.press("Escape");
      await page.getByTestId("panel").waitFor({ state: "detached" });
    }
    expect(opened.complaints).toEqual([]);
  });

  test("a request is billed with its cause, leads to what was sent, and older ones are a click away", async () => {
    await using opened = await site.open("#/tab/main");
    const { page } = opened;
    await page.getByTestId("meter-cost").click();
    await page.getByTestId("step").nth(4).waitFor();
    expect(await page.getByTestId("cause").textContent()).toBe("The cache had expired after 6 min 10 s idle:");
    expect(await page.getByTestId("step").nth(3).textContent()).toContain("unknown");
    await page.getByTestId("older-steps").click();
    await page.getByTestId("step").nth(6).waitFor();
    expect(await page.getByTestId("older-steps").count()).toBe(0);
    await page.getByTestId("show-request").nth(2).click();
    await page.getByTestId("sent-block").first().waitFor();
    const states = page.getByTestId("sent-block").evaluateAll((all) => all.map((one) => one.dataset.state));
    expect(await states).toEqual(["cached", "cached", "cached", "written", "fresh", "unknown"]);
    await page.getByTestId("earlier-blocks").click();
    await page.getByTestId("sent-block").nth(7).waitFor();
    expect(await page.getByTestId("intact").textContent()).toContain("very bytes");
  });

  test("a changed context is told at a price, and then there is nothing left to tell", async () => {
    await using opened = await site.open("#/tab/main");
    const { page } = opened;
    await page.getByTestId("meter-context").click();
    await page.getByTestId("context-change").nth(1).waitFor();
    expect(await page.getByTestId("context-changes").textContent()).toContain("about $0.0281");
    await page.getByTestId("context-tell").click();
    await page.getByTestId("no-changes").waitFor();
    await page.getByTestId("compaction-undo").click();
    await page.getByTestId("compaction-done").getByText("undone").waitFor();
  });

  test("keeping warm is off until it is wanted, and goes on with its caps", async () => {
    await using opened = await site.open("#/tab/main");
    const { page } = opened;
    await page.getByTestId("meter-cache").click();
    await page.getByTestId("break-even").getByText("11 refreshes cost as much as one miss").waitFor();
    expect(await page.getByTestId("warm-off").count()).toBe(0);
    await page.getByTestId("warm-count").fill("0");
    expect(await page.getByTestId("warm-on").isEnabled()).toBe(false);
    await page.getByTestId("warm-count").fill("3");
    await page.getByTestId("warm-on").click();
    await page.getByTestId("warm-off").waitFor();
    await page.getByTestId("cache-ttl").selectOption("1h");
    await page.getByTestId("change-dialog").getByTestId("preview").waitFor();
    await page.getByTestId("change-apply").click();
    await expect.poll(() => page.getByTestId("cache-ttl").inputValue()).toBe("1h");
    await page.getByTestId("panel-limits").click();
    await page.getByTestId("limit-money").fill("1.5");
    await page.getByTestId("limits-save").click();
    await page.getByTestId("limits-now").getByText("$1.50").waitFor();
  });

  test("going on after a restart is off until somebody wants it, and can be turned off again", async () => {
    await using opened = await site.open("#/tab/main");
    const { page } = opened;
    await page.getByTestId("meter-cost").click();
    await page.getByTestId("panel").getByRole("button", { name: "Limits" }).click();
    const box = page.getByRole("checkbox", { name: "Send waiting messages without asking" });
    for (const wanted of [false, true, false]) {
      await box.setChecked(wanted);
      await page.keyboard.press("Escape");
      await page.getByTestId("panel").waitFor({ state: "detached" });
      await page.getByTestId("meter-cost").click();
      await page.getByTestId("panel").getByRole("button", { name: "Limits" }).click();
      expect(await box.isChecked()).toBe(wanted);
    }
    expect(opened.complaints).toEqual([]);
  });

  test("another effort is taken only after its price was seen", async () => {
    await using opened = await site.open("#/tab/main");
    const { page } = opened;
    await page.getByTestId("effort-picker").selectOption("high");
    await page.getByTestId("preview").getByText("about $0.31").waitFor();
    await page.getByTestId("change-cancel").click();
    expect(await page.getByTestId("effort-picker").inputValue()).toBe("default");
    await page.getByTestId("effort-picker").selectOption("high");
    await page.getByTestId("change-apply").click();
    await expect.poll(() => page.getByTestId("effort-picker").inputValue()).toBe("high");
  });

  test("an unused tab changes at once, and has no meters", async () => {
    await using opened = await site.open("#/tab/empty");
    const { page } = opened;
    await page.getByTestId("effort-picker").selectOption("low");
    await expect.poll(() => page.getByTestId("effort-picker").inputValue()).toBe("low");
    expect(await page.getByTestId("meters").count()).toBe(0);
  });

  test("a turn at its limit shows what was used and is raised, not by typing, to above it", async () => {
    await using opened = await site.open("#/tab/limit");
    const { page } = opened;
    expect(await page.getByTestId("limit-used").textContent()).toContain("$2.03 of $2.00");
    expect(await page.getByTestId("purpose").count()).toBe(0);
    await page.getByTestId("limit-amount").fill("2");
    expect(await page.getByTestId("limit-raise").isEnabled()).toBe(false);
    await page.getByTestId("limit-amount").fill("5");
    await page.getByTestId("limit-raise").click();
    await page.getByTestId("event").getByText("The limit was raised to $5.00.").waitFor();
    expect(await page.getByTestId("limit-prompt").count()).toBe(0);
  });

  test("where the cache restarts there is a line, and the summary can be undone there", async () => {
    await using opened = await site.open("#/tab/summed");
    const { page } = opened;
    await page.getByTestId("undo-here").waitFor();
    const lines = await page.getByTestId("event").allTextContents();
    for (const said of [
      "160k to about 22k tokens",
      "told that its instructions",
      "cache restarts here",
      "high effort",
    ]) {
      expect(lines.filter((line) => line.includes(said))).toHaveLength(1);
    }
    expect(await page.getByTestId("meter-cost").textContent()).toBe("at least $7.90");
    expect(await page.getByTestId("meter-cache").textContent()).toContain("cache expired");
  });

  test("the usage page has days, tabs, the limit of a day, prices by hand and bills of other tools", async () => {
    await using opened = await site.open("#/tab/main");
    const { page } = opened;
    await page.getByTestId("open-usage").click();
    await page.getByTestId("day-bar").nth(29).waitFor({ state: "attached" });
    await page.getByTestId("span-7").click();
    await expect.poll(() => page.getByTestId("day-bar").count()).toBe(7);
    expect(await page.getByTestId("usage-tabs").textContent()).toContain("A tab that was removed for good");
    await page.getByTestId("day-limit").fill("30");
    await page.getByTestId("day-limit-save").click();
    await page.getByTestId("today").getByText("$30.00").waitFor();
    await page.getByTestId("price-remove").click();
    await expect.poll(() => page.getByTestId("price-override").count()).toBe(0);
    await page.getByTestId("price-overrides").locator("summary").click();
    await page.getByTestId("price-model").fill("local/qwen3");
    await page.getByTestId("price-input").fill("0.2");
    await page.getByTestId("price-save").click();
    await page.getByTestId("price-override").getByText("fresh input $0.2").waitFor();
    await page.getByTestId("show-bill").first().click();
    await page.getByTestId("rewritten").getByText("$6.41, 21.1 % of the bill").waitFor();
    await page.getByTestId("show-bill").nth(1).click();
    await page.getByTestId("bill-error").getByText("No line of this file could be read.").waitFor();
    expect(opened.complaints).toEqual([]);
  });

  test("what the server cannot tell is said, and never a zero", async () => {
    await using opened = await site.open("#/tab/failed");
    const { page } = opened;
    await page.getByTestId("meter-cost").click();
    for (const part of ["cost", "context", "cache", "requests"]) {
      await page.getByTestId(`panel-${part}`).click();
      await page.getByTestId("error-note").getByText("cannot be read at the moment").waitFor();
      expect(await page.getByTestId("panel-loading").count()).toBe(0);
    }
    expect(await page.getByTestId("meter-read").count()).toBe(0);
  });

  test("hostile names, blocks and paths are text in every part", async () => {
    await using opened = await site.open("#/tab/hostile");
    const { page } = opened;
    expect(await page.getByTestId("meter-cost").textContent()).toBe("unknown");
    await openPart(page, "context");
    await page.getByTestId("context-change").first().waitFor();
    await page.getByTestId("panel-cost").click();
    await page.getByTestId("show-request").first().click();
    await page.getByTestId("sent-block").first().waitFor();
    await page.getByTestId("sent-request").evaluate((sent) => {
      for (const button of sent.querySelectorAll("button")) button.click();
      sent.querySelector("summary")?.click();
    });
    const texts = await page.getByTestId("block-json").allTextContents();
    expect(texts).toEqual([...HOSTILE]);
    await page.keyboard.press("Escape");
    await page.getByTestId("open-usage").click();
    await page.getByTestId("recording").nth(2).waitFor();
    expect(await page.getByTestId("recordings").textContent()).toContain("⟨U+202E⟩");
    const found = await page.evaluate(() => ({
      ran: "P" in window,
      elements: document.querySelectorAll("#app :is(script, iframe, object, embed, img, style, math, base)").length,
    }));
    expect(found).toEqual({ ran: false, elements: 0 });
    expect(opened.complaints).toEqual([]);
  });

  test.each(["cost", "context", "cache", "limits", "requests", "sync"])("on a phone %s fits", async (part) => {
    await using opened = await site.open("#/tab/main", phone);
    const { page } = opened;
    await openPart(page, part);
    await page.getByTestId(`${part}-part`).waitFor();
    await page.getByTestId("panel-loading").waitFor({ state: "detached" });
    const wide = await page.getByTestId("panel").evaluate((panel) =>
      [...panel.querySelectorAll("button, select, input, p, dl, .ledger-scroll")]
        .map((element) => [element.getBoundingClientRect(), element.outerHTML.slice(0, 100)] as const)
        .filter(([box]) => box.width > 0 && (box.right > window.innerWidth || box.left < 0))
        .map(([, html]) => html),
    );
    expect(wide).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  });
});

describe("on a phone", () => {
  const views = [
    "first",
    "#/tab/main",
    "#/tab/asks",
    "#/tab/runs",
    "#/tab/failed",
    "#/tab/limit",
    "#/tab/summed",
    "#/tab/restored",
    "#/usage",
    "#/new",
    "offline#/tab/main",
    "signedout",
  ];
  test.each(views)("%s has no sideways scroll and targets for a thumb", async (view) => {
    await using opened = await site.open(view, phone);
    const { page } = opened;
    await page.locator("#app button").first().waitFor();
    const small = await page.evaluate(() =>
      [...document.querySelectorAll("#app button, #app select, #app textarea")]
        .filter((element) => element.checkVisibility())
        .map((element) => [element.getBoundingClientRect(), element.outerHTML.slice(0, 120)] as const)
        .filter(([box]) => box.height < 28 || box.right > window.innerWidth)
        .map(([box, html]) => `${Math.round(box.height)} px high, to ${Math.round(box.right)}: ${html}`),
    );
    expect(small).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
    expect(opened.complaints).toEqual([]);
  });

  test("tabs are in a drawer that closes by Esc and by choosing one", async () => {
    await using opened = await site.open("#/tab/main", phone);
    const { page } = opened;
    await page.getByTestId("open-drawer").click();
    await page.getByTestId("drawer").waitFor();
    await page.keyboard.press("Escape");
    await page.getByTestId("drawer").waitFor({ state: "detached" });
    await page.getByTestId("open-drawer").click();
    await page.getByTestId("tab-row").filter({ hasText: "Find the slow query" }).click();
    await page.getByTestId("drawer").waitFor({ state: "detached" });
    await page.getByRole("heading", { name: "Find the slow query" }).waitFor();
  });
});
