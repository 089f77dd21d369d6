/**
 * The wire's promise under fire: random logs, each of their requests through the real provider package with a stub `fetch`.
 * Counted are prefix violations, bodies that the vendor's rules refuse, and warnings of the package. All must be none.
 */
import fc from "fast-check";
import type { Adapter } from "./adapters.ts";
import { extendsBody, type SplitBody, splitBody } from "./adapters.ts";
import { requestFor } from "./capture.ts";
import { type RandomLog, randomLogsFor } from "./random-log.ts";
import { send } from "./send.ts";

export { type Adapter, adapters, olderAdapters } from "./adapters.ts";

/** Why a vendor refuses a body with a 400, or null. */
export type Problem = (body: unknown, model: string) => string | null;

export interface FuzzFigures {
  readonly requests: number;
  /** Requests that were compared with the one before them. */
  readonly compared: number;
  readonly prefixViolations: readonly string[];
  readonly invalid: readonly string[];
  readonly warnings: readonly string[];
}

/** None of these may stand in a body: what providers refuse as empty, and half an emoji. */
const emptiness = ['"text":""', '"content":[]', '"parts":[]', "\\ud83d"];
/** DeepSeek's own adapter writes an empty text beside calls, as its service does. */
const emptyContent = '"content":""';

/** A thought without words goes back as it came, signed: at OpenRouter it stands among the details. */
const silentThought = '{"type":"reasoning.text","text":""';

function emptyIn(text: string, profile: string): string | undefined {
  const spoken = profile === "openrouter" ? text.replaceAll(silentThought, "{") : text;
  return [...emptiness, ...(profile === "deepseek" ? [] : [emptyContent])].find((what) => spoken.includes(what));
}

export interface FuzzOptions {
  readonly adapter: Adapter;
  readonly problem: Problem;
  readonly seed: number;
  /** Stops behind the log in which this many are reached. */
  readonly requests: number;
}

/** Logs are made this many at a time, so that few are made in vain. */
const batch = 20;
/** A log holds at least one request. */
const logsMax = 10_000;

export async function fuzz({ adapter, problem, seed, requests }: FuzzOptions): Promise<FuzzFigures> {
  const count = new Count();
  for (let at = 0; at < logsMax; at++) {
    const logs = fc.sample(randomLogsFor(adapter.target.modelScope), { seed: seed + at, numRuns: batch });
    for (const [index, log] of logs.entries()) {
      await runLog(log, { adapter, problem, name: `${adapter.name}, seed ${seed + at}, log ${index}`, count });
      if (count.requests >= requests) return count;
    }
  }
  return count;
}

class Count implements FuzzFigures {
  requests = 0;
  compared = 0;
  readonly prefixViolations: string[] = [];
  readonly invalid: string[] = [];
  readonly warnings: string[] = [];
}

interface Run extends Pick<FuzzOptions, "adapter" | "problem"> {
  readonly name: string;
  readonly count: Count;
}

async function runLog({ rows, points }: RandomLog, { adapter, problem, name, count }: Run): Promise<void> {
  let before: { readonly segment: number; readonly body: SplitBody } | null = null;
  for (const { end, segment } of points) {
    const request = requestFor(rows.slice(0, end), { target: adapter.target, modelName: adapter.target.modelScope });
    const where = `${name}, row ${end}`;
    const { text, warnings } = await send(request, adapter.model);
    count.requests += 1;
    count.warnings.push(...warnings.map((warning) => `${where}: ${JSON.stringify(warning)}`));
    const found = problem(JSON.parse(text), adapter.target.model) ?? emptyIn(text, adapter.target.profile.name);
    const violation = request.violations[0]?.code ?? (request.endsDerived ? "ends derived" : undefined);
    const wrong = found ?? violation;
    if (wrong !== undefined) count.invalid.push(`${where}: ${wrong}`);
    const body = splitBody(text, adapter.target.profile.name);
    if (before !== null && before.segment === segment) {
      count.compared += 1;
      if (!extendsBody(body, before.body)) count.prefixViolations.push(where);
    }
    before = { segment, body };
  }
}
