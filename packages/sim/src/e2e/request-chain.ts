/** What a vendor's cache sees of the requests of one tab, in order: each must begin with all of the one before. */
import { cacheBlocks, cacheScope } from "../cache/request-blocks.ts";
import type { RecordedCall } from "../provider/recorded-call.ts";

/** The parts of a request's input as the vendor renders them, without marks, behind everything else that keys its cache. */
export const renderedInput = ({ vendor, body }: Pick<RecordedCall, "vendor" | "body">): readonly string[] => [
  cacheScope(vendor, body),
  ...cacheBlocks(vendor, body).map(({ text }) => text),
];

/** Empty when each call repeats the one before and goes on from there; else a line for each that does not. */
export function chainProblems(calls: readonly RecordedCall[]): readonly string[] {
  return calls.flatMap((call, at) => {
    const before = at === 0 ? [] : renderedInput(calls[at - 1] ?? call);
    const now = renderedInput(call);
    const differs = before.findIndex((text, index) => now[index] !== text);
    if (differs < 0) return [];
    const [old = "", fresh = ""] = [before[differs], now[differs]];
    return [`call ${at} differs at part ${differs}: ${old.slice(0, 200)} | ${fresh.slice(0, 200)}`];
  });
}
