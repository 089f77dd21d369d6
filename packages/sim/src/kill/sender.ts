/**
 * One client of a kill run: sends, edits, holds, removes and stops, one act after the other. A message whose answer was lost
 * is sent again under its own id before anything else, as an outbox does.
 */
import type { ChunkId, Delivery, HeadBody, TabId } from "@varve/protocol";
import type { Api, RawAnswer } from "../e2e/api.ts";
import type { Prng } from "../prng.ts";
import { pause } from "./pause.ts";
import type { Promised } from "./promises.ts";

interface Outgoing {
  readonly id: ChunkId;
  readonly text: string;
  readonly delivery: Delivery;
}
type Waiting = HeadBody["queue"][number];

export interface SenderPorts {
  readonly tab: TabId;
  readonly prng: Prng;
  /** After each acknowledged message. */
  readonly accepted: () => void;
  /** Right before a message goes out. */
  readonly sends: () => void;
}

export class Sender {
  readonly promised = new Map<ChunkId, Promised>();
  readonly #ports: SenderPorts;
  readonly #name: string;
  #outgoing: Outgoing | null = null;
  #made = 0;

  constructor(name: string, ports: SenderPorts) {
    this.#name = name;
    this.#ports = ports;
  }

  /** Acts until the server is gone, or `signal` says that it is enough. */
  async run(api: Api, signal: AbortSignal): Promise<void> {
    const { prng } = this.#ports;
    try {
      if (prng.chance(0.8)) await this.#releaseOwn(api);
      while (!signal.aborted) {
        await this.#act(api);
        await pause(prng.int(10, 120));
      }
    } catch (error) {
      // The server was killed: what was under way keeps its state of "nobody knows".
      if (!isGone(error)) throw error;
    }
  }

  /** Sends what is still unanswered, and releases all that is held. */
  async finish(api: Api): Promise<void> {
    if (this.#outgoing !== null) await this.#post(api, this.#outgoing);
    await this.#releaseOwn(api);
  }

  async #act(api: Api): Promise<void> {
    if (this.#outgoing !== null) return this.#post(api, this.#outgoing);
    const draw = this.#ports.prng.float();
    if (draw < 0.55) return this.#post(api, this.#newMessage());
    if (draw < 0.68) return this.#onOwn(api, (message) => this.#edit(api, message));
    if (draw < 0.76) return this.#onOwn(api, (message) => this.#remove(api, message));
    if (draw < 0.86) return this.#onOwn(api, (message) => this.#turnState(api, message));
    if (draw < 0.94) return void (await this.#ask(api, "POST", "/stop", {}));
    return this.#releaseOwn(api);
  }

  #newMessage(): Outgoing {
    const { prng } = this.#ports;
    this.#made += 1;
    const id = `${this.#name}-${this.#made}` as ChunkId; // Letters, digits and dashes: a legal id.
    const delivery = prng.pick<Delivery>(["steer", "steer", "queue", "queue", "stop"]);
    return { id, text: `${id} says ${"so ".repeat(prng.int(0, 20))}`.trim(), delivery };
  }

  async #post(api: Api, message: Outgoing): Promise<void> {
    const known: Promised = this.promised.get(message.id) ?? {
      id: message.id,
      sending: "unanswered",
      removal: "none",
      texts: [message.text],
    };
    this.promised.set(message.id, known);
    this.#outgoing = message;
    this.#ports.sends();
    const { status, code } = await this.#ask(api, "POST", "/messages", message);
    if (code === "shutting-down") return;
    this.#outgoing = null;
    known.sending = status === 202 ? "accepted" : "refused";
    if (status === 202) this.#ports.accepted();
    else if (code !== "queue-full") throw new Error(`a message was answered with ${status} ${code}`);
  }

  async #onOwn(api: Api, act: (message: Waiting) => Promise<void>): Promise<void> {
    const own = await this.#ownWaiting(api);
    const [first, ...rest] = own;
    if (first !== undefined) await act(this.#ports.prng.pick([first, ...rest]));
  }

  async #ownWaiting(api: Api): Promise<readonly Waiting[]> {
    const { queue } = await api.head(this.#ports.tab);
    return queue.filter(({ id }) => this.promised.has(id));
  }

  async #edit(api: Api, { id, version, text }: Waiting): Promise<void> {
    const promised = this.promised.get(id);
    if (promised === undefined) return;
    const edited = `${text.slice(0, 60)} v${version}`;
    const before = promised.texts;
    promised.texts = [...before, edited];
    const { status, code } = await this.#ask(api, "PATCH", `/queue/${id}`, { version, text: edited });
    if (status === 200) promised.texts = [edited];
    else if (code !== "shutting-down") promised.texts = before;
  }

  async #remove(api: Api, { id }: Waiting): Promise<void> {
    const promised = this.promised.get(id);
    if (promised === undefined) return;
    promised.removal = "unknown";
    const { status, body, code } = await this.#ask(api, "DELETE", `/queue/${id}`);
    if (code === "shutting-down") return;
    const isDropped = status === 200 && JSON.stringify(body).includes('"dropped"');
    promised.removal = isDropped ? "removed" : "none";
  }

  async #turnState(api: Api, { id, version, state }: Waiting): Promise<void> {
    await this.#ask(api, "PATCH", `/queue/${id}`, { version, state: state === "held" ? "queued" : "held" });
  }

  async #releaseOwn(api: Api): Promise<void> {
    for (const { id, version, state } of await this.#ownWaiting(api)) {
      if (state === "held") await this.#ask(api, "PATCH", `/queue/${id}`, { version, state: "queued" });
    }
  }

  #ask(api: Api, method: string, path: string, body?: unknown): Promise<RawAnswer> {
    return api.ask(method, `/tabs/${this.#ports.tab}${path}`, body);
  }
}

/** Whether a request failed because nobody was there to answer, or the answer broke off. */
function isGone(error: unknown): boolean {
  return (
    error instanceof TypeError ||
    (error instanceof Error && /terminated|aborted|socket|JSON|answered 503/i.test(error.message))
  );
}
