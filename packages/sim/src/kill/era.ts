/** One home from its first start to its end, with two tabs whose agents speak to different vendors. */
import { readFile } from "node:fs/promises";
import type { LogChunk, TabState } from "@varve/protocol";
import { Follower } from "../e2e/follower.ts";
import { logProblems, refusals } from "../e2e/log-checks.ts";
import { processesWith } from "../e2e/processes.ts";
import { Product } from "../e2e/product.ts";
import { chainProblems } from "../e2e/request-chain.ts";
import { within } from "../e2e/within.ts";
import type { Prng } from "../prng.ts";
import { makeProject, type Project } from "../project.ts";
import { createFakeProvider, type FakeProvider } from "../provider/fake-provider.ts";
import { comes, drawMoment, LifeEvents } from "./moment.ts";
import { pause } from "./pause.ts";
import { promiseProblems } from "./promises.ts";
import { readRows } from "./read-rows.ts";
import { KillScript, keysIn } from "./script.ts";
import { Sender } from "./sender.ts";
import type { Tally } from "./tally.ts";
import { prefixProblems, rowsOfHome, startProblems } from "./torn-check.ts";
import { copyOfHome, tornCopy } from "./torn-copy.ts";
import { Witness } from "./witness.ts";

/** One of each way of speaking, so that the requests of each tab are told apart by their vendor. */
const models = ["anthropic/claude-test", "openai-compatible/test-model"] as const;
const sendersPerTab = [2, 1] as const;
/** Longest span from the start of a process to a kill that shall hit its boot. */
const bootMs = 450;
/** Turns at the end of an era, and how often what waits is released there. */
const endMs = 90_000;
const roundsMax = 100;
let erasMade = 0;

interface WatchedTab {
  readonly id: Awaited<ReturnType<Product["api"]["newTab"]>>["id"];
  readonly witness: Witness;
  readonly senders: readonly Sender[];
}

export class Era implements AsyncDisposable {
  readonly #prng: Prng;
  readonly #tally: Tally;
  readonly #product: Product;
  readonly #provider: FakeProvider;
  readonly #project: Project;
  readonly #script: KillScript;
  readonly #nap: string;
  #tabs: readonly WatchedTab[] = [];
  #events = new LifeEvents();

  private constructor(
    prng: Prng,
    tally: Tally,
    parts: { product: Product; provider: FakeProvider; project: Project; script: KillScript; nap: string },
  ) {
    this.#prng = prng;
    this.#tally = tally;
    this.#product = parts.product;
    this.#provider = parts.provider;
    this.#project = parts.project;
    this.#script = parts.script;
    this.#nap = parts.nap;
  }

  static async begin(prng: Prng, tally: Tally): Promise<Era> {
    erasMade += 1;
    // A span that no other process of this machine sleeps.
    const nap = `sleep 600.${process.pid}${erasMade}`;
    const script = new KillScript(prng.fork(), nap);
    const project = await makeProject("empty");
    const provider = await createFakeProvider({ reply: script.reply });
    void script.pace(provider);
    const product = await Product.start({ provider });
    const era = new Era(prng, tally, { product, provider, project, script, nap });
    tally.starts += 1;
    await era.#openTabs();
    return era;
  }

  async #openTabs(): Promise<void> {
    const tabs: WatchedTab[] = [];
    for (const [at, model] of models.entries()) {
      const { id } = await this.#product.api.newTab({ cwd: this.#project.dir, model, permissions: "allow" });
      const senders = Array.from({ length: sendersPerTab[at] ?? 1 }, (_, one) => {
        const accepted = (): void => {
          this.#tally.messages += 1;
          this.#events.accepted();
        };
        const sends = (): void => this.#events.sends();
        return new Sender(`m${erasMade}-${at}-${one}`, { tab: id, prng: this.#prng.fork(), accepted, sends });
      });
      tabs.push({ id, witness: new Witness(), senders });
    }
    this.#tabs = tabs;
  }

  /** A life of the server under its clients, its kill, perhaps further kills of the boots behind it, and a look at what is left. */
  async live(): Promise<void> {
    await this.#lifeAndKill();
    await this.#tear();
    while (this.#prng.chance(0.3)) await this.#killBoot();
    await this.#startAndLook();
  }

  async #lifeAndKill(): Promise<void> {
    this.#events = new LifeEvents();
    const moment = drawMoment(this.#prng);
    this.#script.mood = moment === "tool" ? "works" : moment === "stream" ? "talks" : "any";
    const { api } = this.#product;
    const followers = await Promise.all(this.#tabs.map(({ id }) => Follower.on(api, id)));
    const over = new AbortController();
    const acts = this.#tabs.flatMap(({ senders }) => senders.map((sender) => sender.run(api, over.signal)));
    await comes(moment, { events: this.#events, followers, prng: this.#prng });
    if (moment === "ending") {
      process.kill(this.#product.pid, "SIGTERM");
      await pause(this.#prng.int(0, 250));
    }
    await this.#product.kill().catch(() => undefined);
    this.#tally.killed(this, moment);
    over.abort();
    await Promise.all(acts);
    for (const [at, follower] of followers.entries()) {
      await follower.untilOver();
      this.#tabs[at]?.witness.saw(follower.state);
      follower[Symbol.dispose]();
    }
  }

  /** Kills a server on its way up: before it listens, or right behind that, while it repairs. */
  async #killBoot(): Promise<void> {
    const child = this.#product.beginRestart();
    const moment = this.#prng.pick(["boot", "recovery"] as const);
    if (moment === "boot") await pause(this.#prng.int(0, bootMs));
    else {
      await within("the boot comes to listening", child.says(/listening on/));
      await pause(this.#prng.int(0, 30));
    }
    await this.#product.kill();
    this.#tally.killed(this, moment);
  }

  async #tear(): Promise<void> {
    const { home } = this.#product;
    await using torn = await tornCopy(home, this.#prng);
    this.#tally.tornCopies += 1;
    if (this.#prng.chance(0.15)) {
      this.#tally.tornStarts += 1;
      this.#tally.wrong(torn.damage, await startProblems(torn, this.#product.env()));
      this.#tally.wrong(torn.damage, (await rowsOfHome(torn.path)).problems);
      return;
    }
    await using sound = await copyOfHome(home);
    const [whole, part] = [await rowsOfHome(sound.path), await rowsOfHome(torn.path)];
    this.#tally.wrong("sound copy", whole.problems);
    this.#tally.wrong(torn.damage, [...part.problems, ...prefixProblems(part.rows, whole.rows)]);
  }

  async #startAndLook(): Promise<void> {
    await this.#product.restart();
    this.#tally.starts += 1;
    for (const tab of this.#tabs) {
      using follower = await Follower.on(this.#product.api, tab.id);
      await follower.until("the tab is at rest", ({ status }) => status.turnId === null);
      await this.#look(tab);
    }
    this.#tally.wrong(
      "processes",
      ((await processesWith(this.#nap)) ?? []).map((pid) => `${pid} outlived the server`),
    );
    this.#tally.wrong(
      "wire",
      refusals(this.#provider).map((refusal) => `a request was refused: ${refusal}`),
    );
    await this.#lookAtCommands();
  }

  async #look({ id, witness, senders }: WatchedTab): Promise<void> {
    const { api } = this.#product;
    const [rows, { queue }] = [await readRows(api, id), await api.head(id)];
    this.#tally.rows += rows.length;
    const { shares, problems } = witness.settleOpen(rows);
    this.#tally.kept(shares);
    const waiting = queue
      .filter(({ state }) => state !== "held")
      .map((message) => `${message.id} waits and is not held`);
    const promised = senders.flatMap((sender) => [...sender.promised.values()]);
    this.#tally.wrong("rows", [...problems, ...witness.rowProblems(rows), ...logProblems(rows, [])]);
    this.#tally.wrong("messages", [...waiting, ...promiseProblems(promised, { rows, queue })]);
  }

  /** Every command ran at most once, and none whose call was not sealed before. */
  async #lookAtCommands(): Promise<void> {
    const ran = keysIn(await readFile(this.#project.path("marker"), "utf8").catch(() => ""));
    const rows = (await Promise.all(this.#tabs.map(({ id }) => readRows(this.#product.api, id)))).flat();
    const sealed = new Set(rows.flatMap((row) => (row.type === "tool_call" ? keysIn(row.data.argsText) : [])));
    this.#tally.wrong("commands", [
      ...ran.filter((key, at) => ran.indexOf(key) !== at).map((key) => `the command ${key} ran again`),
      ...ran.filter((key) => !sealed.has(key)).map((key) => `the command ${key} ran before its call was sealed`),
      ...answeredKeys(rows).flatMap((key) => (ran.includes(key) ? [] : [`${key} has a result and did not run`])),
    ]);
  }

  /** All that waits is sent and answered, and no request ever changed what an earlier one had said. */
  async end(): Promise<void> {
    if (this.#tally.violations.length > 0) return;
    this.#script.mood = "calm";
    const { api } = this.#product;
    for (const { id, senders } of this.#tabs) {
      using follower = await Follower.on(api, id);
      await this.#sendAll(follower, senders);
      const last = await api.send(id, "the last one");
      await follower.untilAnswered(last.id, endMs);
      this.#tally.wrong("at the end", logProblems(await readRows(api, id), [last.id]));
      await this.#look({ id, senders, witness: new Witness() });
    }
    this.#tally.commands += keysIn(await readFile(this.#project.path("marker"), "utf8").catch(() => "")).length;
    const vendors = new Set(this.#provider.calls.map(({ vendor }) => vendor));
    const chains = [...vendors].flatMap((vendor) =>
      chainProblems(this.#provider.calls.filter((call) => call.vendor === vendor)),
    );
    this.#tally.wrong("wire", [...chains, ...refusals(this.#provider).map((text) => `a request was refused: ${text}`)]);
  }

  /** A message that stops a turn holds the others again, so what is held is released until nothing waits. */
  async #sendAll(follower: Follower, senders: readonly Sender[]): Promise<void> {
    for (let round = 0; round < roundsMax; round++) {
      for (const sender of senders) await sender.finish(this.#product.api);
      await follower.until("nothing runs and nothing is on its way", isAtRest, endMs);
      if (follower.state.queue.size === 0) return;
    }
    this.#tally.wrong("at the end", ["what was released again and again still waits"]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#script.stop();
    await this.#product[Symbol.asyncDispose]();
    await this.#provider.close();
    await this.#project.remove();
  }
}

/** Nothing runs, and what waits is held. Between two turns a tab may look idle for a moment: its newest turn has ended then. */
function isAtRest({ status, queue, sealed }: TabState): boolean {
  const waits = [...queue.values()].some(({ message }) => message.state === "queued");
  const newest = [...sealed.values()].map(({ row }) => row).filter(({ turnId }) => turnId !== "");
  const last = newest.reduce<LogChunk | undefined>((a, b) => (a === undefined || b.seq > a.seq ? b : a), undefined);
  const ended = last === undefined || (last.type === "system" && last.data.kind === "turn-end");
  return status.turnId === null && !waits && ended;
}

/** Keys of calls whose own result came back. */
function answeredKeys(rows: readonly LogChunk[]): readonly string[] {
  return rows.flatMap((row) => (row.type === "tool_result" && !row.data.isError ? keysIn(row.data.result) : []));
}
