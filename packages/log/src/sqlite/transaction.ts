import { type Fault, fault, isFault } from "@varve/protocol";
import { FaultError } from "../fault-error.ts";
import type { Database, Statement } from "./driver.ts";
import { damaged, faultOf } from "./sqlite-fault.ts";

/** What a transaction comes to: kept, or undone with an answer all the same. */
export type Outcome<T> =
  | { readonly end: "commit"; readonly value: T }
  | { readonly end: "rollback"; readonly value: T };
export const kept = <T>(value: T): Outcome<T> => ({ end: "commit", value });
export const undone = <T>(value: T): Outcome<T> => ({ end: "rollback", value });

/**
 * Runs work on the one connection, and turns the engine's errors into faults. Once the file was found damaged every
 * write is refused with that finding: writing on would bury what can still be rescued.
 */
export class Transactions {
  readonly #path: string;
  readonly #begin: Statement;
  readonly #commit: Statement;
  readonly #rollback: Statement;
  /** Why nothing is written any more. */
  #stop: Fault | null = null;
  #isEnded = false;

  constructor(database: Database) {
    this.#path = database.path;
    this.#begin = database.prepare("BEGIN IMMEDIATE");
    this.#commit = database.prepare("COMMIT");
    this.#rollback = database.prepare("ROLLBACK");
  }

  /** All or nothing; synchronous, so nothing else can come between its statements. */
  write<T>(work: () => Outcome<T>): T | Fault {
    if (this.#stop !== null) return this.#stop;
    try {
      this.#begin.run();
      const outcome = work();
      (outcome.end === "commit" ? this.#commit : this.#rollback).run();
      return outcome.value;
    } catch (error) {
      this.#undo();
      return this.#faultOrThrow(error);
    }
  }

  /** One statement that writes is a transaction by itself. Nothing before it in `work` may write. */
  statement<T>(work: () => T): T | Fault {
    if (this.#stop !== null) return this.#stop;
    try {
      return work();
    } catch (error) {
      return this.#faultOrThrow(error);
    }
  }

  read<T>(work: () => T): T | Fault {
    if (this.#isEnded) return closed();
    try {
      return work();
    } catch (error) {
      return this.#faultOrThrow(error);
    }
  }

  /** For answers that have no room for a fault. */
  readOrThrow<T>(work: () => T): T {
    const value = this.read(work);
    if (isFault(value)) throw new FaultError(value);
    return value;
  }

  reportDamage(detail: string): Fault {
    this.#stop ??= damaged(this.#path, detail);
    return this.#stop;
  }

  /** After it every read and write answers that the log is closed. A damaged file is left as it is. */
  end(database: Database): void {
    if (this.#stop === null) this.read(() => database.settle());
    this.#isEnded = true;
    this.#stop = closed();
    database.close();
  }

  #undo(): void {
    try {
      this.#rollback.run();
    } catch {
      // A full disk or an I/O error makes SQLite roll back by itself, and then there is no transaction left to undo.
    }
  }

  #faultOrThrow(error: unknown): Fault {
    const found = faultOf(error, this.#path);
    if (found === null) throw error;
    if (found.code === "log-damaged") this.#stop ??= found;
    return found;
  }
}

const closed = (): Fault => fault("shutting-down", "The log is closed.", "What was saved is safe. Start Varve again.");
