import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { findRecordings, recordingPath } from "./find.ts";
import { recordingLimits } from "./limits.ts";

/** The words by which pi begins a file, and names what is in it. */
const piHead = "session";
const piName = "session_info";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "varve-found-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

/** `at`: seconds. */
function file(path: string, lines: readonly object[] = [{ type: piHead }], at = 1000): string {
  const whole = join(home, path);
  mkdirSync(dirname(whole), { recursive: true });
  writeFileSync(whole, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  utimesSync(whole, at, at);
  return whole;
}
const user = (content: unknown) => ({ type: "message", message: { role: "user", content } });
const titles = async () => (await findRecordings({ home })).map(({ title }) => title);

test("[BILL-8] recordings are found where each tool puts them, the newest first", async () => {
  const pi = file(".pi/agent/sessions/--w--/1.jsonl", [user("hello")], 2000);
  const claude = file(".claude/projects/-w/2.jsonl", [{ type: "summary", summary: "A summary" }], 3000);
  const sub = file(".claude/projects/-w/2/subagents/agent-a.jsonl", [user("sub")], 1000);
  file(".claude/projects/-w/notes.txt");
  file(".claude/settings.jsonl");
  file(".pi/agent/sessions/--w--/empty.jsonl", []);
  expect(await findRecordings({ home })).toMatchObject([
    {
      format: "claude-code",
      path: claude,
      title: "A summary",
      modifiedAt: 3_000_000,
      id: expect.stringMatching(/^[0-9a-f]{24}$/),
    },
    { format: "pi", path: pi, title: "hello", modifiedAt: 2_000_000, bytes: expect.any(Number) },
    { format: "claude-code", path: sub, title: "sub" },
  ]);
});

test("[BILL-8] without any there are none", async () => {
  expect(await findRecordings({ home })).toEqual([]);
  expect(await findRecordings({ home: join(home, "nowhere") })).toEqual([]);
});

test("[BILL-8] a recording is fetched by its id alone, and no other file is", async () => {
  const path = file(".pi/agent/sessions/--w--/1.jsonl");
  const [found] = await findRecordings({ home });
  expect(await recordingPath({ home }, found?.id ?? "")).toBe(path);
  for (const id of ["", "../../etc/passwd", path, "0".repeat(24)]) expect(await recordingPath({ home }, id)).toBeNull();
});

test("[BILL-9] no link is followed: not to a file, not to a folder, not on the way", async () => {
  const secret = file("secret/1.jsonl", [user("secret")]);
  file(".pi/agent/sessions/--w--/1.jsonl", [user("mine")]);
  symlinkSync(secret, join(home, ".pi/agent/sessions/--w--/2.jsonl"));
  symlinkSync(dirname(secret), join(home, ".pi/agent/sessions/--x--"));
  symlinkSync(join(home, ".pi/agent/sessions"), join(home, ".pi/agent/sessions/--w--/round"));
  file("elsewhere/projects/-w/3.jsonl", [user("elsewhere")]);
  symlinkSync(join(home, "elsewhere"), join(home, ".claude"));
  expect(await titles()).toEqual(["mine"]);
});

test("[BILL-8] a title is what the tool calls it, else the person's first words, else the file's name", async () => {
  const { titleCharsMax } = recordingLimits;
  const cases: readonly (readonly [readonly object[], string])[] = [
    [[user("words"), { type: piName, name: "Named" }], "Named"],
    [[user([{ type: "image" }, { type: "text", text: "  two\n lines " }])], "two lines"],
    [[user("/model"), user("<command-name>x"), user(""), user("real")], "real"],
    [[user("ä".repeat(200))], `${"ä".repeat(titleCharsMax - 1)}…`],
    [[user("x".repeat(recordingLimits.titleBytesMax))], "4"],
    [[{ type: piHead }, user(7)], "5"],
  ];
  for (const [index, [lines]] of cases.entries()) file(`.pi/agent/sessions/w/${index}.jsonl`, lines, 9000 - index);
  expect(await titles()).toEqual(cases.map(([, title]) => title));
});

test("[BILL-9] what is looked at is bounded, and the newest are listed", async () => {
  const { foundMax, depthMax } = recordingLimits;
  for (let count = 0; count < foundMax + 5; count++)
    file(`.pi/agent/sessions/w/${count}.jsonl`, [user(`n${count}`)], 1000 + count);
  const all = await titles();
  expect(all).toHaveLength(foundMax);
  expect(all[0]).toBe(`n${foundMax + 4}`);
  file(`.claude/projects/${"d/".repeat(depthMax)}deep.jsonl`, [user("deep")], 9999);
  file(`.claude/projects/${"d/".repeat(depthMax + 1)}deeper.jsonl`, [user("deeper")], 9999);
  expect((await titles()).filter((title) => title.startsWith("deep"))).toEqual(["deep"]);
});
