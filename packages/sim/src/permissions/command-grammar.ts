/**
 * Random commands of a shell, made from its grammar: programs, wrappers, quotes, expansions, redirections and compounds in
 * each other. There are no absolute paths in it, and nothing that runs for ever by itself.
 */
import type { Prng } from "../prng.ts";

/** Programs that stand on the path of a run; each records how it was called. `fail` exits with 1. */
export const stubNames = ["ok", "fine", "fail", "bad", "evil", "git", "tar", "make"] as const;

type Make = (prng: Prng, depth: number) => string;

const programs = ["ok", "ok", "ok", "fine", "fine", "fail", "git", "tar", "make", "bad", "evil"] as const;
const plainArgs = [
  "a",
  "b c",
  "-x",
  "--long=1",
  "1",
  "log",
  "status",
  "f.txt",
  "./a",
  "x=1",
  "-c",
  "add",
  "*",
  "a*",
  "{}",
] as const;
const names = ["x", "y", "Z", "PATH", "IFS", "ok", "GIT_DIR"] as const;

const some = (prng: Prng, max: number, make: () => string, between = " "): string =>
  Array.from({ length: prng.int(0, max) }, make).join(between);

const oneOf = (prng: Prng, makes: readonly (() => string)[]): string => makes[prng.int(0, makes.length - 1)]?.() ?? "";

/** A text as a shell may write it. */
function quoted(prng: Prng, text: string): string {
  switch (prng.int(0, 7)) {
    case 0:
      return `'${text.replaceAll("'", "'\\''")}'`;
    case 1:
      return `"${text.replace(/["\\$`]/g, "\\$&")}"`;
    case 2:
      return `$'${[...text].map((one) => (prng.chance(0.4) ? escaped(one) : one.replace(/['\\]/, "\\$&"))).join("")}'`;
    case 3: {
      const cut = prng.int(0, text.length);
      return `${bare(text.slice(0, cut))}''${bare(text.slice(cut))}`;
    }
    case 4:
      return [...text].map((one) => (/[a-z]/.test(one) && prng.chance(0.5) ? `\\${one}` : bare(one))).join("");
    case 5: {
      const cut = prng.int(0, text.length);
      return `${bare(text.slice(0, cut))}\\\n${bare(text.slice(cut))}`;
    }
    default:
      return bare(text);
  }
}

const bare = (text: string): string => text.replace(/[^\w./:=*@%+,-]/g, "\\$&");
const escaped = (one: string): string => `\\x${one.charCodeAt(0).toString(16).padStart(2, "0")}`;

const program: Make = (prng) => {
  const name = prng.pick(programs);
  return prng.chance(0.85) ? name : quoted(prng, name);
};

const arg: Make = (prng, depth) => {
  if (prng.chance(0.65) || depth <= 0)
    return prng.chance(0.6) ? bare(prng.pick(plainArgs)) : quoted(prng, prng.pick(plainArgs));
  return expansion(prng, depth);
};

const expansion: Make = (prng, depth) => {
  const inner = list(prng, depth - 1);
  return oneOf(prng, [
    () => `$(${inner})`,
    () => `"$(${inner})"`,
    () => `\`${inner.replace(/[\\`$]/g, "\\$&")}\``,
    () => `<(${inner})`,
    () => "$x",
    () => '"$x"',
    () => `\${x:-${word(prng, depth - 1)}}`,
    () => `\${x:=${word(prng, depth - 1)}}`,
    () => `"a\${x+$(${inner})}b"`,
    () => `$${"{!x}"}`,
    () => "$((1+x))",
    () => `$((1+$(${inner})))`,
    () => '"$@"',
    () => `{a,${word(prng, depth - 1)}}`,
    () => "~",
    () => `a"$x"'b'`,
    () => `$${"{x@P}"}`,
  ]);
};

const word: Make = (prng, depth) => arg(prng, depth);

const assignment: Make = (prng, depth) =>
  `${prng.pick(names)}${prng.chance(0.1) ? "+" : ""}=${prng.chance(0.2) ? "" : word(prng, depth)}`;

const redirection: Make = (prng, depth) =>
  oneOf(prng, [
    () => "2>&1",
    () => ">out",
    () => ">>out",
    () => "2>/dev/null",
    () => ">&2",
    () => "<f.txt",
    () => "&>out",
    () => `>${word(prng, depth - 1)}`,
    () => `<<<${word(prng, depth - 1)}`,
  ]);

const simple: Make = (prng, depth) => {
  const before = prng.chance(0.12) ? `${assignment(prng, depth)} ` : "";
  const behind = prng.chance(0.15) ? ` ${redirection(prng, depth)}` : "";
  const run =
    prng.chance(0.3) && depth > 0
      ? wrapped(prng, depth)
      : `${program(prng, depth)} ${some(prng, 3, () => arg(prng, depth))}`;
  return `${before}${run.trim()}${behind}`;
};

const wrapped: Make = (prng, depth) => {
  const inner = simple(prng, depth - 1);
  const text = list(prng, depth - 1);
  return oneOf(prng, [
    () => `env ${inner}`,
    () => `env ${assignment(prng, 0)} ${inner}`,
    () => `env -i ${inner}`,
    () => `env -S ${quoted(prng, inner)}`,
    () => `command ${inner}`,
    () => `command -p ${inner}`,
    () => `builtin ${inner}`,
    () => `exec ${inner}`,
    () => `nohup ${inner}`,
    () => `nice -n 5 ${inner}`,
    () => `timeout 5 ${inner}`,
    () => `timeout -s KILL 5 ${inner}`,
    () => `stdbuf -oL ${inner}`,
    () => `time ${inner}`,
    () => `printf '%s\\n' ${word(prng, 0)} | xargs ${inner}`,
    () => `echo bad | xargs -I{} ${inner}`,
    () => `echo bad | xargs -n 1 ${program(prng, 0)}`,
    () => `find . -maxdepth 0 -exec ${inner} \\;`,
    () => `find . -maxdepth 0 -exec ${program(prng, 0)} {} +`,
    () => `sh -c ${quoted(prng, text)}`,
    () => `bash -c ${quoted(prng, text)} ${word(prng, 0)} ${word(prng, 0)}`,
    () => `bash -euc ${quoted(prng, text)}`,
    () => `dash -c ${quoted(prng, text)}`,
    () => `eval ${quoted(prng, text)}`,
    () => `eval ${inner}`,
    () => `trap ${quoted(prng, text)} EXIT`,
    () => `echo ${quoted(prng, text)} | sh`,
    () => `sh <<< ${quoted(prng, text)}`,
  ]);
};

const compound: Make = (prng, depth) => {
  const one = (): string => list(prng, depth - 1);
  return oneOf(prng, [
    () => `(${one()})`,
    () => `{ ${one()}; }`,
    () => `if ${one()}; then ${one()}; else ${one()}; fi`,
    () => `while fail; do ${one()}; done`,
    () => `for ${prng.pick(["i", "x", "PATH"])} in ${some(prng, 3, () => word(prng, depth - 1))}; do ${one()}; done`,
    () => `case ${word(prng, depth - 1)} in ${bare(prng.pick(["a", "b"]))}|*) ${one()};; esac`,
    () => `[[ ${word(prng, 0)} = ${word(prng, 0)} ]] && ${one()}`,
    () => `[ -n ${word(prng, 0)} ] || ${one()}`,
    () => `${prng.pick(["f", "ok"])}() { command ${simple(prng, 0)}; }; ${prng.pick(["f", "ok"])} ${program(prng, 0)}`,
    () => `! ${one()}`,
    () => `cat <<EOF\n${word(prng, depth - 1)}\nEOF\n${one()}`,
    () => `cat <<'EOF'\n${one()}\nEOF\n${one()}`,
    () => `alias ${prng.pick(["ok", "fine"])}=${prng.pick(programs)}\n${one()}`,
    () => `${one()} # ${one()}`,
    () => `((x=1)); ${one()}`,
  ]);
};

const pipeline: Make = (prng, depth) => {
  const one = (): string => (prng.chance(0.25) && depth > 0 ? compound(prng, depth) : simple(prng, depth));
  return prng.chance(0.25) ? `${one()}${prng.pick([" | ", "|", " |& "])}${one()}` : one();
};

const list: Make = (prng, depth) => {
  const count = prng.chance(0.6) ? 1 : prng.int(1, 3);
  let text = pipeline(prng, depth);
  for (let at = 1; at < count; at++)
    text += prng.pick(["; ", " && ", " || ", "\n", " & ", ";"]) + pipeline(prng, depth);
  return text;
};

/** Tokens in any order: what no grammar would make, and where two readers differ first. */
const tokens = [
  ...[
    "ok",
    "ok ",
    "ok a",
    "fine",
    "bad",
    " ",
    " ",
    ";",
    "\n",
    "&",
    "|",
    "&&",
    "||",
    "'",
    '"',
    "\\",
    "$(",
    "`",
    "$",
    "{ ",
    "; }",
  ],
  ...[
    "$'",
    "#",
    "<<EOF\n",
    "\nEOF\n",
    "<<<",
    ">out",
    "2>&1",
    "env ",
    "eval ",
    "x=",
    "if ",
    "; then ",
    "; fi",
    "for x in ",
    "; do ",
  ],
  ...[
    "; done",
    "case x in ",
    ") ",
    ";;",
    " esac",
    "!",
    "[[ ",
    " ]]",
    "*",
    "{a,b}",
    "-c ",
    "sh -c ",
    "\t",
    "\\\n",
    "((1))",
    "time ",
  ],
  ...["coproc ", "function ", "$((", "))", "${x", "}", "<(", ">(", "@(", "~", "=", ",", "\r", "\u00a0"],
] as const;

const soup: Make = (prng) => {
  const text = Array.from({ length: prng.int(2, 14) }, () => prng.pick(asList(tokens))).join("");
  // A function may call itself for ever.
  return /\(\s*\)/.test(text) || text.includes("function") ? "ok" : text;
};
const asList = <T>([first, ...rest]: readonly [T, ...(readonly T[])]): readonly [T, ...(readonly T[])] => [
  first,
  ...rest,
];

/** A command: from the grammar, from it with a character gone wrong, or a heap of tokens. */
export function randomCommand(prng: Prng): string {
  const kind = prng.float();
  if (kind < 0.15) return soup(prng, 0);
  const text = list(prng, prng.int(0, 3));
  if (kind > 0.25) return text;
  const at = prng.int(0, text.length);
  return text.slice(0, at) + prng.pick(asList(tokens)) + text.slice(prng.chance(0.5) ? at : at + 1);
}

/** Commands without anything that is known only when they run, each as the words that it consists of. */
export function staticCommand(prng: Prng): string {
  const one = (): string =>
    `${quoted(prng, prng.pick(["ok", "fine", "bad"]))} ${some(prng, 4, () => quoted(prng, prng.pick(staticArgs)))}`;
  return Array.from({ length: prng.int(1, 3) }, one).join(prng.pick(["; ", "\n", " && ", ";"]));
}

const staticArgs = [
  "a",
  "b c",
  "-x",
  "a'b",
  'a"b',
  "a\\b",
  "$x",
  "`a`",
  "a;b",
  "#a",
  "a#b",
  "",
  "a\tb",
  "a\nb",
  "é☃",
  "(a)",
  "a=b",
  "!a",
  "{a",
  "~a",
  "&",
  "%",
] as const;

/** Rules over commands, some of them broad. */
export function randomRules(prng: Prng): readonly string[] {
  const all = [
    ...[
      "ok *",
      "ok",
      "fine *",
      "fine",
      "fail",
      "fail *",
      "git *",
      "tar *",
      "make *",
      "echo *",
      "printf *",
      "cat *",
      "cat",
      "find *",
    ],
    ...[
      "xargs *",
      "env *",
      "sh *",
      "bash *",
      "command *",
      "eval *",
      "timeout *",
      "nohup *",
      "git log *",
      "ok a*",
      "ok ?",
      "f *",
      "f",
    ],
    ...["time *", "trap *", "exec *", "alias *", "* a", "o*"],
  ];
  const share = prng.pick([0.2, 0.5, 0.9]);
  return ["ok *", "ok", ...all.filter(() => prng.chance(share))];
}
