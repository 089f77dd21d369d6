/** A program that follows one tab by its event stream and joins what comes exactly as a page does. */
import { tailFrames } from "@varve/client/node";
import {
  applyHead,
  applyOps,
  type ChunkId,
  emptyTabState,
  type Frame,
  type LogChunk,
  type TabId,
  type TabState,
  type TurnId,
} from "@varve/protocol";
import type { Api } from "./api.ts";
import { within } from "./within.ts";

const endsTurn = (row: LogChunk, turn: TurnId): boolean =>
  row.turnId === turn && row.type === "system" && row.data.kind === "turn-end";

export class Follower implements Disposable {
  state: TabState = emptyTabState;
  readonly frames: Frame[] = [];
  readonly #abort = new AbortController();
  readonly #watchers = new Set<() => void>();
  #over: string | null = null;

  /** Resolves once the first head is applied. */
  static async on(api: Api, tab: TabId): Promise<Follower> {
    const follower = new Follower();
    void follower.#read(api, tab);
    await follower.until("the first head comes", ({ logId }) => logId !== null);
    return follower;
  }

  /** Resolves when the tab is as wished; rejects when the stream ends before that. */
  async until(what: string, wish: (state: TabState, follower: Follower) => boolean, ms?: number): Promise<void> {
    let look = (): void => undefined;
    const met = new Promise<void>((resolve, reject) => {
      look = () => {
        if (wish(this.state, this)) resolve();
        else if (this.#over !== null) reject(new Error(`the stream ended (${this.#over}) before: ${what}`));
      };
    });
    this.#watchers.add(look);
    look();
    try {
      await within(what, met, ms);
    } catch (error) {
      throw new Error(`${String(error)}\n${this.summary()}`);
    } finally {
      this.#watchers.delete(look);
    }
  }

  /** The message is in the log, and so is the end of its turn. */
  untilAnswered(id: ChunkId, ms?: number): Promise<void> {
    return this.until(
      `the turn of ${id} ends`,
      ({ sealed, status }) => {
        const turn = sealed.get(id)?.row.turnId;
        return turn !== undefined && status.turnId === null && this.rows().some((row) => endsTurn(row, turn));
      },
      ms,
    );
  }

  /** The stream has ended, as it does when the server is killed. */
  untilOver(): Promise<void> {
    return within("the stream ends", this.#overSoon());
  }

  rows(): readonly LogChunk[] {
    return [...this.state.sealed.values()].map((cell) => cell.row).toSorted((a, b) => a.seq - b.seq);
  }

  /** Text of all open blocks, live output of tools included. */
  openText(): string {
    return [...this.state.open.values()].map((cell) => cell.text).join("");
  }

  summary(): string {
    const rows = this.rows().map(({ seq, role, type, data }) => `${seq} ${role}/${type} ${JSON.stringify(data)}`);
    return `${JSON.stringify(this.state.status)}\n${rows.map((row) => row.slice(0, 300)).join("\n")}`;
  }

  [Symbol.dispose](): void {
    this.#abort.abort();
  }

  #overSoon(): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (this.#over !== null) resolve();
      };
      this.#watchers.add(look);
      look();
    });
  }

  async #read({ url, token }: Api, tabId: TabId): Promise<void> {
    try {
      const { signal } = this.#abort;
      for await (const { frame } of tailFrames({ baseUrl: url, token, tabId, signal })) this.#take(frame);
      this.#over = "the server ended it";
    } catch (error) {
      this.#over = String(error);
    }
    this.#tell();
  }

  #take(frame: Frame): void {
    this.frames.push(frame);
    const outcome =
      frame.type === "head"
        ? applyHead(this.state, frame, { answersSub: this.state.logId === null })
        : frame.type === "ops"
          ? applyOps(this.state, frame)
          : null;
    if (outcome?.kind === "resub") throw new Error(`a reader in order never needs to ask again: ${outcome.reason}`);
    if (outcome?.kind === "applied") this.state = outcome.state;
    this.#tell();
  }

  #tell(): void {
    for (const watch of this.#watchers) watch();
  }
}
