/**
 * One page that a program drives. Every act is one look at the document and at most one click, made inside the page: what is
 * not there cannot be clicked, and then the act does nothing, as when a person was too late.
 */
import { nodeClock } from "@varve/agent";
import type { Delivery, TabId } from "@varve/protocol";
import { unreachable } from "@varve/protocol";
import type { Browser, Page } from "playwright-core";
import { type Visit, visit } from "../e2e/browser.ts";
import { TabPage } from "../e2e/tab-page.ts";
import { within } from "../e2e/within.ts";
import { createFaultProxy, type FaultProxy } from "./fault-proxy.ts";
import type { CardButton, NetworkFault } from "./program.ts";

/** A reload through a bad network is given up after this long, as a person would. */
const reloadMs = 3_000;

export class PageDriver implements AsyncDisposable {
  readonly proxy: FaultProxy;
  readonly tab: TabPage;
  readonly #visit: Visit;

  private constructor(proxy: FaultProxy, seen: Visit) {
    this.proxy = proxy;
    this.#visit = seen;
    this.tab = new TabPage(seen.page);
  }

  /** `link`: a one-time sign-in link of the server. */
  static async start(browser: Browser, server: () => string, link: string): Promise<PageDriver> {
    const proxy = await createFaultProxy({ target: server, clock: nodeClock });
    const seen = await visit(browser, proxy.url);
    const driver = new PageDriver(proxy, seen);
    await driver.tab.signIn(link.replace(server(), proxy.url));
    return driver;
  }

  get page(): Page {
    return this.#visit.page;
  }
  get complaints(): readonly string[] {
    return this.#visit.complaints;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#visit[Symbol.asyncDispose]();
    await this.proxy[Symbol.asyncDispose]();
  }

  async goTo(tab: TabId): Promise<void> {
    await this.tab.goTo(tab);
  }

  /** True when it was sent, as far as the page knows: a page that is not there takes nothing. */
  send(text: string, delivery: Delivery): Promise<boolean> {
    return this.#inPage(
      async ({ words, how }) => {
        // While a question is open what is typed would be its answer.
        document.querySelector<HTMLElement>('[data-testid="purpose-message"]')?.click();
        await new Promise(requestAnimationFrame);
        document.querySelector<HTMLElement>(`[data-testid="delivery-${how}"]`)?.click();
        await new Promise(requestAnimationFrame);
        const field = document.querySelector<HTMLTextAreaElement>('[data-testid="message-field"]');
        const answers = document.querySelector<HTMLInputElement>('[data-testid="purpose-answer"]')?.checked === true;
        if (field === null || answers) return false;
        field.value = words;
        field.dispatchEvent(new Event("input", { bubbles: true }));
        field.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
        return true;
      },
      { words: text, how: delivery },
    );
  }

  /** Clicks the first element of that name that can be clicked. */
  click(testId: string): Promise<boolean> {
    return this.#inPage((id) => {
      const button = document.querySelector<HTMLButtonElement>(`[data-testid="${id}"]:not(:disabled)`);
      button?.click();
      return button !== null;
    }, testId);
  }

  /** Clicks a button of the nth waiting message. Answers with the message's text; "" when there is none. */
  async card(nth: number, button: CardButton): Promise<string> {
    return await this.#read(
      ({ at, id }) => {
        const cards = document.querySelectorAll('[data-testid="queue-card"]');
        const card = cards[at % Math.max(1, cards.length)];
        const found = card?.querySelector<HTMLElement>(`[data-testid="${id}"]`);
        found?.click();
        return found ? (card?.querySelector(".text")?.textContent ?? "") : "";
      },
      { at: nth, id: button },
      "",
    );
  }

  /** Edits the nth waiting message: what was its first word stays. */
  async edit(nth: number, words: string): Promise<void> {
    await this.#inPage(
      async ({ at, text }) => {
        const cards = document.querySelectorAll('[data-testid="queue-card"]');
        const card = cards[at % Math.max(1, cards.length)];
        const first = (card?.querySelector(".text")?.textContent ?? "").split(" ")[0] ?? "";
        if (first === "") return false;
        card?.querySelector<HTMLElement>('[data-testid="queue-edit"]')?.click();
        for (let frames = 0; frames < 20; frames += 1) {
          await new Promise(requestAnimationFrame);
          const field = card?.querySelector<HTMLTextAreaElement>('[data-testid="queue-text"]');
          if (!field) continue;
          field.value = `${first} ${text}`;
          field.dispatchEvent(new Event("input", { bubbles: true }));
          await new Promise(requestAnimationFrame);
          card?.querySelector<HTMLElement>('[data-testid="queue-save"]')?.click();
          return true;
        }
        return false;
      },
      { at: nth, text: words },
    );
  }

  async scroll(to: "top" | "bottom"): Promise<void> {
    await this.#inPage((end) => {
      const rows = document.querySelector('[data-testid="rows"]');
      if (rows !== null) rows.scrollTop = end === "top" ? 0 : rows.scrollHeight;
      return rows !== null;
    }, to);
  }

  /** Lets the page paint so many frames. */
  async frames(count: number): Promise<void> {
    await this.#inPage(async (frames) => {
      for (let frame = 0; frame < frames; frame += 1) await new Promise(requestAnimationFrame);
      return true;
    }, count);
  }

  /** `bad`: through the network as it is. */
  async reload(bad: boolean): Promise<void> {
    // A person's hand is slower than the store that takes a sent message.
    await this.frames(3);
    if (!bad) this.proxy.heal();
    await this.page.reload({ waitUntil: "domcontentloaded", timeout: reloadMs }).catch(() => undefined); // The network is allowed to be bad.
  }

  fault(fault: NetworkFault): void {
    const { proxy } = this;
    const sockets = proxy.connections("socket");
    const set = (way: "up" | "down", flow: Parameters<(typeof sockets)[number]["set"]>[0]["up"]): void => {
      if (flow !== undefined) for (const one of sockets) one.set({ [way]: flow });
    };
    switch (fault.kind) {
      case "cut":
        for (const one of fault.what === "all" ? proxy.connections() : sockets) one.cut();
        return;
      case "cut-after":
        set(fault.way, { kind: "cut-after", bytes: fault.bytes });
        return;
      case "half-open":
        set(fault.way, { kind: "swallow" });
        return;
      case "stall":
        set(fault.way, { kind: "stall" });
        return;
      case "throttle":
        set("down", { kind: "throttle", bytes: fault.bytes, everyMs: 20 });
        return;
      case "delay":
        for (const way of ["up", "down"] as const) set(way, { kind: "delay", ms: fault.ms });
        proxy.setDefault({ up: { kind: "delay", ms: fault.ms }, down: { kind: "delay", ms: fault.ms } });
        return;
      case "refuse":
        proxy.refuse(true);
        for (const one of proxy.connections()) one.cut();
        return;
      default:
        unreachable(fault);
    }
  }

  /** The network is well again, and the machine tells the page so; a page that could not be loaded is loaded now. */
  async heal(): Promise<void> {
    this.proxy.heal();
    await this.#inPage(() => dispatchEvent(new Event("online")), undefined);
    const there = await this.#inPage(() => document.querySelector("#app > *") !== null, undefined);
    if (!there) await this.page.reload({ waitUntil: "domcontentloaded" });
  }

  /** The page is there, whatever became of it, and connected. */
  async revive(): Promise<void> {
    await this.heal();
    await this.tab.at("message-field").waitFor();
    await this.#untilLive();
  }

  async #untilLive(): Promise<void> {
    const live = this.page.locator('[data-testid="connection"][data-state="live"]');
    for (let tries = 0; tries < 100; tries += 1) {
      await this.#inPage(() => dispatchEvent(new Event("online")), undefined);
      const found = await live.waitFor({ state: "attached", timeout: 500 }).then(
        () => true,
        () => false,
      );
      if (found) return;
    }
    throw new Error(`the page does not connect: ${await this.page.getByTestId("connection").textContent()}`);
  }

  async #inPage<A>(act: (input: A) => boolean | Promise<boolean>, input: A): Promise<boolean> {
    return await this.#read(act, input, false);
  }

  /** What the page answers, or the other value when it is just being replaced by another document. */
  async #read<A, R>(act: (input: A) => R | Promise<R>, input: A, otherwise: R): Promise<R> {
    // Playwright's types cannot express that a JSON value goes in as it is; every caller hands over plain values.
    const asked: Promise<R> = this.page.evaluate(act as (input: unknown) => R | Promise<R>, input);
    return await within("the page answers", asked, 20_000).catch((error: unknown) => {
      if (/Execution context was destroyed|navigat/i.test(String(error))) return otherwise;
      throw error;
    });
  }
}
