/**
 * Comparisons of a client's rows with the log's, by digest. A difference means that a promise of the protocol was broken: it
 * heals by reading the rows anew, and is counted, so that it cannot go unseen.
 */
import type { Log } from "@varve/log";
import { type Fault, isFault } from "@varve/protocol";
import type { TabCore } from "./tab-core.ts";
import { digestOf } from "./tab-reads.ts";
import type { DigestHeld, RowSpan } from "./workspace-contract.ts";

export class DigestChecks {
  readonly #log: Log;
  #checks = 0;
  #mismatches = 0;

  constructor(log: Log) {
    this.#log = log;
  }

  /** The digest of the tab's rows as they are now. Nothing is counted when the client speaks of another log or term. */
  async compare(core: TabCore, rows: RowSpan, { log, term, mine }: DigestHeld): Promise<string | Fault> {
    const stands = (): boolean => core.fence.logId === log && core.fence.term === term;
    const stood = stands();
    const digest = await digestOf(this.#log, core, rows);
    // A tab that was pointed elsewhere while its rows were read has nothing to compare any more.
    if (isFault(digest) || !stood || !stands()) return digest;
    this.#checks++;
    if (digest !== mine) this.#mismatches++;
    return digest;
  }

  counters(): Readonly<Record<"digestChecks" | "digestMismatches", number>> {
    return { digestChecks: this.#checks, digestMismatches: this.#mismatches };
  }
}
