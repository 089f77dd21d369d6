import type { FakeRequest } from "./request-view.ts";
import type { Vendor } from "./vendor.ts";

/**
 * What the fake provider answers. Everything but the function forms is plain JSON, so a script may live in a file.
 */
export type ReplyBlock =
  | {
      readonly type: "thinking";
      readonly text: string;
      /** Left out: the server issues one bound to the prefix. A string: sent as it is, and known from then on. null: none. */
      readonly signature?: string | null;
      /** Exact deltas; they replace the cutting of `text` by `chunkSize`. */
      readonly deltas?: readonly string[];
    }
  | { readonly type: "redacted_thinking"; readonly data?: string }
  | { readonly type: "text"; readonly text: string; readonly deltas?: readonly string[] }
  | {
      readonly type: "tool_use";
      readonly id?: string;
      readonly name: string;
      /** Parsed form; `rawInput` (exact text, may be broken JSON) wins where both are given. */
      readonly input?: Readonly<Record<string, unknown>>;
      readonly rawInput?: string;
      readonly deltas?: readonly string[];
    };

/**
 * Where in the stream a failure strikes: before any header, after the first event and before any content, after so many
 * content deltas, or after all content and before the closing events.
 */
export type FailurePoint = "request" | "start" | "end" | number;

export type Failure =
  | {
      readonly kind: "status";
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly errorType?: string;
      readonly message?: string;
      /** The answer's whole text, in place of the vendor's error shape. */
      readonly body?: string;
      /** Puts the caller's key into the message, as some gateways do. */
      readonly echoKey?: boolean;
    }
  | {
      readonly kind: "error-event";
      readonly at?: FailurePoint;
      readonly errorType?: string;
      readonly message?: string;
    }
  /** The socket is destroyed. */
  | { readonly kind: "cut"; readonly at?: FailurePoint }
  /** The answer ends as HTTP wants, without the vendor's closing events. */
  | { readonly kind: "clean-end"; readonly at?: FailurePoint }
  /** Nothing more is sent and the socket stays open until the caller or the test ends it. */
  | { readonly kind: "silence"; readonly at?: FailurePoint };

/** Token figures in place of those of the cache model. */
export interface ReplyUsage {
  readonly input?: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  readonly output?: number;
}

export interface Reply {
  readonly blocks?: readonly ReplyBlock[];
  /** Anthropic's word for it; OpenAI's is derived. Left out: `tool_use` if there is a tool call, else `end_turn`. */
  readonly stopReason?: string;
  readonly usage?: ReplyUsage;
  /** Characters (code points) a delta; default 16. */
  readonly chunkSize?: number;
  /** Stops after so many content deltas until a gate lets it go on. */
  readonly holdAfter?: number;
  readonly fail?: Failure;
}

/** Which requests an entry answers. Strings are sources of regular expressions; all given fields must match. */
export interface Match {
  readonly vendor?: Vendor;
  readonly model?: string;
  readonly lastUserText?: string;
  readonly system?: string;
  /** Matches if one of the results that end the request does. */
  readonly toolResult?: string;
  /** Whether the request ends in tool results. */
  readonly afterTools?: boolean;
}

export type ReplyFunction = (request: FakeRequest) => Reply | Promise<Reply>;

export interface ScriptEntry {
  readonly match?: Match | ((request: FakeRequest) => boolean);
  readonly reply: Reply | ReplyFunction;
  /** How many requests the entry answers; default 1. */
  readonly times?: number | "always";
}

/** A bare reply is an entry without a match that is used once. */
export type ScriptItem = ScriptEntry | Reply;

export interface Script {
  add(items: readonly ScriptItem[]): void;
  /** The reply of the first entry that is left and matches; null if there is none. Taking it uses it up. */
  take(request: FakeRequest): Reply | ReplyFunction | null;
  /** How many replies are still owed by entries with a finite count. */
  left(): number;
}

export function createScript(items: readonly ScriptItem[]): Script {
  const entries: { readonly entry: ScriptEntry; left: number }[] = [];
  const add = (added: readonly ScriptItem[]): void => {
    for (const item of added) {
      const entry: ScriptEntry = "reply" in item ? item : { reply: item };
      entries.push({ entry, left: entry.times === "always" ? Number.POSITIVE_INFINITY : (entry.times ?? 1) });
    }
  };
  add(items);
  return {
    add,
    take(request) {
      const found = entries.find(({ entry, left }) => left > 0 && matches(entry.match, request));
      if (found === undefined) return null;
      found.left -= 1;
      return found.entry.reply;
    },
    left: () => entries.reduce((sum, { left }) => sum + (Number.isFinite(left) ? left : 0), 0),
  };
}

function matches(match: ScriptEntry["match"], request: FakeRequest): boolean {
  if (match === undefined) return true;
  if (typeof match === "function") return match(request);
  const fits = (pattern: string | undefined, text: string): boolean =>
    pattern === undefined || new RegExp(pattern, "u").test(text);
  return (
    (match.vendor === undefined || match.vendor === request.vendor) &&
    fits(match.model, request.model) &&
    fits(match.lastUserText, request.lastUserText) &&
    fits(match.system, request.system) &&
    (match.toolResult === undefined || request.lastResults.some((result) => fits(match.toolResult, result.text))) &&
    (match.afterTools === undefined || match.afterTools === request.lastResults.length > 0)
  );
}
