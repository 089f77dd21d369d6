/**
 * CONTRACT. The closed list of error codes with the HTTP status each travels with. Text beside the code says what
 * happened; `hint` says what was kept and what to do. Clients switch on the code, never on the text.
 */
export const errorStatus = {
  "bad-json": 400,
  "bad-request": 400,
  "bad-id": 400,
  "bad-cursor": 400,
  "bad-directory": 400,
  "bad-link": 401,
  unauthorized: 401,
  "second-key-missing": 401,
  "origin-refused": 403,
  "host-refused": 403,
  /** For the home's token and signed-in devices alone. */
  "owner-only": 403,
  "too-many-attempts": 429,
  "unknown-route": 404,
  "unknown-tab": 404,
  "unknown-message": 404,
  "unknown-row": 404,
  "unknown-log": 404,
  "unknown-model": 400,
  "unknown-credential": 404,
  "unknown-question": 404,
  "unknown-blob": 404,
  "unknown-setting": 404,
  "unknown-rule": 404,
  /** No request row at that seq. */
  "unknown-request": 404,
  "unknown-recording": 404,
  /** A recording that is none, or whose lines cannot be read. */
  "bad-recording": 400,
  /** There is too little behind the last turns to be summed up, or nothing to undo. */
  "nothing-to-compact": 409,
  /** No summary came; nothing was changed. */
  "compaction-failed": 502,
  "method-refused": 405,
  "id-taken": 409,
  "stale-version": 409,
  "already-answered": 409,
  "result-already-sealed": 409,
  "tab-running": 409,
  "tab-trashed": 409,
  "queue-full": 429,
  "message-too-large": 413,
  "body-too-large": 413,
  "blob-too-large": 413,
  "type-refused": 415,
  "model-unavailable": 400,
  "credential-refused": 400,
  "provider-unreachable": 502,
  "provider-refused": 502,
  "provider-overloaded": 503,
  "provider-cut": 502,
  "provider-silent": 504,
  "context-overflow": 400,
  "empty-conversation": 400,
  "disk-full": 507,
  /** The server cannot listen where it was told to. */
  "address-unavailable": 503,
  "log-unavailable": 503,
  "log-damaged": 500,
  "log-fenced": 503,
  "shutting-down": 503,
  "version-unsupported": 426,
  internal: 500,
} as const satisfies Record<string, number>;

export type ErrorCode = keyof typeof errorStatus;

/** As it travels: `{error: {code, message, hint?}}` over HTTP, `err` frames on a socket. */
export interface ErrorBody {
  readonly code: ErrorCode;
  /** One clear sentence: what happened. */
  readonly message: string;
  /** What was kept and what to do. */
  readonly hint?: string | undefined;
}

/** A fault of the world as a value. Never thrown across a room's boundary. */
export interface Fault extends ErrorBody {
  readonly kind: "fault";
}

export const fault = (code: ErrorCode, message: string, hint?: string): Fault =>
  hint === undefined ? { kind: "fault", code, message } : { kind: "fault", code, message, hint };

export const isFault = (value: unknown): value is Fault =>
  typeof value === "object" && value !== null && "kind" in value && value.kind === "fault";
