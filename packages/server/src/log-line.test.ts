import { createFakeClock } from "@varve/sim";
import { expect, test } from "vitest";
import { logLines } from "./log-line.ts";

test.each(["plain-long-secret-1234", 'quo"ted-long-secret-1234', "back\\slash-long-secret-1234"])(
  "[AUTH-21] %j is taken out of a line, also where JSON spells it differently",
  (secret) => {
    const lines: string[] = [];
    const line = logLines({
      level: "debug",
      clock: createFakeClock(),
      write: (text) => lines.push(text),
      redact: (text) => text.replaceAll(secret, "[secret]"),
    });
    line("error", "broke", { error: new Error(`refused ${secret}`), deep: { list: [secret] } });
    expect(lines.join("")).toContain("[secret]");
    expect(lines.join("")).not.toContain("long-secret-1234");
  },
);
