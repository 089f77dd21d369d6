/** Git: some of its words and settings name programs to run. */
import { isLong, isShort, mayBeOption } from "./options.ts";
import type { Demand } from "./shell-part.ts";
import type { ShellWord } from "./shell-word.ts";

/** What git does by itself, as long as no option makes it run something. Any other word may be an alias or a program. */
const plainActs = new Set(
  `add annotate apply blame branch bundle cat-file check-attr check-ignore checkout cherry cherry-pick clean commit
  count-objects describe diff diff-files diff-index diff-tree fetch for-each-ref format-patch fsck gc grep log ls-files
  ls-remote ls-tree merge merge-base mv name-rev notes pull push range-diff rebase reflog remote reset restore rev-list
  rev-parse revert rm shortlog show show-branch show-ref sparse-checkout stash status switch symbolic-ref tag version
  whatchanged worktree write-tree`.split(/\s+/),
);

/** In front of the act these are harmless. */
const plainOptions = new Set(["--no-pager", "--version", "--no-optional-locks", "--literal-pathspecs", "-P"]);

const hazardousLong = [
  "exec",
  "upload-pack",
  "receive-pack",
  "ext-diff",
  "textconv",
  "open-files-in-pager",
  "output",
  "config",
  "template",
  "extcmd",
  "tool",
  "strategy",
  "editor",
  "gpg-sign",
  "interactive",
  "unsafe-paths",
  "output-directory",
];
const hazardousShort: Readonly<Record<string, string>> = {
  rebase: "xis",
  grep: "O",
  merge: "s",
  pull: "s",
  "format-patch": "o",
};

/** Acts that speak with another repository, whose own programs and hooks run where it is on this machine. */
const withOthers = new Set(["fetch", "ls-remote", "pull", "push"]);
const placeOfRepository = /^(?:[./~]|file:)|\.git\/?$|^[^:]*\//;
/** Acts that write to a place which their words name. */
const writesAside = /^(bundle|worktree) (create|add|move)$/;

export function gitDemand(args: readonly ShellWord[]): Demand {
  if (args.some(mayBeOption)) return { needs: "person", why: "an argument is not known before it runs" };
  const runsMore: Demand = { needs: "exact", why: "its arguments can make git run other programs or write elsewhere" };
  const from = args.findIndex(({ value }) => value === null || !plainOptions.has(value));
  if (from === -1) return { needs: "rule" };
  const act = args[from]?.value ?? "";
  if (!plainActs.has(act)) return runsMore;
  const letters = hazardousShort[act] ?? "";
  const isHazard = args
    .slice(from + 1)
    .some(({ sure }) => isLong(sure, hazardousLong) || isShort(sure, letters) || /^ext::|^-c.*=/.test(sure));
  const [first] = args.slice(from + 1).filter(({ sure }) => !sure.startsWith("-"));
  const isPlace =
    withOthers.has(act) && first !== undefined && placeOfRepository.test(first.sure) && !/^\w+:\/\//.test(first.sure);
  const isAside = writesAside.test(`${act} ${first?.sure}`);
  const names = act === "remote" && args.length > from + 1;
  return isHazard || isPlace || isAside || names ? runsMore : { needs: "rule" };
}
