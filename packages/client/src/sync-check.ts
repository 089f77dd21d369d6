/**
 * Compares the window with the server's rows by digest, and reads it anew where they differ. Nobody should ever see a
 * difference: each row is a fact from the moment it is sealed. The comparison is there to prove that, and to get a page out
 * of a state that a fault of ours, or of a proxy on the way, has put it in.
 *
 * What is compared is the window as it stood at the beginning. Rows that are sealed meanwhile don't disturb it; a tab that
 * points to another log, or an owner of another term, begins it anew.
 */
import { digestLine, type ErrorBody, type LogChunk, type LogId, limits } from "@varve/protocol";
import type { SyncCheck } from "./client.ts";
import { parseHeadDigest } from "./decode.ts";
import { Sha256 } from "./sha-256.ts";
import { readPage } from "./tab-pages.ts";
import type { TabStage } from "./tab-stage.ts";
import { replaceRows } from "./tab-view.ts";

/** Comparisons begun anew because the tab moved on; then the check has failed. */
export const checkTriesMax = 3;
/** Pages in which a window is read anew: many times what its limits allow, so only a faulty server reaches it. */
export const healPagesMax = 100;
/** UTF-16 units hashed in one go, so that a page stays responsive: a few milliseconds. */
const hashSliceChars = 256 * 1024;

export interface CheckOutcome extends Pick<SyncCheck, "lo" | "hi" | "error"> {
  readonly state: Exclude<SyncCheck["state"], "unknown" | "checking">;
  /** A difference was found, whatever became of it. */
  readonly differed: boolean;
}

/** The rows that are compared, and under which log and term they are held. */
interface Held {
  readonly rows: readonly LogChunk[];
  readonly lo: number;
  readonly hi: number;
  readonly log: LogId;
  readonly term: number;
}
type Verdict =
  | { readonly kind: "same" | "different" | "moved" }
  | { readonly kind: "failed"; readonly error: ErrorBody };

/** One check. Sends its own digest along, so that the server counts what differs. */
export async function checkWindow(stage: TabStage): Promise<CheckOutcome> {
  let differed = false;
  for (let tries = 0; tries < checkTriesMax && !stage.closed(); tries++) {
    const held = heldNow(stage);
    if (held === null) return failed(notLoaded, differed);
    const { lo, hi } = held;
    if (held.rows.length === 0) return { state: "same", lo, hi, differed };
    const first = await compare(stage, held);
    if (first.kind === "failed") return failed(first.error, differed);
    if (first.kind === "same") return { state: differed ? "healed" : "same", lo, hi, differed };
    if (first.kind === "different") {
      differed = true;
      const second = await heal(stage, held);
      if (second.kind === "failed") return failed(second.error, differed);
      if (second.kind !== "moved") return { state: second.kind === "same" ? "healed" : "different", lo, hi, differed };
    }
    await stage.headComes();
  }
  return failed(movedOn, differed);
}

/** Null while nothing is known of the tab. */
function heldNow(stage: TabStage): Held | null {
  const { rows, ready, state } = stage.view();
  if (!ready || state.logId === null) return null;
  return { rows, lo: rows[0]?.seq ?? 0, hi: rows.at(-1)?.seq ?? 0, log: state.logId, term: state.version[0] };
}

async function compare(stage: TabStage, held: Held): Promise<Verdict> {
  if (!stage.live()) return { kind: "failed", error: offline };
  const mine = await digestOf(stage, held.rows);
  const query = `digest=${held.lo}-${held.hi}&log=${held.log}&term=${held.term}&mine=${mine}`;
  const answer = await stage.rest({ method: "GET", path: `/tabs/${stage.tabId}/head?${query}` });
  if (!answer.ok) return { kind: "failed", error: answer.error };
  const theirs = parseHeadDigest(answer.body);
  if (theirs === null) return { kind: "failed", error: noDigest };
  if (theirs.logId !== held.log || theirs.term !== held.term || moved(stage, held)) return { kind: "moved" };
  return { kind: theirs.digest === mine ? "same" : "different" };
}

function moved(stage: TabStage, held: Held): boolean {
  const { logId, version } = stage.view().state;
  return stage.closed() || logId !== held.log || version[0] !== held.term;
}

async function digestOf(stage: TabStage, rows: readonly LogChunk[]): Promise<string> {
  const hash = new Sha256();
  let sinceBreath = 0;
  for (const row of rows) {
    const line = digestLine(row);
    hash.add(line);
    sinceBreath += line.length;
    if (sinceBreath < hashSliceChars) continue;
    sinceBreath = 0;
    await new Promise<void>((goOn) => stage.clock.setTimer(0, goOn));
  }
  return hash.hex();
}

/** Reads the same rows anew, puts them in the place of what is held, and compares what is held then. */
async function heal(stage: TabStage, held: Held): Promise<Verdict> {
  const fresh: LogChunk[] = [];
  for (let pages = 0, after = held.lo - 1; after < held.hi; pages++) {
    if (pages === healPagesMax) return { kind: "failed", error: endless };
    const limit = Math.min(limits.pageRowsMax, held.hi - after);
    const page = await readPage(stage, `after=${after}&limit=${limit}`);
    if (page === null) return { kind: "failed", error: unread };
    if (page.logId !== held.log || page.term !== held.term || moved(stage, held)) return { kind: "moved" };
    const last = page.chunks.at(-1);
    if (last === undefined || last.seq <= after) break;
    fresh.push(...page.chunks);
    after = last.seq;
  }
  stage.take(replaceRows(stage.view(), withHeld(fresh, held.rows)));
  const now = heldNow(stage);
  return now === null || moved(stage, held) ? { kind: "moved" } : await compare(stage, now);
}

/** Rows that were right all along keep their identity, so that a view renders only what was wrong. */
function withHeld(fresh: readonly LogChunk[], held: readonly LogChunk[]): readonly LogChunk[] {
  const own = new Map(held.map((row) => [JSON.stringify(row), row]));
  return fresh.map((row) => own.get(JSON.stringify(row)) ?? row);
}

const failed = (error: ErrorBody, differed: boolean): CheckOutcome => ({
  state: "failed",
  lo: 0,
  hi: 0,
  differed,
  error,
});

const notLoaded: ErrorBody = {
  code: "log-unavailable",
  message: "Nothing of this tab was loaded yet, so there is nothing to compare.",
  hint: "Check again when its rows are shown.",
};
const offline: ErrorBody = {
  code: "log-unavailable",
  message: "There is no connection to the server, so nothing could be compared.",
  hint: "Check again when the connection is back; the window is brought up to date by then anyway.",
};
const noDigest: ErrorBody = {
  code: "log-unavailable",
  message: "The server gave no digest of these rows.",
  hint: "Reload the page: the server may be of another version.",
};
const movedOn: ErrorBody = {
  code: "log-unavailable",
  message: `The tab moved on to another log or owner during each of ${checkTriesMax} comparisons.`,
  hint: "Nothing is wrong with that; check again.",
};
const unread: ErrorBody = {
  code: "log-unavailable",
  message: "The window differs from the server's rows, and they could not be read anew.",
  hint: "Check again when the connection is back, or reload the page.",
};
const endless: ErrorBody = {
  code: "log-unavailable",
  message: "The window differs from the server's rows, and reading them anew came to no end.",
  hint: "Reload the page.",
};
