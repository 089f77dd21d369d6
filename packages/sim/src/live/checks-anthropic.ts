/** What is open about Anthropic's cache and its rules of validity. */
import {
  type Bench,
  type Check,
  isNearAll,
  type Outcome,
  percent,
  ratioText,
  relied,
  settled,
  toldRead,
} from "./check.ts";
import { burstCalls } from "./checks-common.ts";
import type { Edit } from "./edited-fetch.ts";
import { onlyLastMark, refusedOnPurpose, withBlankText, withHourMarks, withoutEagerFlag } from "./edits.ts";
import { alsoThis, askForCalls, askForWord, goOn, opening } from "./live-text.ts";

const minute = 60_000;
/** Known to every account and without effect on these requests; what matters is that the set has changed. */
const oneMoreBeta = "extended-cache-ttl-2025-04-11";
const common = { providers: ["anthropic"], tabs: 1 } as const;

/** The same request twice, the second time changed by an edit. */
async function twice(bench: Bench, edit: Edit): Promise<Outcome> {
  const tab = bench.tab();
  tab.say(opening(askForWord));
  await tab.step({ discard: true });
  await bench.settle();
  const again = await tab.step({ discard: true, edit });
  const finding = isNearAll(again.ratio) ? "it is not part of the key" : "it is part of the key";
  return settled(again.ratio, `${toldRead(again)}: ${finding}`);
}

const collapse: Check = {
  ...common,
  name: "collapse",
  point: 1,
  what: `A breakpoint at the end alone, behind ${burstCalls} calls and ${burstCalls} results, looks for an entry before them.`,
  expected: () =>
    "1.000 if a run of calls or of results is one position, 0.000 if each block is one; nothing relies on it",
  requests: 2,
  async run(bench) {
    const tab = bench.tab();
    tab.say(opening(askForWord));
    await tab.step({ discard: true });
    tab.playCalls(burstCalls);
    const step = await tab.step({ discard: true, edit: { body: onlyLastMark } });
    const finding = isNearAll(step.ratio) ? "a run is one position" : "each block is a position";
    return settled(step.ratio, `${toldRead(step)}: ${finding}`);
  },
};

const keepWarm: Check = {
  ...common,
  name: "keep-warm",
  point: null,
  what: "The last body again with max_tokens 0, and then a step. With --patient the step comes when the first entry would be dead.",
  expected: (provider) => `no output, and ${ratioText(provider)} both times`,
  requests: 3,
  async run(bench) {
    const tab = bench.tab();
    tab.say(opening(askForCalls));
    await tab.step();
    if (bench.isPatient) await bench.wait(4.5 * minute);
    const warm = await tab.warm();
    if (bench.isPatient) await bench.wait(minute);
    tab.goOn(goOn);
    const step = await tab.step();
    const ratio = warm.ratio === null || step.ratio === null ? null : Math.min(warm.ratio, step.ratio);
    const told = `warming: ${toldRead(warm)}, output ${warm.usage?.output ?? "unknown"}; step: ${toldRead(step)}`;
    const outcome = relied(bench.provider, ratio, told);
    return (warm.usage?.output ?? 0) > 0 ? { ...outcome, verdict: "differs" } : outcome;
  },
};

const hourUpgrade: Check = {
  ...common,
  name: "hour-upgrade",
  point: 2,
  what: "An entry that lives for five minutes is marked for an hour without output. With --patient it is read after six minutes.",
  expected: () =>
    "written for an hour: 0 (what is alive is only read), and dead after six minutes; nothing relies on it",
  requests: 3,
  async run(bench) {
    if (bench.ttl === "1h") return { verdict: "not-run", measured: "needs entries of five minutes", ratio: null };
    const tab = bench.tab();
    tab.say(opening(askForWord));
    await tab.step({ discard: true });
    const marked = await tab.warm({ body: withHourMarks });
    const wrote = `read ${marked.usage?.read ?? "unknown"}, written for an hour ${marked.usage?.write1h ?? "unknown"}`;
    if (!bench.isPatient) return settled(null, `${wrote}; whether it lives on needs --patient`);
    await bench.wait(6 * minute);
    const later = await tab.step({ discard: true });
    return settled(later.ratio, `${wrote}; after six minutes ${toldRead(later)}`);
  },
};

const betas: Check = {
  ...common,
  name: "betas",
  point: 3,
  what: "The same request with one more name in the anthropic-beta header.",
  expected: () => "0.000 by the vendor's list of what is in the key; the header is constant, so nothing relies on it",
  requests: 2,
  run: (bench) =>
    twice(bench, {
      headers: (headers) => {
        const names = [headers.get("anthropic-beta"), oneMoreBeta].filter((name) => name !== null);
        headers.set("anthropic-beta", names.join(","));
      },
    }),
};

const eager: Check = {
  ...common,
  name: "eager-flag",
  point: 4,
  what: "The same request without eager_input_streaming on its tools.",
  expected: () => "unknown; the flag is constant, so nothing relies on it",
  requests: 2,
  run: (bench) => twice(bench, { body: withoutEagerFlag }),
};

const textBehindResults: Check = {
  ...common,
  name: "text-behind-results",
  point: 6,
  what: "A person's words go behind tool results that were the end of the request before.",
  expected: (provider) => `${ratioText(provider)}: the entry at the last result is kept`,
  requests: 2,
  async run(bench) {
    const tab = bench.tab();
    tab.say(opening(askForWord));
    tab.playCalls(1);
    await tab.step({ discard: true });
    tab.say(alsoThis);
    const step = await tab.step();
    return relied(bench.provider, step.ratio, toldRead(step));
  },
};

const textAfterFailure: Check = {
  ...common,
  name: "text-after-failure",
  point: 7,
  what: "A person's words go behind tool results whose request was refused.",
  expected: (provider) => `taken, with ${ratioText(provider)} of the request before the refused one`,
  requests: 3,
  async run(bench) {
    const tab = bench.tab();
    tab.say(opening(askForWord));
    await tab.step({ discard: true });
    tab.playCalls(1);
    const refused = await tab.step({ edit: { body: refusedOnPurpose }, mayFail: true });
    tab.say(alsoThis);
    const step = await tab.step({ mayFail: true });
    if (step.refusal !== null) return { verdict: "differs", measured: `refused: ${step.refusal}`, ratio: null };
    const what = refused.refusal === null ? "the wrong request was taken; " : "";
    return relied(bench.provider, step.ratio, `${what}taken, ${toldRead(step)}`);
  },
};

const blankSeparator: Check = {
  ...common,
  name: "blank-separator",
  point: 8,
  what: "A text of one blank stands behind a thinking block in the assistant's history.",
  expected: () => "taken or refused: the two reports disagree",
  requests: 2,
  async run(bench) {
    const tab = bench.tab();
    tab.say(opening(askForCalls));
    await tab.step();
    const thought = tab.rows.some(({ type }) => type === "thinking") ? "behind thinking" : "without any thinking";
    const own = tab.rows.some((row) => row.type === "text" && row.data.text === " ")
      ? "; the model made one itself"
      : "";
    tab.goOn(goOn);
    const step = await tab.step({ edit: { body: withBlankText }, mayFail: true });
    const answer = step.refusal === null ? `taken (read ratio ${percent(step.ratio)})` : `refused (${step.refusal})`;
    return settled(step.ratio, `${thought}: ${answer}${own}`);
  },
};

export const anthropicChecks: readonly Check[] = [
  collapse,
  keepWarm,
  hourUpgrade,
  betas,
  eager,
  textBehindResults,
  textAfterFailure,
  blankSeparator,
];
