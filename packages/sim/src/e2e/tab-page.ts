/** What a person does and reads on the page, by the names that the page gives its elements. */
import type { TabId } from "@varve/protocol";
import type { Locator, Page } from "playwright-core";

export class TabPage {
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  at(testId: string): Locator {
    return this.page.getByTestId(testId);
  }

  /** Opens a one-time link and waits until the page is in. */
  async signIn(link: string): Promise<void> {
    await this.page.goto(link);
    await this.at("new-tab-page").or(this.at("tab-head")).first().waitFor();
  }

  async openTab(directory: string): Promise<void> {
    await this.at("directory-input").fill(directory);
    await this.at("directory-input").press("Tab");
    await this.at("create-tab").click();
    await this.at("message-field").waitFor();
  }

  /** By its address, as a bookmark would. */
  async goTo(tab: TabId): Promise<void> {
    await this.page.evaluate((fragment) => {
      location.hash = fragment;
    }, `#/tab/${tab}`);
    await this.at("message-field").waitFor();
  }

  /** Types and sends with the button, which every size has. */
  async send(text: string, delivery?: "steer" | "queue" | "stop"): Promise<void> {
    await this.at("message-field").fill(text);
    if (delivery !== undefined) await this.at(`delivery-${delivery}`).check({ force: true });
    await this.at("send").click();
  }

  /** From now on it is noted when text of the model stands there before its block is sealed. */
  async watchStreaming(): Promise<void> {
    await this.page.evaluate(() => {
      new MutationObserver((_changes, observer) => {
        const growing = document.querySelector('[data-testid="assistant-text"][data-sealed="false"]');
        if (!growing?.textContent) return;
        // First: the mark is itself a change.
        observer.disconnect();
        document.body.dataset.streamed = "yes";
      }).observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true });
    });
  }
  hasStreamed(): Promise<boolean> {
    return this.page.evaluate(() => document.body.dataset.streamed === "yes");
  }

  /** Says yes to every question until the turn is over. */
  async allowAll(): Promise<void> {
    const question = this.at("permission-prompt");
    const over = this.at("turn-foot");
    for (;;) {
      await question.or(over).first().waitFor();
      if ((await question.count()) === 0) return;
      await this.at("allow-once").first().click();
      await question.waitFor({ state: "detached" });
    }
  }

  /** A text of the model, as far as it has come. */
  says(text: string | RegExp): Promise<void> {
    return this.at("assistant-text").filter({ hasText: text }).last().waitFor();
  }

  event(text: string | RegExp): Promise<void> {
    return this.at("event").filter({ hasText: text }).last().waitFor();
  }

  /** Waits until no turn is open. */
  async untilAtRest(): Promise<void> {
    const line = this.page.locator('[data-testid="status-line"]:is([data-state="idle"], [data-state="error"])');
    await line.waitFor({ state: "attached" });
  }

  /** Messages, answers and notices as they stand on the screen. */
  async words(): Promise<string> {
    const parts = ["user-message", "assistant-text", "event"].map((name) => `[data-testid="${name}"]`);
    return (await this.page.locator(parts.join(", ")).allInnerTexts()).join("\n---\n");
  }

  /** The text of one element. */
  async text(testId: string): Promise<string> {
    return (await this.at(testId).textContent()) ?? "";
  }

  /** Pixels by which the page is wider than its window. */
  sideways(): Promise<number> {
    return this.page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  }
}
