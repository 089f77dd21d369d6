/**
 * What tells two states apart, exactly: each part of a state is given a number for its content, and the key of a state is
 * the list of the numbers of its parts. Parts that are shared between states are looked at once.
 */
import type { TabView } from "@varve/client/view";
import type { Told } from "./driver.ts";
import type { Durable, Owner } from "./owner.ts";
import type { Line, World } from "./world.ts";

class Pool<T extends object> {
  readonly #content: (value: T) => string;
  readonly #numbers = new Map<string, number>();
  #known = new WeakMap<T, number>();

  constructor(content: (value: T) => string) {
    this.#content = content;
  }

  number(value: T): number {
    const known = this.#known.get(value);
    if (known !== undefined) return known;
    const content = this.#content(value);
    const number = this.#numbers.get(content) ?? this.#numbers.size;
    this.#numbers.set(content, number);
    this.#known.set(value, number);
    return number;
  }
}

export class Keys {
  readonly #any = new Pool<object>((value) => JSON.stringify(value));
  readonly #maps = new Pool<ReadonlyMap<string, object>>((map) =>
    [...map].map(([id, value]) => `${id}=${this.#any.number(value)}`).join(),
  );
  readonly #inboxes = new Pool<ReadonlyMap<string, string>>((map) => [...map].sort().join());
  readonly #lists = new Pool<readonly object[]>((list) => list.map((item) => this.#any.number(item)).join());
  readonly #owners = new Pool<Owner>((owner) => {
    const { n, open, status } = owner;
    return `${this.#durable(owner)}|${n}|${this.#lists.number(open)}|${this.#any.number(status)}`;
  });
  readonly #views = new Pool<TabView>((view) => {
    const { state, attached, reading, unreadFrom, ready, outbox, rows } = view;
    const parts = [
      state.logId,
      ...state.version,
      ...state.seen,
      state.nextLogId,
      this.#maps.number(state.queue),
      this.#maps.number(state.open),
      this.#lists.number(rows),
      state.tail,
      this.#any.number(state.status),
      attached,
      reading,
      unreadFrom,
      ready,
      this.#any.number(outbox),
    ];
    return parts.join("|");
  });
  readonly #told = new Pool<Told>(({ frame, truth }) => `${this.#any.number(frame)}/${this.#owners.number(truth)}`);
  readonly #lines = new Pool<Line>((line) => {
    const { client } = line;
    const told = (list: readonly Told[]): string => list.map((one) => this.#told.number(one)).join();
    const parts = [
      this.#views.number(client.view),
      this.#any.number(client.store),
      client.sub.kind,
      client.sub.re,
      client.asked.map(({ id, re }) => `${id}/${re}`).join(),
      this.#any.number(client.unsure),
      client.page === null ? "" : this.#any.number(client.page),
      client.sent.length,
      line.up,
      line.served,
      line.attached,
      line.have === null ? "" : this.#any.number(line.have),
      line.want,
      told(line.down),
      this.#any.number(line.said),
      told(line.lateDown),
      this.#any.number(line.lateSaid),
      told(line.copies),
    ];
    return parts.join("|");
  });

  of(world: World): string {
    const { owner, lines, budget, backup, made, isRestored, cancelled } = world;
    const parts = [
      this.#owners.number(owner),
      lines.map((line) => this.#lines.number(line)).join(),
      Object.values(budget).join(),
      backup === null ? "" : this.#durable(backup),
      Object.values(made).join(),
      isRestored ? 1 : 0,
      [...cancelled].sort().join(),
    ];
    return parts.join(";");
  }

  #durable({ log, term, rows, given, queue, inbox, places, former }: Durable): string {
    const parts = [
      log,
      term,
      this.#lists.number(rows),
      given,
      this.#lists.number(queue),
      this.#inboxes.number(inbox),
      places,
      former === null ? "" : this.#any.number(former),
    ];
    return parts.join("|");
  }
}
