/** What is open about single vendors other than Anthropic. */
import { type Check, isNearAll, ratioText, relied, settled, toldRead } from "./check.ts";
import { countOf, otherForm, withCacheKey } from "./edits.ts";
import { alsoThis, askForCalls, askForWord, goOn, opening } from "./live-text.ts";

const common = { tabs: 1, requests: 2 } as const;

const textOrList: Check = {
  ...common,
  name: "text-or-list",
  point: 5,
  what: "The same request with its first user message as a text where it was a list of one text, or the other way round.",
  expected: () => "1.000 if both are the same to the vendor, else less; the form is constant, so nothing relies on it",
  providers: ["openai", "openrouter"],
  async run(bench) {
    const tab = bench.tab();
    tab.say(opening(askForWord));
    await tab.step({ discard: true });
    await bench.settle();
    const again = await tab.step({ discard: true, edit: { body: otherForm } });
    const finding = isNearAll(again.ratio) ? "both are the same" : "they differ";
    return settled(again.ratio, `${toldRead(again)}: ${finding}`);
  },
};

const cacheKey: Check = {
  ...common,
  name: "cache-key",
  point: null,
  what: "The second request of a tab under another prompt_cache_key.",
  expected: () => "1.000 where the key only separates accounts, less where it decides the routing; ours is constant",
  providers: ["openai"],
  async run(bench) {
    const tab = bench.tab();
    tab.say(opening(askForCalls));
    await tab.step();
    await bench.settle();
    tab.goOn(goOn);
    const step = await tab.step({ edit: { body: withCacheKey("varve-live-other-key") } });
    return settled(step.ratio, toldRead(step));
  },
};

const marks: Check = {
  ...common,
  name: "marks",
  point: null,
  what: "One breakpoint on the system message and one at the top level, in every request.",
  expected: (provider) => `1 in the messages and 1 at the top, ${ratioText(provider)}`,
  providers: ["openrouter"],
  async run(bench) {
    const tab = bench.tab();
    tab.say(opening(askForWord));
    await tab.step();
    await bench.settle();
    tab.say(alsoThis);
    const step = await tab.step();
    const within = countOf(step.body.messages, "cache_control");
    const top = step.body.cache_control === undefined ? 0 : 1;
    const outcome = relied(
      bench.provider,
      step.ratio,
      `${within} in the messages, ${top} at the top, ${toldRead(step)}`,
    );
    return within === 1 && top === 1 ? outcome : { ...outcome, verdict: "differs" };
  },
};

export const vendorChecks: readonly Check[] = [textOrList, cacheKey, marks];
