import type { ToolBox } from "@varve/agent";
import type { Clock, RandomBytes } from "@varve/protocol";
import type { KeyRing } from "./key-holder.ts";

/** Everything that a server takes from the world. */
export interface StartOptions {
  readonly host: string;
  /** 0: any that is free. */
  readonly port: number;
  /** `VARVE_HOME`: all state. Absolute. */
  readonly home: string;
  /** Of the user that runs it: where choosing a directory begins. */
  readonly userHome: string;
  /** Further names under which it may be called. */
  readonly allowHosts: readonly string[];
  /** Addresses and networks of reverse proxies whose forwarded headers are believed. */
  readonly trustProxies?: readonly string[];
  /** Under which links are told, such as that of a reverse proxy; its name counts as allowed. */
  readonly publicUrl?: string | undefined;
  readonly importDb?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly randomBytes: RandomBytes;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly fetch: typeof globalThis.fetch;
  /** The key ring of this system, for the key that protects stored credentials. Absent: it is kept in a file. */
  readonly keyRing?: () => Promise<KeyRing | null>;
  readonly pid: number;
  /** The built page, or null. */
  readonly webRoot: string | null;
  readonly version: string;
  readonly build: string;
  /** Takes lines of the server's own log. */
  readonly writeLog: (line: string) => void;
  /** Pause between two deltas of the demo model, in milliseconds. */
  readonly demoDelayMs?: number;
  /** The tools that agents get, made from the built-in ones. It may change what it lists while the server runs. */
  readonly toolSource?: (builtIn: ToolBox) => ToolBox;
}
