/** What a page shows against what the log holds, both taken when nothing moves any more. */
import { groupRows } from "@varve/client";
import type { LogChunk } from "@varve/protocol";
import type { Page } from "playwright-core";

export interface ShownRow {
  /** Id of the row, or of the call that an item of several rows stands for. */
  readonly key: string;
  /** Its words, for what people and models say; "" for everything else. */
  readonly text: string;
}

/** What the page of a log looks like. */
export function expectedRows(rows: readonly LogChunk[]): readonly ShownRow[] {
  const groups = groupRows({ rows, open: [], outputs: new Map() });
  return groups.flatMap(({ items }) =>
    items.map((item): ShownRow => {
      if (item.item === "tool") return { key: item.callId, text: "" };
      if (item.item === "open") return { key: item.open.id, text: "" };
      return { key: item.row.id, text: item.row.type === "text" ? plain(item.row.data.text) : "" };
    }),
  );
}

export async function shownRows(page: Page): Promise<readonly ShownRow[]> {
  const found = await page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>('[data-testid="rows"] [data-row]')].map((row) => ({
      key: row.dataset.row ?? "",
      text: row.querySelector('[data-testid="user-message"], [data-testid="assistant-text"]')?.textContent ?? "",
    })),
  );
  return found.map(({ key, text }) => ({ key, text: plain(text) }));
}

const plain = (text: string): string => text.replaceAll(/\s+/g, " ").trim();

/** Sentences about each difference; empty when there is none. The page may begin later than the log. */
export function disagreements(shown: readonly ShownRow[], rows: readonly LogChunk[]): readonly string[] {
  const problems: string[] = [];
  const keys = shown.map(({ key }) => key);
  if (new Set(keys).size < keys.length) problems.push(`something is shown twice: ${keys.join(" ")}`);
  const expected = expectedRows(rows).slice(-shown.length);
  if (shown.length === 0 && rows.length > 0) problems.push("nothing is shown");
  expected.forEach((row, at) => {
    const { key, text } = shown[at] ?? { key: "nothing", text: "" };
    if (row.key !== key) problems.push(`at ${at}: ${key} is shown where ${row.key} stands`);
    else if (row.text !== text) problems.push(`${key} reads ${JSON.stringify(text)}, not ${JSON.stringify(row.text)}`);
  });
  return problems.slice(0, 5);
}

/** Messages in the page's outbox whose fate it has not heard. */
export function unheard(page: Page): Promise<readonly string[]> {
  return page.evaluate(
    () =>
      new Promise<string[]>((resolve, reject) => {
        const opening = indexedDB.open("varve-outbox");
        opening.onerror = () => reject(opening.error);
        opening.onsuccess = () => {
          const database = opening.result;
          if (!database.objectStoreNames.contains("entries")) {
            database.close();
            resolve([]);
            return;
          }
          const all = database.transaction("entries").objectStore("entries").getAll();
          all.onerror = () => reject(all.error);
          all.onsuccess = () => {
            database.close();
            const entries: { readonly entry: { readonly text: string; readonly sealedAt?: number } }[] = all.result;
            resolve(entries.flatMap(({ entry }) => (entry.sealedAt === undefined ? [entry.text] : [])));
          };
        };
      }),
  );
}
