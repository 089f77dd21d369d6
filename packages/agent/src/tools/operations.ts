/**
 * Everything that the tools do to the world, as one argument. `node-operations.ts` is the real one.
 *
 * Tools may rely on: paths given to `FileOperations` are absolute and already real (no link in them) unless a method says
 * otherwise; a method fails with `WorldFault` alone. An implementation must never follow a link that appeared at a real path
 * after it was resolved: it fails with code "MOVED" instead.
 */
import type { Clock } from "@varve/protocol";
import type { HostRule } from "../sandbox/host-list.ts";
import type { ImageOperations } from "./image-operations.ts";

export type FileKind = "file" | "directory" | "link" | "fifo" | "socket" | "device";

export interface FileFacts {
  readonly kind: FileKind;
  readonly size: number;
  /** Permission bits. */
  readonly mode: number;
  /** Nanoseconds, as decimal text. */
  readonly modified: string;
}

/** A fault of the world below a tool: `code` is the system's (ENOENT, EACCES ...) or "MOVED"; the message is the path. */
export class WorldFault extends Error {
  override readonly name = "WorldFault";
  readonly code: string;
  constructor(code: string, path: string) {
    super(path);
    this.code = code;
  }
}

export interface OpenFile {
  readonly facts: FileFacts;
  /** Leads another program to this very file while it is open, whatever comes to stand under its name. */
  readonly path: string;
  /** Bytes read into the start of `into`; 0 at the end. */
  read(into: Uint8Array, position: number): Promise<number>;
  close(): Promise<void>;
}

export interface DirectoryEntry {
  readonly name: string;
  readonly kind: FileKind;
}

export interface FileOperations {
  /** The user's home, for `~/`. */
  readonly userHome: string;
  /** Real paths that no tool may touch beside `VARVE_HOME` (the server's own process). */
  readonly deniedRoots: readonly string[];
  /** Keeps a directory: `path` leads to it until it is let go, whatever comes to stand under its name. Fails if it moved. */
  hold(path: string): Promise<{ readonly path: string; close(): Promise<void> }>;
  /** Whether a real path is denied that no root names: what leads to the server's process under another number. */
  isDenied(real: string): Promise<boolean>;
  /** Of the path itself, not of what it links to. Null when nothing is there. */
  facts(path: string): Promise<FileFacts | null>;
  readLink(path: string): Promise<string>;
  /** The system's own spelling of an existing real path (letter case on some disks). */
  canonical(path: string): Promise<string>;
  /** Opens for reading, never waits for a writer of a FIFO. */
  open(path: string): Promise<OpenFile>;
  /** Ascending by the bytes of the name; at most `max`, and whether there were more. */
  entries(path: string, max: number): Promise<{ readonly entries: readonly DirectoryEntry[]; readonly more: boolean }>;
  /**
   * Replaces the file at once and durably, or creates it with its missing directories. Keeps the mode of what was there.
   * Other names of the same file (hard links) keep the old bytes. `mode`: of a file that is not there any more.
   */
  replace(path: string, bytes: Uint8Array, mode?: number): Promise<FileFacts>;
  /**
   * The first half of `replace`: the bytes are on disk under another name, and nothing is changed until `commit`. Exactly one of
   * the two is to be called, once.
   */
  stage(path: string, bytes: Uint8Array): Promise<StagedFile>;
  /** Removes a file (never a link or a directory). */
  remove(path: string): Promise<void>;
  /** The tab's folder of spill files as a real path; made when first written to. */
  spillFolder(tabId: string): string;
  /** A new spill file. Its name comes from `name`, which holds only letters, digits, `_` and `-`. */
  spill(tabId: string, name: string): SpillFile;
  dropSpills(tabId: string): Promise<void>;
}

export interface StagedFile {
  commit(): Promise<FileFacts>;
  discard(): Promise<void>;
}

export interface SpillFile {
  readonly path: string;
  append(bytes: Uint8Array): void;
  /** All of it, from the start. */
  bytes(): Uint8Array;
  close(): void;
}

export interface ShellExit {
  readonly code: number | null;
  readonly signal: string | null;
  /** The sandbox could not be built, so the command was not run; why is in the output. */
  readonly notStarted?: true;
}

export interface ShellProcess {
  readonly pid: number;
  /** The shell itself ended; others may still hold its output. */
  readonly exited: Promise<ShellExit>;
  /** Nobody holds the output any more. */
  readonly closed: Promise<void>;
  /** Replaces the listener; null reads on and throws the output away, so that what still writes does not die of it. */
  onBytes(listener: ((bytes: Uint8Array) => void) | null): void;
  /** Signals the whole process group. In a sandbox SIGTERM goes to nobody by this way, and SIGKILL ends all that is in it. */
  signalGroup(signal: "SIGTERM" | "SIGKILL"): void;
  /** Ends the sandbox with all that is in it. Absent: the command is in none. */
  readonly endSandbox?: () => void;
}

export interface ProgramRun {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly signal: AbortSignal;
  /** Answers false to have the program ended. */
  readonly onBytes: (bytes: Uint8Array) => boolean;
}

export interface SandboxStart {
  /** The program that builds it, by whole path, and its arguments up to the command. */
  readonly program: string;
  readonly args: readonly string[];
  /** Where, inside, the socket of the proxy is; null: there is none. */
  readonly socket: string | null;
}

/** What this machine has of a sandbox. `reason`: why there is none, for a person. */
export type SandboxFound =
  | { readonly available: true; readonly program: string }
  | { readonly available: false; readonly reason: string };

export interface SandboxOperations {
  /** Tried once, at first use. */
  find(): Promise<SandboxFound>;
  /** The system's table of mounts, as it is now. */
  mountTable(): Promise<string>;
  /** A real directory of the tab's own that stands in for /tmp; made when first asked for. */
  temporary(tabId: string): Promise<string>;
  dropTemporary(tabId: string): Promise<void>;
  /** A proxy that reaches these hosts alone, on a socket in `folder`. */
  openProxy(rules: readonly HostRule[], folder: string): Promise<SandboxProxy>;
  /** Removes every temporary directory. */
  close(): Promise<void>;
}

export interface SandboxProxy {
  /** The socket's name in its folder. */
  readonly name: string;
  close(): void;
}

export interface ProcessOperations {
  /** The server's own environment, as it is now. */
  environment(): Readonly<Record<string, string>>;
  /** A name that no other call has ever had. */
  newMark(): string;
  /** stdout and stderr are one stream; stdin is empty; the shell leads a group without a terminal. */
  startShell(start: {
    readonly command: string;
    readonly cwd: string;
    readonly env: Readonly<Record<string, string>>;
    /** Absent: without a sandbox. */
    readonly sandbox?: SandboxStart;
  }): Promise<ShellProcess>;
  /**
   * Living processes whose environment holds `variable`=`value...` (a prefix of the value suffices), and their descendants.
   * Null where the system cannot tell.
   */
  marked(variable: string, value: string): Promise<readonly number[] | null>;
  signal(pid: number, signal: "SIGTERM" | "SIGKILL"): void;
  /** Runs a program to its end; `code` is null when it was ended by us. `stderr` is bounded. */
  run(run: ProgramRun): Promise<{ readonly code: number | null; readonly stderr: string }>;
  /** The path of a ripgrep that exists, or null. */
  ripgrep(): Promise<string | null>;
}

export interface HttpAnswer {
  readonly status: number;
  readonly contentType: string;
  /** Of a redirect. */
  readonly location: string | null;
  /** Decompressed. */
  readonly body: AsyncIterable<Uint8Array>;
  close(): void;
}

export interface HttpOperations {
  /** Addresses of a host name; an address answers itself. */
  resolve(host: string): Promise<readonly string[]>;
  /** One GET to exactly this address, with the URL's host as name. Follows nothing. */
  get(request: { readonly url: URL; readonly address: string; readonly signal: AbortSignal }): Promise<HttpAnswer>;
}

export interface ToolOperations {
  readonly files: FileOperations;
  readonly processes: ProcessOperations;
  readonly http: HttpOperations;
  readonly images: ImageOperations;
  readonly clock: Clock;
  /** Absent: this world has none. */
  readonly sandbox?: SandboxOperations;
}
