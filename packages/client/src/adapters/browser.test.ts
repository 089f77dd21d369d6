import { expect, test } from "vitest";
import { probeOnWake, type WakeSources } from "./browser.ts";

test("[CONN-4] a page probes when it is looked at, thawed, taken from the cache, or the network is back", () => {
  const window = new EventTarget();
  const document: WakeSources["document"] = Object.assign(new EventTarget(), { visibilityState: "visible" as const });
  const woke: string[] = [];
  let cause = "";
  const stop = probeOnWake(() => woke.push(cause), { window, document });
  const say = (source: EventTarget, type: string): void => {
    cause = type;
    source.dispatchEvent(new Event(type));
  };
  const all = (): void => {
    say(window, "online");
    say(window, "pageshow");
    say(document, "resume");
    say(document, "visibilitychange");
  };
  all();
  expect(woke.splice(0)).toEqual(["online", "pageshow", "resume", "visibilitychange"]);
  Object.assign(document, { visibilityState: "hidden" });
  all();
  expect(woke.splice(0)).toEqual(["online", "pageshow", "resume"]);
  say(document, "freeze");
  say(window, "pagehide");
  say(window, "offline");
  stop();
  all();
  expect(woke).toEqual([]);
});
