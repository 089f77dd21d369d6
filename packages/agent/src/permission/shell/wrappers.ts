/**
 * Programs and builtins whose words are another command. They are taken off, and what they start is judged by itself; one
 * whose options are not understood stays on, and no pattern covers it.
 */
import { behindOptions, type OptionForm } from "./options.ts";
import { addedWords, type ShellWord } from "./shell-word.ts";

export interface InnerCommand {
  readonly words: readonly ShellWord[];
  /** Assignments that the wrapper makes, by name. */
  readonly assigns: readonly { readonly name: string; readonly source: string }[];
}

export type Unwrapped =
  | { readonly kind: "none" }
  | ({ readonly kind: "inner" } & InnerCommand)
  /** It runs these, and itself. */
  | { readonly kind: "also"; readonly inner: readonly InnerCommand[] }
  | { readonly kind: "text"; readonly text: string; readonly shell: "bash" | "posix" | "same" }
  | { readonly kind: "unclear"; readonly why: string };

const none: Unwrapped = { kind: "none" };
const unclear = (why: string): Unwrapped => ({ kind: "unclear", why });
const inner = (words: readonly ShellWord[], assigns: InnerCommand["assigns"] = []): Unwrapped =>
  words.length === 0 ? none : { kind: "inner", words, assigns };

type Unwrap = (words: readonly ShellWord[]) => Unwrapped;

/** A wrapper with options in front and `fixed` words of its own behind them. */
const plain =
  (form: OptionForm, fixed = 0): Unwrap =>
  (words) => {
    const at = behindOptions(words, form);
    if (at === null) return unclear("its options are not understood");
    const own = words.slice(at, at + fixed);
    if (own.some(({ value }) => value === null)) return unclear("its options are not known before it runs");
    return inner(words.slice(at + fixed));
  };

const wrappers: ReadonlyMap<string, Unwrap> = new Map<string, Unwrap>([
  ["builtin", (words) => inner(words.slice(1))],
  ["command", unwrapCommand],
  ["exec", (words) => (isOption(words[1]) ? unclear("its options are not understood") : inner(words.slice(1)))],
  ["nohup", plain({ flags: "", valued: "" })],
  ["setsid", plain({ flags: "fwc", valued: "", long: ["fork", "wait", "ctty"] })],
  ["nice", plain({ flags: "0123456789", valued: "n", long: ["adjustment="] })],
  ["ionice", plain({ flags: "t", valued: "cn", long: ["ignore"] })],
  ["time", plain({ flags: "p", valued: "" })],
  ["timeout", plain(timeoutForm(), 1)],
  ["stdbuf", plain({ flags: "", valued: "ioe", long: ["input=", "output=", "error="] })],
  ["env", unwrapEnv],
  ["xargs", unwrapXargs],
  ["find", unwrapFind],
  ["sh", shellText("posix")],
  ["dash", shellText("posix")],
  ["bash", shellText("bash")],
  ["eval", unwrapEval],
  ["trap", unwrapTrap],
]);

function timeoutForm(): OptionForm {
  const long = ["foreground", "preserve-status", "verbose", "signal=", "kill-after="];
  return { flags: "vfp", valued: "sk", long };
}

/** What a command really runs. Only a bare name is the wrapper that it is called like. */
export function unwrap(words: readonly ShellWord[]): Unwrapped {
  const [program] = words;
  const unwrapIt = program === undefined ? undefined : wrappers.get(program.source);
  return unwrapIt === undefined ? none : unwrapIt(words);
}

const isOption = (word: ShellWord | undefined): boolean => word?.sure.startsWith("-") ?? false;

function unwrapCommand(words: readonly ShellWord[]): Unwrapped {
  const [, first] = words;
  if (first?.value === "-v" || first?.value === "-V") return none;
  return plain({ flags: "p", valued: "" })(words);
}

function unwrapEnv(words: readonly ShellWord[]): Unwrapped {
  if (isOption(words[1])) return unclear("its options are not understood");
  const assigns: { readonly name: string; readonly source: string }[] = [];
  let at = 1;
  for (; at < words.length; at++) {
    const word = words[at];
    const name = /^([^=]+)=/.exec(word?.sure ?? "")?.[1];
    if (word === undefined || name === undefined) break;
    if (word.splits) return unclear("what it sets is not known before it runs");
    assigns.push({ name, source: word.source });
  }
  return inner(words.slice(at), assigns);
}

function unwrapXargs(words: readonly ShellWord[]): Unwrapped {
  const long = ["null", "no-run-if-empty", "max-args=", "max-procs=", "delimiter=", "max-lines=", "max-chars="];
  const form: OptionForm = { flags: "0rtx", valued: "nLPIdsEa", long };
  const at = behindOptions(words, form);
  if (at === null) return unclear("its options are not understood");
  const run = words.slice(at);
  if (run.length === 0) return none;
  const options = words.slice(1, at);
  if (!options.some(({ value }) => value?.includes("I"))) return inner([...run, addedWords]);
  const mark = replacedMark(options);
  if (mark === null) return unclear("its options are not understood");
  return inner(run.map((word) => replaced(word, mark)));
}

/**
 * The text that `xargs -I` replaces in the words behind. Null beside any other option with a value: `-n` and `-L` take `-I`
 * back, and what looks like it may be the value of the one before.
 */
function replacedMark(options: readonly ShellWord[]): string | null {
  const values = options.map(({ value }) => value ?? "").filter((value) => !/^-[0rtx]+$|^--null$|^--$/.test(value));
  const [, attached] = /^-[0rtx]*I(.*)$/s.exec(values[0] ?? "") ?? [];
  if (attached === undefined) return null;
  const mark = attached === "" ? values[1] : attached;
  return mark !== undefined && values.length === (attached === "" ? 2 : 1) ? mark : null;
}

/** A word in which a mark will be replaced by one that is not known yet. */
function replaced(word: ShellWord, mark: string): ShellWord {
  const at = word.sure.indexOf(mark);
  if (at === -1) return word;
  const sure = word.sure.slice(0, at);
  // Only of a word without quotes is the source as long as the value.
  const sureSource = word.source === word.value ? sure : "";
  return { source: word.source, value: null, sure: sureSource === "" ? "" : sure, sureSource, splits: false };
}

function unwrapFind(words: readonly ShellWord[]): Unwrapped {
  const found: InnerCommand[] = [];
  for (let at = 1; at < words.length; at++) {
    if (!/^-(exec|execdir|ok|okdir)$/.test(words[at]?.value ?? "")) continue;
    const rest = words.slice(at + 1);
    const end = rest.findIndex(
      ({ value }, index) => value === ";" || (value === "+" && rest[index - 1]?.value === "{}"),
    );
    const run = end === -1 ? rest : rest.slice(0, end);
    if (run.length > 0) found.push({ words: run.map((word) => replaced(word, "{}")), assigns: [] });
    at += run.length + 1;
  }
  return found.length === 0 ? none : { kind: "also", inner: found };
}

function shellText(shell: "bash" | "posix"): Unwrap {
  return (words) => {
    let at = 1;
    for (; at < words.length; at++) {
      const value = words[at]?.value ?? "";
      if (value === "-o" && words[at + 1]?.value === "pipefail") at += 1;
      else if (!/^-[eux]+$/.test(value)) break;
    }
    if (!/^-[eux]*c[eux]*$/.test(words[at]?.value ?? "")) return none;
    const text = words[at + 1]?.value;
    if (text === undefined) return none;
    // Options may go on behind `-c`; the text is the first word behind them.
    if (text !== null && /^[-+]/.test(text)) return unclear("its options are not understood");
    return text === null ? unclear("what it runs is not known before it runs") : { kind: "text", text, shell };
  };
}

function unwrapEval(words: readonly ShellWord[]): Unwrapped {
  const values = words.slice(words[1]?.value === "--" ? 2 : 1).map(({ value }) => value);
  if (values.some((value) => value === null)) return unclear("what it runs is not known before it runs");
  return { kind: "text", text: values.join(" "), shell: "same" };
}

function unwrapTrap(words: readonly ShellWord[]): Unwrapped {
  const first = words[words[1]?.value === "--" ? 2 : 1];
  if (first === undefined) return none;
  if (first.value === null) return unclear("what it runs is not known before it runs");
  if (/^-[lpP]$/.test(first.value)) return none;
  const text = first.value === "-" || /^\d+$/.test(first.value) ? "" : first.value;
  return { kind: "text", text, shell: "same" };
}
