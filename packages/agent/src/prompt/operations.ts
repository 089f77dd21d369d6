/** Reading of a tab's surroundings, injected. No operation throws; each is bounded in time and size. */
export interface ContextOperations {
  /** The text up to `charsMax`; null when there is no such file, it cannot be read, or it lies beyond the fence. */
  readText(
    path: string,
    options: ReadTextOptions,
  ): Promise<{ readonly text: string; readonly bytes: number; readonly clipped: boolean } | null>;
  /** Names in a directory, folders with a trailing "/", sorted by UTF-16 units; null when it cannot be read. */
  list(path: string, max: number): Promise<{ readonly names: readonly string[]; readonly more: number } | null>;
  /** Where the repository is, without looking at its files. Null outside one, without git, or when git takes too long. */
  place(cwd: string): Promise<RepositoryPlace | null>;
  /** The same with what has changed in it, which takes long in a large one. */
  repository(cwd: string): Promise<RepositoryFacts | null>;
  /** For the note, such as "linux 6.1.0 (x64)" and "/bin/bash". */
  readonly system: string;
  readonly shell: string;
}

export interface ReadTextOptions {
  readonly charsMax: number;
  readonly fence?: ReadFence;
}

/** Where a file must really be, once links are followed. */
export interface ReadFence {
  readonly inside: string;
  readonly never: string;
}

export interface RepositoryPlace {
  /** Absolute, links resolved. */
  readonly root: string;
  /** From the root to the directory asked about, "" at the root, with slashes. */
  readonly prefix: string;
}

export interface RepositoryFacts extends RepositoryPlace {
  /** Null when no branch is checked out. */
  readonly branch: string | null;
  /** Changed and untracked files. */
  readonly changed: number;
}
