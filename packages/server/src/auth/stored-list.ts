/** A short list of records kept as JSON under one of the log's settings; changes are written one after another. */
import type { Log } from "@varve/log";
import { type Fault, isFault } from "@varve/protocol";

export type SettingStore = Pick<Log, "setting" | "putSetting">;

export class StoredList<T> {
  readonly #store: SettingStore;
  readonly #key: string;
  #records: readonly T[];
  /** Each change is made on what the one before it left. */
  #writing: Promise<unknown> = Promise.resolve();

  private constructor(store: SettingStore, key: string, records: readonly T[]) {
    this.#store = store;
    this.#key = key;
    this.#records = records;
  }

  /** What another version or a damaged setting left is not trusted: those records are gone. */
  static async load<T>(store: SettingStore, key: string, isRecord: (value: unknown) => value is T) {
    return new StoredList<T>(store, key, parsed(await store.setting(key)).filter(isRecord));
  }

  get records(): readonly T[] {
    return this.#records;
  }

  /** What cannot be written does not count. A fault of `next` changes nothing. */
  change(next: (records: readonly T[]) => readonly T[] | Fault): Promise<Fault | null> {
    const written = this.#writing.then(async () => {
      const records = next(this.#records);
      if (isFault(records)) return records;
      const problem = await this.#store.putSetting(this.#key, JSON.stringify(records));
      if (problem === null) this.#records = records;
      return problem;
    });
    this.#writing = written;
    return written;
  }
}

function parsed(text: string | null): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(text ?? "[]");
    return Array.isArray(value) ? value : [];
  } catch {
    return []; // Not JSON: nobody is let in by it, which is safe and shows at the door.
  }
}
