/** What does not belong where it stands: values, texts and numbers that broke a program somewhere. */
import type { Prng } from "../prng.ts";
import { changedAt, membersIn, membersOf, placesIn, raw, type Tree } from "./json-tree.ts";

const deep = 20_000;
const long = 70_000;

/** Whoever reads them must not be longer over it than over others. */
export const oddTexts: readonly [string, ...string[]] = [
  "",
  " ",
  "\0",
  "a\0b",
  "\ud800",
  "\udfff\ud800",
  "\u202e\u2066txt.exe",
  "\u200b\ufeff",
  "\r\nSet-Cookie: a=b",
  "../../../../etc/passwd",
  "%2e%2e%2f",
  "..\\..\\",
  "/nowhere/at/all",
  "~",
  "__proto__",
  "constructor",
  "toString",
  "hasOwnProperty",
  "NaN",
  "Infinity",
  "-0",
  "1e400",
  "0x10",
  "null",
  "undefined",
  "[object Object]",
  "true",
  "'; drop table chunks; --",
  "\u001b]8;;http://evil.example\u0007x\u001b]8;;\u0007",
  "<script>1</script>",
  `\${jndi:x}`,
  "😀".repeat(50),
  "e\u0301".repeat(80),
  "(a+)+$",
  "a".repeat(65),
  "a".repeat(long),
  "\n".repeat(3_000),
  "[".repeat(3_000),
];

const oddNumbers: readonly [Tree, ...Tree[]] = [
  0,
  -0,
  -1,
  1,
  0.5,
  1e21,
  -1e308,
  2 ** 31,
  2 ** 32 + 1,
  Number.MAX_SAFE_INTEGER,
  Number.MIN_SAFE_INTEGER,
  5e-324,
  raw("1e400"),
  raw("-1e400"),
  raw("9007199254740993"),
  raw("123456789012345678901234567890"),
  raw("1.7976931348623157e+309"),
];

/** No JSON at all, or JSON that is more of a load than a value. */
const oddRaw: readonly [Tree, ...Tree[]] = [
  raw("NaN"),
  raw("undefined"),
  raw("'x'"),
  raw("01"),
  raw('"\\ud800"'),
  raw('"\\u0000"'),
  raw('"\\x"'),
  raw('{"a":1,"a":2}'),
  raw('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}'),
  raw(`${"[".repeat(deep)}${"]".repeat(deep)}`),
  raw(`${'{"a":'.repeat(deep)}1${"}".repeat(deep)}`),
  raw("[".repeat(deep)),
  raw(`[${"0,".repeat(deep)}0]`),
  raw("{"),
  raw(","),
  raw(""),
];

export function oddText(prng: Prng): string {
  if (prng.chance(0.7)) return prng.pick(oddTexts);
  const units = Array.from({ length: prng.int(1, 40) }, () => prng.int(0, prng.chance(0.5) ? 0x7f : 0xffff));
  return String.fromCharCode(...units);
}

export function oddValue(prng: Prng): Tree {
  switch (prng.int(0, 8)) {
    case 0:
    case 1:
    case 2:
      return oddText(prng);
    case 3:
      return prng.pick(oddNumbers);
    case 4:
      return prng.pick(oddRaw);
    case 5:
      return prng.pick([null, true, false]);
    case 6:
      return Array.from({ length: prng.int(0, 3) }, () => oddText(prng));
    case 7:
      return membersOf({ [oddText(prng)]: oddText(prng) });
    default:
      return [];
  }
}

const names = [
  "__proto__",
  "constructor",
  "toString",
  "",
  "type",
  "id",
  "tab",
  "raw",
  "\u202e",
  "length",
  "0",
] as const;

/** One change at one place: another value, a member less, more or twice, one more layer. */
export function mutated(tree: Tree, prng: Prng): Tree {
  const [first = [], ...rest] = placesIn(tree);
  const at = prng.pick([first, ...rest]);
  return changedAt(tree, at, (part) => {
    const members = membersIn(part);
    if (members === null || prng.chance(0.15)) return prng.chance(0.1) ? [part] : oddValue(prng);
    const [some] = prng.shuffle(members);
    switch (some === undefined ? 2 : prng.int(0, 3)) {
      case 0:
        return { members: members.filter((member) => member !== some) };
      case 1:
        return { members: some === undefined ? members : [...members, [some[0], oddValue(prng)]] };
      case 2:
        return { members: [...members, [prng.pick(names), oddValue(prng)]] };
      default:
        return { members: members.map((member) => (member === some ? [member[0], oddValue(prng)] : member)) };
    }
  });
}

/** Bytes of any value, or a text cut off in the middle of it. */
export function torn(text: string, prng: Prng): string {
  if (prng.chance(0.5)) return text.slice(0, prng.int(0, text.length));
  const at = prng.int(0, text.length);
  return `${text.slice(0, at)}${oddText(prng)}${text.slice(at + prng.int(0, 3))}`;
}
