/** Plays a program on two real pages of one real server, ends all faults, and looks whether everybody agrees. */
import { type ChunkId, type LogChunk, type TabId, unreachable } from "@varve/protocol";
import type { Browser } from "playwright-core";
import { logProblems, refusals } from "../e2e/log-checks.ts";
import { Product } from "../e2e/product.ts";
import { call, say } from "../e2e/scripted-agent.ts";
import { createPrng, type Prng } from "../prng.ts";
import { makeProject, type Project } from "../project.ts";
import { createFakeProvider, type FakeProvider } from "../provider/fake-provider.ts";
import type { Gate } from "../provider/gate.ts";
import type { FakeRequest } from "../provider/request-view.ts";
import type { Reply } from "../provider/script.ts";
import { disagreements, shownRows, unheard } from "./agreement.ts";
import { PageDriver } from "./page-driver.ts";
import { type Act, drawProgram } from "./program.ts";

export interface RunReport {
  readonly acts: number;
  /** Acts that found something to do. */
  readonly done: number;
  readonly sent: number;
  readonly rows: number;
  readonly problems: readonly string[];
}

/** At the end everything must come to rest within so many looks, of a tenth of a second or more each. */
const looksMax = 200;

/** One server, two pages, and as many programs as one likes, each on a tab of its own. */
export class PageWorld implements AsyncDisposable {
  readonly #project: Project;
  readonly #product: Product;
  readonly #provider: FakeProvider;
  readonly #model: SlowModel;
  readonly #pages: readonly [PageDriver, PageDriver];
  readonly #ends: Ends;

  private constructor(parts: WorldParts, ends: Ends) {
    this.#ends = ends;
    this.#project = parts.project;
    this.#product = parts.product;
    this.#provider = parts.provider;
    this.#model = parts.model;
    this.#pages = parts.pages;
  }

  static async start(browser: Browser): Promise<PageWorld> {
    const ends = new Ends();
    try {
      const project = ends.add(await makeProject("empty"));
      const model = new SlowModel();
      const provider = ends.add(await createFakeProvider({ reply: (request) => model.reply(request) }));
      model.provider = provider;
      const product = ends.add(await Product.start({ provider }));
      const server = (): string => product.url;
      const first = ends.add(await PageDriver.start(browser, server, product.link));
      const link = (await product.cli("link")).out.trim().split(/\s/).at(-1) ?? "";
      const second = ends.add(await PageDriver.start(browser, server, link));
      return new PageWorld({ project, product, provider, model, pages: [first, second] }, ends);
    } catch (error) {
      await ends[Symbol.asyncDispose]();
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#ends[Symbol.asyncDispose]();
  }

  /** `length`: how many acts of the seed's program are played. */
  async run(seed: number, length: number): Promise<RunReport> {
    const prng = createPrng(seed);
    const program = drawProgram(prng.fork(), length);
    this.#model.begin(prng.fork());
    const { id } = await this.#product.api.newTab({
      cwd: this.#project.dir,
      model: "anthropic/claude-test",
      permissions: "ask",
    });
    for (const page of this.#pages) await page.goTo(id);
    const play = new Play({ seed, tab: id, product: this.#product, model: this.#model, pages: this.#pages });
    for (const act of program) await play.do(act);
    const problems = await play.end();
    const rows = await this.#product.api.rows(id);
    problems.push(...logProblems(rows, []), ...refusals(this.#provider).map((why) => `refused by the vendor: ${why}`));
    for (const page of this.#pages) problems.push(...page.complaints);
    return { acts: program.length, done: play.done, sent: play.sent.size, rows: rows.length, problems };
  }
}

interface WorldParts {
  readonly project: Project;
  readonly product: Product;
  readonly provider: FakeProvider;
  readonly model: SlowModel;
  readonly pages: readonly [PageDriver, PageDriver];
}

/** What was begun, ended in the opposite order. */
class Ends implements AsyncDisposable {
  readonly #begun: AsyncDisposable[] = [];

  add<T extends AsyncDisposable>(one: T): T {
    this.#begun.push(one);
    return one;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const one of this.#begun.splice(0).reverse()) await one[Symbol.asyncDispose]();
  }
}

/** A model whose answers a program lets out bit by bit. */
class SlowModel {
  provider: FakeProvider | null = null;
  #prng: Prng = createPrng(0);
  #free = false;
  #held: Gate[] = [];

  begin(prng: Prng): void {
    this.#prng = prng;
    this.#free = false;
  }

  reply({ lastResults, index }: FakeRequest & { readonly index?: number }): Reply {
    const words = Array.from({ length: this.#prng.int(2, 30) }, () => this.#prng.pick(["one", "two", "three", "four"]));
    const text = say(`Answer ${index ?? ""} ${words.join(" ")} end`);
    const calls = lastResults.length === 0 && this.#prng.chance(0.4);
    const blocks = calls ? [text, call("bash", { command: "echo run >> marker" })] : [text];
    return this.#free ? { blocks } : { blocks, chunkSize: 7, holdAfter: this.#prng.int(0, 4) };
  }

  /** Lets the call that is held longest say more. */
  speak(deltas: number | null): void {
    if (this.provider === null) return;
    const gate = this.#held[0] ?? this.provider.gate();
    if (deltas === null) {
      this.#held = this.#held.filter((one) => one !== gate);
      gate.release();
      return;
    }
    if (!this.#held.includes(gate)) this.#held.push(gate);
    void gate.step(deltas);
  }

  /** From now on nothing is held. */
  release(): void {
    this.#free = true;
    for (const gate of this.#held.splice(0)) gate.release();
    const calls = this.provider?.calls.filter((one) => one.outcome() === null).length ?? 0;
    for (let n = 0; n < calls; n += 1) this.provider?.gate().release();
  }
}

interface PlayParts {
  readonly seed: number;
  readonly tab: TabId;
  readonly product: Product;
  readonly model: SlowModel;
  readonly pages: readonly [PageDriver, PageDriver];
}

class Play {
  /** First words of all messages that were sent, and whether somebody removed them. */
  readonly sent = new Map<string, { removed: boolean }>();
  done = 0;
  readonly #parts: PlayParts;

  constructor(parts: PlayParts) {
    this.#parts = parts;
  }

  async do(act: Act): Promise<void> {
    if (await this.#act(act)) this.done += 1;
  }

  async #act(act: Act): Promise<boolean> {
    const { pages, model, seed } = this.#parts;
    switch (act.act) {
      case "send": {
        const name = `m${seed}x${this.sent.size}`;
        // Noted first: a page may be replaced in the very moment after it has taken the message.
        const sent = await pages[act.page].send(`${name} says hello`, act.delivery);
        if (sent) this.sent.set(name, { removed: false });
        return sent;
      }
      case "stop":
        return await pages[act.page].click("stop");
      case "card": {
        const text = await pages[act.page].card(act.nth, act.button);
        const message = this.sent.get(text.split(" ")[0] ?? "");
        if (act.button === "queue-remove" && message !== undefined) message.removed = true;
        return text !== "";
      }
      case "edit":
        await pages[act.page].edit(act.nth, `was edited by ${act.page}`);
        return true;
      case "answer":
        return await pages[act.page].click(act.button);
      case "scroll":
        await pages[act.page].scroll(act.to);
        return true;
      case "reload":
        await pages[act.page].reload(act.bad);
        return true;
      case "model":
        model.speak(act.deltas);
        return true;
      case "look":
        await pages[act.page].frames(act.frames);
        return true;
      case "fault":
        pages[act.page].fault(act.fault);
        return true;
      case "heal":
        await pages[act.page].heal();
        return true;
      case "kill":
        await this.#parts.product.kill();
        await this.#parts.product.restart();
        return true;
      default:
        return unreachable(act);
    }
  }

  /** Ends all faults, lets everything come to rest, and compares. */
  async end(): Promise<string[]> {
    const { pages, product, tab, model } = this.#parts;
    for (const page of pages) await page.revive();
    model.release();
    const stuck = await this.#rest();
    const rows = await product.api.rows(tab);
    const problems = stuck === null ? [] : [stuck];
    for (const [number, page] of pages.entries()) {
      await toTheTop(page);
      for (const problem of disagreements(await shownRows(page.page), rows))
        problems.push(`page ${number}: ${problem}`);
      for (const text of await unheard(page.page)) problems.push(`page ${number} still keeps ${text}`);
      const lost = await page.page.getByTestId("lost-message").count();
      if (lost > 0) problems.push(`page ${number} says that ${lost} messages are gone`);
    }
    return [...problems, ...this.#messageProblems(rows)];
  }

  #messageProblems(rows: readonly LogChunk[]): readonly string[] {
    const said = rows.flatMap((row) =>
      row.type === "text" && row.role === "user" ? [row.data.text.split(" ")[0] ?? ""] : [],
    );
    const problems: string[] = [];
    for (const [name, { removed }] of this.sent) {
      const times = said.filter((one) => one === name).length;
      if (times > 1 || (times === 0 && !removed)) problems.push(`${name} is in the log ${times} times`);
    }
    for (const name of said) if (!this.sent.has(name)) problems.push(`nobody sent ${name}`);
    return problems;
  }

  /** Null once nothing moves and nothing waits: what is held is sent, what is asked is denied. */
  async #rest(): Promise<string | null> {
    const { pages, product, tab, model } = this.#parts;
    let quiet = 0;
    let why = "";
    for (let look = 0; look < looksMax && quiet < 2; look += 1) {
      const { queue, status } = await product.api.head(tab);
      for (const message of queue) if (message.state === "held") await this.#send(message.id, message.version);
      for (const { askId } of status.waits)
        await product.api.ask("POST", `/tabs/${tab}/answers`, { askId, verdict: "deny" });
      model.release();
      const states = await Promise.all(pages.map((page) => pageState(page)));
      const still = status.turnId === null && queue.length === 0 && states.every((state) => state === "quiet");
      why = `status ${status.state}, ${queue.length} waiting, pages ${states.join(" and ")}`;
      quiet = still ? quiet + 1 : 0;
      await Promise.all(pages.map((page) => page.frames(6)));
    }
    return quiet < 2 ? `it does not come to rest: ${why}` : null;
  }

  /** A refusal is fine: somebody else may have moved it meanwhile. */
  async #send(id: ChunkId, version: number): Promise<void> {
    const path = `/tabs/${this.#parts.tab}/queue/${id}`;
    await this.#parts.product.api.ask("PATCH", path, { version, state: "queued" });
  }
}

async function pageState({ page }: PageDriver): Promise<string> {
  return await page.evaluate(() => {
    const count = (name: string): number => document.querySelectorAll(`[data-testid="${name}"]`).length;
    const state = document.querySelector<HTMLElement>('[data-testid="connection"]')?.dataset.state;
    if (state !== "live") return `not connected: ${state}`;
    if (count("pending-message") > 0) return `${count("pending-message")} on their way`;
    if (count("queue-card") > 0) return `${count("queue-card")} cards`;
    if (document.querySelector('[data-testid="stop"]') !== null) return "a turn is shown";
    return "quiet";
  });
}

/** Reads older rows until there are none. */
async function toTheTop(driver: PageDriver): Promise<void> {
  const edge = driver.page.locator('[data-testid="rows"] .edge');
  for (let tries = 0; tries < 200; tries += 1) {
    await driver.scroll("bottom");
    await driver.frames(1);
    await driver.scroll("top");
    await driver.frames(2);
    if ((await edge.count()) === 0) return;
  }
}
