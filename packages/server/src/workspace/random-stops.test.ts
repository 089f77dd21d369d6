import { isFault, parseTurnId, type StoredRow } from "@varve/protocol";
import { createPrng, type FakeRequest, type Prng, type Reply } from "@varve/sim";
import { expect, test } from "vitest";
import { ends, send, stateOf, texts } from "./testing/acts.ts";
import { makeRig, type Rig } from "./testing/rig.ts";

/** The long form is for a day without hurry. */
const stops = process.env.SOAK === "1" ? 400 : 100;
/** Stops of one tab, so that no log becomes long. */
const perTab = 20;

/** Three calls at once, a text, or a text and calls behind it; a message that says "next" is answered with a word. */
function agent(prng: Prng): (request: FakeRequest) => Reply {
  return ({ lastUserText, index }) => {
    // One that was stopped before a word came stands in the same message.
    const next = /next \d+-\d+/.exec(lastUserText);
    if (next !== null) return { blocks: [{ type: "text", text: `answered ${next[0]}` }] };
    const text = { type: "text", text: "some words that come in pieces ".repeat(4) } as const;
    const calls = [0, 1, 2].map((at) => ({
      ...({ type: "tool_use", id: `call-${index}-${at}`, name: "work", input: { at } } as const),
    }));
    return { blocks: prng.pick([[text], calls, [text, ...calls]]), chunkSize: prng.int(4, 40) };
  };
}

/** Lets the tab work for some turns of the event loop; tools of the first call end, the others go on until they are stopped. */
async function workFor(rig: Rig, turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn++) {
    for (const [callId, work] of rig.works) if (callId.endsWith("-0")) work.end("real");
    await rig.clock.advance(2);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

async function tabOf(rig: Rig): Promise<Rig> {
  const made = await rig.workspace.create({ cwd: "/project", model: "anthropic/claude-test", permissions: "allow" });
  if (isFault(made)) throw new Error(made.message);
  const rows: Rig["rows"] = async () => {
    const found: StoredRow[] = [];
    for (;;) {
      const page = await rig.log.page({ logId: made.logId, after: found.length, limit: 500 });
      if (isFault(page)) throw new Error(page.message);
      found.push(...page.rows);
      if (page.rows.length === 0 || found.length >= page.tail) return found;
    }
  };
  return { ...rig, tab: made.id, rows };
}

test("[TAB-6] H25: stopped a hundred times at any moment, every call has one result, a late stop hits nothing, and the next message is answered", async () => {
  const prng = createPrng(25);
  const gone = parseTurnId("gone") ?? expect.fail("a legal id");
  await using rig = await makeRig({ provider: { reply: agent(prng) } });
  for (let done = 0; done < stops; done += perTab) {
    const tab = await tabOf(rig);
    const atRest = () => stateOf(tab) === "idle";
    for (let round = 0; round < perTab; round++) {
      const name = `${done}-${round}`;
      await send(tab, `go-${name}`, "go");
      await workFor(tab, prng.int(0, 14));
      await rig.workspace.stop(tab.tab, {});
      await tab.until("it is at rest", atRest);
      await send(tab, `next-${name}`, `next ${name}`);
      // Behind the end of the turn that it was meant for.
      if (round % 4 === 0) expect(await rig.workspace.stop(tab.tab, { turnId: gone })).toEqual({ stopped: false });
      await tab.until("the next one is over", atRest);
      expect((await texts(tab)).at(-1)).toBe(`assistant:answered next ${name}`);
      if (round % 10 === 9) await checkRows(tab);
    }
    expect(await ends(tab)).toHaveLength(perTab * 2);
  }
}, 240_000);

async function checkRows(tab: Rig): Promise<void> {
  const rows = await tab.rows();
  expect(rows.map(({ seq }) => seq)).toEqual(rows.map((_, at) => at + 1));
  const calls = rows.flatMap((row) => (row.type === "tool_call" ? [row.data.callId] : []));
  const results = rows.flatMap((row) => (row.type === "tool_result" ? [row.data.callId] : []));
  expect(results.toSorted()).toEqual(calls.toSorted());
}
