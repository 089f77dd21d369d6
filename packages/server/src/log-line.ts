/** The server's own log: one JSON object a line, secrets taken out, never a token. */
import type { Clock } from "@varve/protocol";

const levels = ["debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof levels)[number];

/** What `VARVE_LOG` says; anything else is `warn`. */
export const parseLevel = (text: string | undefined): LogLevel => levels.find((level) => level === text) ?? "warn";

export type LogLine = (
  level: Exclude<LogLevel, "silent">,
  event: string,
  fields?: Readonly<Record<string, unknown>>,
) => void;

export interface LogLinePorts {
  readonly level: LogLevel;
  readonly clock: Clock;
  readonly write: (line: string) => void;
  /** Takes every known secret out of a text. */
  readonly redact: (text: string) => string;
}

/** Characters of one line; the rest is cut. */
const lineCharsMax = 8_000;

export function logLines({ level, clock, write, redact }: LogLinePorts): LogLine {
  const least = levels.indexOf(level);
  return (at, event, fields = {}) => {
    if (levels.indexOf(at) < least) return;
    const time = new Date(clock.now()).toISOString();
    const plain = Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, plainValue(value)]));
    // Text by text as well: as JSON a secret with a quote or a backslash in it is spelled differently.
    const clean = (_name: string, value: unknown): unknown => (typeof value === "string" ? redact(value) : value);
    write(`${redact(JSON.stringify({ time, level: at, event, ...plain }, clean)).slice(0, lineCharsMax)}\n`);
  };
}

const plainValue = (value: unknown): unknown =>
  value instanceof Error ? { name: value.name, message: value.message, stack: value.stack } : value;
