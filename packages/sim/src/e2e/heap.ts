/** What a page and a server hold in memory, after everything that can go has gone. */
import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";

/** Bytes of script objects that are reachable in the page. */
export async function pageHeap(page: Page): Promise<number> {
  const devtools = await page.context().newCDPSession(page);
  try {
    await devtools.send("HeapProfiler.enable");
    // A second time: finalizers of the first let more go.
    for (let round = 0; round < 2; round += 1) await devtools.send("HeapProfiler.collectGarbage");
    return (await devtools.send("Runtime.getHeapUsage")).usedSize;
  } finally {
    await devtools.detach();
  }
}

const flatShare = 1.05;
const flatBytes = 2 * 1024 * 1024;

/** Whether memory has not grown: by at most a twentieth, or two mebibytes. */
export const isFlat = (before: number, after: number): boolean =>
  after <= Math.max(before * flatShare, before + flatBytes);

/** Resident bytes of a process; null where there is no /proc. */
export async function residentBytes(pid: number): Promise<number | null> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => null);
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(status ?? "")?.[1];
  return kilobytes === undefined ? null : Number(kilobytes) * 1024;
}
