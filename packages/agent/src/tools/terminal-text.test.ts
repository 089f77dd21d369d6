import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { TerminalText } from "./terminal-text.ts";

const ESC = "\x1b";
const BEL = "\x07";

function read(blocks: readonly Uint8Array[]) {
  const terminal = new TerminalText();
  const pieces = [...blocks.map((block) => terminal.push(block)), terminal.end()];
  return {
    text: pieces.map(({ text }) => text).join(""),
    live: pieces.map(({ live }) => live).join(""),
    invalid: terminal.invalid,
    binary: terminal.binary,
    bytes: terminal.bytes,
  };
}

const rows: readonly (readonly [string, string, string])[] = [
  ["carriage returns are executed", "10%\r50%\r100%\ndone\r\n", "100%\ndone\n"],
  [
    "sequences are removed",
    `${ESC}[31mred${ESC}[0m ${ESC}]8;;http://x${BEL}link${ESC}]8;;${BEL} ${ESC}[2K${ESC}[1Gok`,
    "red link ok",
  ],
  [
    "500 progress frames are one line",
    `${Array.from({ length: 500 }, (_, i) => `\r${i}/500`).join("")}\n`,
    "499/500\n",
  ],
  ["a return at the end keeps the line", "done\r", "done"],
  ["several returns before a line feed", "a\r\r\nb\n", "a\nb\n"],
  ["backspaces", "abc\b\bX\n", "aX\n"],
  ["title and its end by ESC \\", `${ESC}]0;title${ESC}\\text`, "text"],
  ["device control strings", `${ESC}P1;2q#0~${ESC}\\text`, "text"],
  ["character sets and single shifts", `${ESC}(Ba${ESC}=b${ESC}7c`, "abc"],
  ["eight-bit CSI", "\u009b31mred", "red"],
  ["other control characters", "a\x01b\x7fc\x0ed", "abcd"],
  ["tabs and line feeds stay", "a\tb\n\n", "a\tb\n\n"],
  ["no output", "", ""],
  ["emoji and combining marks", "e\u0301 👩‍👩‍👧 中\n", "e\u0301 👩‍👩‍👧 中\n"],
];

describe("bytes to text", () => {
  test.each(rows)("[TOOL-70] H23 %s", (_name, raw, text) => {
    expect(read([Buffer.from(raw)])).toMatchObject({ text, invalid: false, binary: false });
  });

  test("[TOOL-71] H23 a character cut in two is whole", () => {
    expect(read([Buffer.from("e4b8", "hex"), Buffer.from("ad", "hex")]).text).toBe("中");
  });

  test("[TOOL-71] any split gives the same text", () => {
    const all = Buffer.from(rows.map(([, raw]) => raw).join(""));
    const whole = read([all]);
    fc.assert(
      fc.property(fc.array(fc.nat(all.length), { maxLength: 30 }), (cuts) => {
        const places = [0, ...cuts.sort((a, b) => a - b), all.length];
        const blocks = places.slice(1).map((end, i) => all.subarray(places[i], end));
        const split = read(blocks);
        expect(split).toEqual(whole);
      }),
    );
  });

  test("[TOOL-72] H23 bytes that are no UTF-8 are replaced and noted", () => {
    expect(read([Buffer.from("636166e90a", "hex")])).toMatchObject({ text: "caf\ufffd\n", invalid: true });
    expect(read([Buffer.from("a real \ufffd\n")]).invalid).toBe(false);
    expect(read([Buffer.from("e4b8", "hex")])).toMatchObject({ text: "\ufffd", invalid: true });
  });

  test.each([
    ["NUL bytes at the start", Buffer.from("a\0b")],
    ["1 MB of binary", Buffer.from(Array.from({ length: 1_048_576 }, (_, i) => (i * 7919) % 256))],
    ["many NUL bytes later", Buffer.concat([Buffer.from("x".repeat(10_000)), Buffer.alloc(1_000)])],
  ])("[TOOL-73] H23 binary output is no text: %s", (_name, bytes) => {
    const { binary, bytes: seen } = read([bytes]);
    expect({ binary, seen }).toEqual({ binary: true, seen: bytes.length });
    expect(read([bytes.subarray(0, 10), Buffer.from("\0\0")]).text).not.toContain("\0");
  });

  test("[TOOL-73] one NUL byte late in a long text is dropped, the text stays", () => {
    const raw = `${"line\n".repeat(4_000)}a\0b\n`;
    expect(read([Buffer.from(raw)])).toMatchObject({ binary: false, text: raw.replace("\0", "") });
  });

  test("[TOOL-74] a line without end and a sequence without end are bounded", () => {
    const long = "x".repeat(300_000);
    expect(read([Buffer.from(long), Buffer.from("\ry\n")]).text.length).toBeGreaterThan(200_000);
    const { text } = read([Buffer.from(`${ESC}]0;${"t".repeat(5_000)}`), Buffer.from("after\n")]);
    expect(text.endsWith("after\n")).toBe(true);
  });

  test("[TOOL-70] a person who watches gets the carriage returns", () => {
    expect(read([Buffer.from(`${ESC}[1m10%\r50%\n`)]).live).toBe("10%\r50%\n");
  });
});
