/** The tab list as it changes: coalesced, last record wins. Every listener gets the whole list first. */
import type { Clock, Frame, TabId, TabRecord, Timer } from "@varve/protocol";
import type { FrameSink } from "./workspace-contract.ts";

const intervalMs = 100;

export interface WorkspaceFeedPorts {
  readonly clock: Clock;
  readonly boot: string;
  readonly list: () => readonly TabRecord[];
  readonly record: (tab: TabId) => TabRecord | undefined;
}

export class WorkspaceFeed {
  readonly #ports: WorkspaceFeedPorts;
  readonly #sinks = new Set<FrameSink>();
  readonly #changed = new Set<TabId>();
  readonly #purged = new Set<TabId>();
  #n = 0;
  #timer: Timer | null = null;

  constructor(ports: WorkspaceFeedPorts) {
    this.#ports = ports;
  }

  subscribe(re: number | undefined, sink: FrameSink): () => void {
    this.#flush();
    this.#sinks.add(sink);
    sink.send(this.#frame({ re, full: true, tabs: [...this.#ports.list()], purged: [] }));
    return () => this.#sinks.delete(sink);
  }

  changed(tab: TabId): void {
    this.#changed.add(tab);
    this.#soon();
  }

  purged(tab: TabId): void {
    this.#purged.add(tab);
    this.#soon();
  }

  close(): void {
    this.#timer?.cancel();
    this.#sinks.clear();
  }

  #soon(): void {
    if (this.#sinks.size === 0) {
      this.#changed.clear();
      this.#purged.clear();
      return;
    }
    this.#timer ??= this.#ports.clock.setTimer(intervalMs, () => this.#flush());
  }

  #flush(): void {
    this.#timer?.cancel();
    this.#timer = null;
    if (this.#changed.size + this.#purged.size === 0) return;
    const tabs = [...this.#changed].flatMap((tab) => this.#ports.record(tab) ?? []);
    const frame = this.#frame({ re: undefined, full: false, tabs, purged: [...this.#purged] });
    this.#changed.clear();
    this.#purged.clear();
    for (const sink of this.#sinks) sink.send(frame);
  }

  #frame(said: { re: number | undefined; full: boolean; tabs: TabRecord[]; purged: TabId[] }): Frame {
    const { re, ...rest } = said;
    this.#n++;
    return { type: "workspace", ...(re !== undefined && { re }), boot: this.#ports.boot, n: this.#n, ...rest };
  }
}
