/** What is thrown at a server: plain data, so that a failing input can be printed, kept and made smaller. */
export interface RestInput {
  readonly kind: "rest";
  readonly method: string;
  /** With its query, as it goes into the request line. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** In Latin-1: one character is one byte. */
  readonly body: string;
}
/** Text frames of one socket, after a good hello unless `greets` is false. */
export interface FramesInput {
  readonly kind: "frames";
  readonly greets: boolean;
  readonly frames: readonly string[];
}
/** Bytes of one connection, in Latin-1. `upgraded`: they come after a good upgrade to a socket. */
export interface RawInput {
  readonly kind: "raw";
  readonly upgraded: boolean;
  readonly bytes: string;
}
export type FuzzInput = RestInput | FramesInput | RawInput;

/** Frames count one by one, everything else as one. */
export const sizeOf = (input: FuzzInput): number => (input.kind === "frames" ? Math.max(1, input.frames.length) : 1);

/** For a person: the whole input, long texts in the middle cut. */
export function shown(input: unknown): string {
  const text = JSON.stringify(input);
  return text.length <= 2_000 ? text : `${text.slice(0, 1_500)} … ${text.length - 2_000} more … ${text.slice(-500)}`;
}
