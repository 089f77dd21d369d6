/** Globs over paths as `glob` and `grep` take them: a pattern without `/` matches a name at any depth. */
import picomatch from "picomatch";
import { ToolFault } from "./outcome.ts";

export function pathMatcher(pattern: string): (path: string) => boolean {
  const plain = pattern.replace(/^\.\//, "");
  if (plain === "") throw new ToolFault("The glob is empty.");
  const whole = plain.includes("/") ? plain.replace(/^\//, "") : `**/${plain}`;
  try {
    return picomatch(whole, { dot: true, noextglob: true, nonegate: true });
  } catch (thrown) {
    throw new ToolFault(`The glob is not right: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
  }
}
