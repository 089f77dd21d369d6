import { describe, expect, test } from "vitest";
import { lengthWarning, visibleDiff, visibleText } from "./visible-text.ts";

describe("what a person is asked to allow", () => {
  test.each([
    ["ls -la\n\techo 'größe 好 🎉'", "ls -la\n\techo 'größe 好 🎉'"],
    ["echo \u202egnp.exe", "echo ⟨U+202E⟩gnp.exe"],
    ["rm \u2066-rf\u2069 x", "rm ⟨U+2066⟩-rf⟨U+2069⟩ x"],
    ["a\u200bb\u2060c\ufeffd\u00ade", "a⟨U+200B⟩b⟨U+2060⟩c⟨U+FEFF⟩d⟨U+00AD⟩e"],
    ["rm\u00a0x\u2003y\u3000z", "rm⟨U+00A0⟩x⟨U+2003⟩y⟨U+3000⟩z"],
    ["echo safe\rrm x", "echo safe⟨U+000D⟩rm x"],
    ["\u001b[2Jls\u0007\u0008\u007f\u009b", "⟨U+001B⟩[2Jls⟨U+0007⟩⟨U+0008⟩⟨U+007F⟩⟨U+009B⟩"],
    ["a\u2028b\u2029c\u0085d\u000be", "a⟨U+2028⟩b⟨U+2029⟩c⟨U+0085⟩d⟨U+000B⟩e"],
    ["a\u3164b\u115fc\u2800d", "a⟨U+3164⟩b⟨U+115F⟩c⟨U+2800⟩d"],
    ["tag \u{e0061}\u{e007f}", "tag ⟨U+E0061⟩⟨U+E007F⟩"],
    ["half \ud800!", "half ⟨U+D800⟩!"],
  ])("%j is shown as %j", (text, shown) => {
    expect(visibleText(text)).toBe(shown);
  });

  test("a change shows what turns its order, and leaves a file's own blanks and line ends", () => {
    expect(visibleDiff("+a\u00a0b\r\n+\u202ec\u200d\u001b")).toBe("+a\u00a0b\r\n+⟨U+202E⟩c\u200d⟨U+001B⟩");
  });

  test("a command that does not fit says so", () => {
    expect(lengthWarning("ls")).toBe("");
    expect(lengthWarning(`ls${"\n".repeat(300)}rm -r x`)).toContain("301 lines");
    expect(lengthWarning(`ls${" ".repeat(3_000)}; rm -r x`)).toContain("3011 characters");
  });
});
