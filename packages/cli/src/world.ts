/** What a command takes from the world: a process, or a test. */
import type { Clock, RandomBytes } from "@varve/protocol";

export interface World {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly userHome: string;
  readonly cwd: string;
  readonly platform: string;
  readonly pid: number;
  readonly clock: Clock;
  readonly randomBytes: RandomBytes;
  readonly random: () => number;
  readonly fetch: typeof globalThis.fetch;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Aborts when nobody reads what is printed any more. */
  readonly unread: AbortSignal;
  /** All of standard input. */
  readonly input: () => Promise<string>;
  /** The built page, or null. */
  readonly webRoot: string | null;
  readonly version: string;
  readonly build: string;
  /** Shows an address in the browser of this desktop. Never throws. */
  readonly openBrowser: (url: string) => void;
  /** Rejections that nobody awaited: one of them must not end every tab's work. */
  readonly strayErrors: (tell: (error: unknown) => void) => void;
  /** The server listens: what its start left behind may go. */
  readonly listening: () => void;
  /** Aborts when somebody asks this process to end. */
  readonly ending: AbortSignal;
}
