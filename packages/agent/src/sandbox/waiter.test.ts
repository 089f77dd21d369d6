import { describe, expect, test } from "vitest";
import { toldOf } from "./waiter.ts";

const code = (number: number) => ({ code: number, signal: null });
const killed = (signal: string) => ({ code: null, signal });

describe("what is told of a sandboxed command", () => {
  test.each([
    ["", false, null],
    ["u", false, null],
    ["up\n", true, null],
    ["up\n=0", true, null],
    ["up\n=0\n", true, code(0)],
    ["up\n=3\n", true, code(3)],
    ["up\nbash: line 5: 7 Killed   x\n=137\n", true, killed("SIGKILL")],
    ["up\nbash: line 5: 7 Segmentation fault\n=139\n", true, killed("SIGSEGV")],
    ["up\n=137\n", true, code(137)],
    ["up\n=143\n", true, killed("SIGTERM")],
    ["up\n=141\n", true, killed("SIGPIPE")],
    ["up\n=130\n", true, killed("SIGINT")],
    ["up\n=255\n", true, code(255)],
    ["bwrap: no\n", false, null],
  ])("[TOOL-125] %j", (words, up, exit) => {
    expect(toldOf(words)).toEqual({ up, exit });
  });
});
