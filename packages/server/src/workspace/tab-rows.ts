/**
 * The sealed rows of a running tab, in memory: what the fold reads. Loaded when a turn begins, grown by each commit, freed
 * when the tab has been at rest for a while. The log stays the only truth.
 */
import type { Log } from "@varve/log";
import { assert, type Fault, isFault, type LogId, limits, type StoredRow } from "@varve/protocol";

export class TabRows {
  readonly #log: Log;
  readonly #giveWay: () => Promise<void>;
  #rows: StoredRow[] | null = null;

  /** `giveWay` answers after whatever else waits in this process has had its turn. */
  constructor(log: Log, giveWay: () => Promise<void>) {
    this.#log = log;
    this.#giveWay = giveWay;
  }

  /** The rows; `load` must have answered since the last `free`. */
  held(): readonly StoredRow[] {
    assert(this.#rows !== null, "rows were read before they were loaded");
    return this.#rows;
  }

  /**
   * Reads what is not held yet, up to `tail`. Runs inside the tab's mailbox, so no row is sealed meanwhile. A store that answers
   * at once never waits: between two pages whatever else the server has to do is let in.
   */
  async load(logId: LogId, tail: number): Promise<readonly StoredRow[] | Fault> {
    const rows = this.#rows ?? [];
    for (let pages = 0; rows.length < tail; pages++) {
      if (pages > 0) await this.#giveWay();
      const page = await this.#log.page({ logId, after: rows.length, limit: limits.pageRowsMax });
      if (isFault(page)) return page;
      assert(page.rows.length > 0, `log ${logId} ends at ${rows.length}, its tail says ${tail}`);
      for (const row of page.rows) {
        assert(row.seq === rows.length + 1, `log ${logId} has seq ${row.seq} where ${rows.length + 1} must stand`);
        rows.push(row);
      }
    }
    this.#rows = rows;
    return rows;
  }

  sealed(rows: readonly StoredRow[]): void {
    if (this.#rows === null) return;
    for (const row of rows) {
      assert(row.seq === this.#rows.length + 1, `sealed seq ${row.seq} does not follow ${this.#rows.length}`);
      this.#rows.push(row);
    }
  }

  free(): void {
    this.#rows = null;
  }
}
