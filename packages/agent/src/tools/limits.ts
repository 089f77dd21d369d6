/** Every bound of the tools, by name; the comment says what happens there. */
export const toolLimits = {
  /** Characters of any result's text. What is longer is cut at its end, as a last guard behind each tool's own bound. */
  resultCharsMax: 64_000,

  /** Characters of a path argument; a longer one is refused. */
  pathCharsMax: 4_096,
  /** Links followed for one path; then it counts as a loop and is refused. */
  linksMax: 40,

  /** Lines in a window of `read` when none is asked for, and at most. */
  readLinesDefault: 2_000,
  readLinesMax: 10_000,
  /** Characters of a window; it ends before the line that would pass this, and says where to go on. */
  readCharsMax: 50_000,
  /** Characters shown of one line; the rest is cut and marked. */
  lineCharsMax: 2_000,
  /** Bytes looked through to reach a window; beyond it the file is refused with advice. */
  readScanBytesMax: 2 * 1024 ** 3,
  /** Bytes of a file that is kept whole: hashed by `read`, changed by `edit` and `write`. Larger ones are only windowed. */
  wholeFileBytesMax: 10 * 1024 ** 2,
  /** Bytes at the start of a file or of an output that decide whether it is binary. */
  binaryProbeBytes: 8 * 1024,
  /** Read from disk at a time. */
  readBlockBytes: 64 * 1024,
  /**
   * An image beyond either is made smaller, or refused: providers would refuse it, in every later request. They count its bytes
   * as base64, of which they take 5 MB.
   */
  imageBytesMax: 3_932_160,
  imagePixelsMax: 2_000,
  /** Bytes of an image file that is read at all, and pixels that are decoded; beyond either it is refused. */
  imageSourceBytesMax: 50 * 1024 ** 2,
  imageSourcePixelsMax: 64_000_000,

  /** Characters that `write` takes; more is refused. */
  writeCharsMax: 5_000_000,
  /** Files of one patch, and characters of all of them together; a patch beyond either is refused. */
  patchFilesMax: 32,
  patchTotalCharsMax: 20_000_000,
  /** Misfits of a patch that its answer names; it says when there are more. */
  patchProblemsMax: 20,
  /** Comparisons of lines while the places of a file's hunks are looked for; past them a hunk must say its line number. */
  patchComparisonsMax: 2_000_000,
  /** Characters of a diff in a prompt or on the page; a longer one ends with a line that says so. */
  diffCharsMax: 40_000,
  /** Changed lines a diff is searched for; beyond it the whole file is shown as replaced. */
  diffEditsMax: 2_000,
  /** Files whose last read is remembered per tab; the longest unused is forgotten and has to be read again. */
  readFilesMax: 2_000,

  /** Entries of `list`, paths of `glob`, matches of `grep`; the result says when there were more. */
  listEntriesMax: 1_000,
  globPathsMax: 1_000,
  grepMatchesMax: 200,
  /** Characters of those results; they end before the line that would pass this. */
  searchCharsMax: 30_000,
  /** Characters shown of a line that matched. */
  grepLineCharsMax: 400,
  /** Lines around a match. */
  grepContextMax: 10,
  /** Characters of a pattern; a longer one is refused. */
  patternCharsMax: 1_000,
  /** Found records kept unsorted; beyond it the search runs again in order and stops at its cap. */
  searchRecordsMax: 20_000,
  /** A search ends here with what it has, and says so. */
  searchMs: 30_000,
  /** Without ripgrep: bytes of a file that is searched, and time one file may take. Beyond either it is left out. */
  walkFileBytesMax: 5 * 1024 ** 2,
  walkFileMs: 1_000,
  /** Depth of directories without ripgrep; deeper ones are left out. */
  walkDepthMax: 64,
  /** Bytes of an ignore file; a larger one is not read. */
  ignoreFileBytesMax: 256 * 1024,

  /** Characters of a command; a longer one is refused. */
  commandCharsMax: 32_000,
  /** Time a command may take when none is said, and at most. */
  commandMsDefault: 120_000,
  commandMsMax: 600_000,
  /** After SIGTERM a command's processes have this long, then they get SIGKILL. */
  killGraceMs: 800,
  /** How often it is looked whether they are gone, and how often SIGKILL is tried. */
  killPollMs: 40,
  killRoundsMax: 25,
  /** After the shell's exit: output is read until none came for twice the first, at most for the second. */
  drainQuietMs: 100,
  drainMs: 300,
  /** The same where nothing of the command is left: its output is waited for until it closes, at most for this. */
  drainAloneMs: 1_000,
  /** Characters kept of a command's output, half from its start and half from its end; the rest is in the spill file. */
  outputCharsMax: 30_000,
  /** Bytes of a spill file; what comes after is only in the kept end. */
  spillBytesMax: 10 * 1024 ** 2,
  /** Spill files per tab; the oldest is removed. */
  spillFilesMax: 20,
  /** Characters of a line that may still be rewritten by a carriage return; a longer one is final. */
  openLineCharsMax: 64 * 1024,
  /** Characters of a terminal sequence; a longer one is dropped up to there. */
  escapeCharsMax: 4_096,
  /** A background command is watched this long before its start is reported. */
  jobStartMs: 500,
  /** Running jobs per tab; one more is refused. Ended ones kept; the oldest is forgotten. */
  jobsRunningMax: 8,
  jobsEndedMax: 20,
  /** Time `job` waits when none is said. */
  jobWaitMsDefault: 60_000,

  /** A page larger or slower than this is cut or given up. */
  fetchBytesMax: 5 * 1024 ** 2,
  fetchMs: 30_000,
  fetchRedirectsMax: 5,
  urlCharsMax: 4_096,
  /** Characters of HTML that are converted, elements in each other, time it may take; beyond any the page is given as it is. */
  htmlBytesMax: 2 * 1024 ** 2,
  htmlDepthMax: 400,
  htmlMs: 1_000,

  /** Rows of `recall` in one answer and their characters; the answer says where to go on. */
  recallRowsMax: 60,
  recallCharsMax: 24_000,
  /** Characters of one row among others, and of a row that was asked for alone; a longer one is cut and says so. */
  recallRowCharsMax: 2_000,
  recallOneCharsMax: 23_000,
  /** Rows that a search answers, newest first, and characters shown on each side of the place. */
  recallFoundMax: 20,
  recallAroundChars: 160,

  /** Items of `todo` and characters of one; more is refused. */
  todoItemsMax: 100,
  todoCharsMax: 500,
  /** Characters of a question, its options, and characters of one. */
  questionCharsMax: 4_000,
  optionsMax: 8,
  optionCharsMax: 200,
} as const;
