import { decodePage } from "@varve/client";
import type { LogChunk, TabId } from "@varve/protocol";
import type { Api } from "../e2e/api.ts";

/** Rows asked for at once. */
const pageRows = 500;

/** Every row of a tab, read as a page of the product reads it: with the very bytes of its data. */
export async function readRows(api: Api, tab: TabId): Promise<readonly LogChunk[]> {
  const rows: LogChunk[] = [];
  for (;;) {
    const path = `/tabs/${tab}/chunks?after=${rows.at(-1)?.seq ?? 0}&limit=${pageRows}`;
    const page = decodePage((await api.ask("GET", path)).body);
    if (page === null) throw new Error(`no page of rows came from ${path}`);
    rows.push(...page.chunks);
    if (page.chunks.length === 0 || rows.length >= page.tail) return rows;
  }
}
