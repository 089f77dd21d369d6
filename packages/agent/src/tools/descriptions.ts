/**
 * Product texts: what the model is told about each tool. They are sealed into the prefix of each new log, so they are the
 * same bytes for every tab and name no directory, date or person.
 */
export const descriptions = {
  read: `Reads a file. Text comes as lines with their numbers ("12<tab>text"); a window of up to 2000 lines starting at line "offset" (from 1). Lines over 2000 characters are cut. A PNG, JPEG, GIF or WebP image is returned as an image. Other binary files, directories and devices are refused. The numbers and the tab are not part of the file.`,
  write: `Writes a whole file, creating it and its directories where missing. An existing file must have been read in this tab before it may be replaced, and must not have changed since. If the old file has CRLF line ends or a byte order mark, these are kept. To change a part of a file use "edit".`,
  edit: `Replaces exact text in a file. "oldText" must occur exactly once, as it is in the file, whitespace included and without line numbers; give more surrounding lines to make it unique, or set "replaceAll". "newText" is taken literally. Line ends, byte order mark and everything outside the match stay as they are. Fails if the file changed since it was read.`,
  patch: `Changes several files at once by a unified diff: "--- a/path" and "+++ b/path", then hunks "@@ -line,count +line,count @@" of lines that begin with " ", "-" or "+". Kept and removed lines must be exactly as in the file; lines that stand in several places are taken where the hunk's number says. "/dev/null" as the old name creates a file, as the new name deletes it; there is no renaming. Either all hunks of all files fit, or nothing is changed. Line ends, byte order mark and all other lines stay as they are.`,
  list: `Lists one directory: names in order, "/" after directories, sizes of files, targets of links. Entries that an ignore file names are marked.`,
  glob: `Finds files by a glob over their path, such as "**/*.ts" or "src/**/test_*.py". A pattern without "/" matches names at any depth. Files named by ignore files and .git are left out, hidden files are not. Sorted by path.`,
  grep: `Searches the lines of files with a regular expression, or for exact text with "literal". Answers "path:line:text". "path" limits it to a directory or file, "glob" to paths. Ignore files are honoured, binary files are left out. Sorted by path and line.`,
  bash: `Runs a command with bash in the tab's directory. Each call is a new shell: "cd" and variables do not last. There is no terminal and no input. stdout and stderr come together; of long output the start and the end are kept, and all of it is in a file that the result names. "timeoutMs" is 120000 unless said, at most 600000. Set "background" for servers and long work: it becomes a job, see "job". Use "read", "grep", "glob" and "edit" rather than cat, grep, find and sed.`,
  job: `Looks after background commands: "list" shows them, "read" gives output that is new since the last look, "wait" waits for the end (at most "timeoutMs"), "stop" ends one with all its processes.`,
  fetch: `Fetches an http or https address with GET. A web page comes as Markdown, other text as it is. A redirect to another host is named and not followed. Addresses of private networks are refused.`,
  recall: `Looks up earlier rows of this very log, also those that a summary has replaced: one by its number "seq", some with "from" and "to", or the newest that hold the text "query". They are shown as they were then; files may have changed since.`,
  todo: `Keeps your list of tasks for this job, shown to the person. Give the whole list each time; keep one task "doing", mark it "done" when it is.`,
  ask: `Asks the person a question and waits for the answer. Use it when you can't go on well without knowing; offer "options" where there are few choices.`,
} as const;

export type ToolName = keyof typeof descriptions;
