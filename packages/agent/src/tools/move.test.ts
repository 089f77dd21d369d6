import { describe, expect, test } from "vitest";
import { toolLimits } from "./limits.ts";
import { markVariable } from "./shell-env.ts";
import { homeMark } from "./shell-task.ts";
import { type Scratch, scratch } from "./testing/scratch.ts";
import type { ToolOutcome } from "./tool.ts";

const living = async (at: Scratch) =>
  (await at.operations.processes.marked(markVariable, homeMark(at.place.home))) ?? [];

interface Running {
  readonly outcome: Promise<ToolOutcome>;
  readonly move: () => boolean;
  readonly stop: AbortController;
}

/** Starts a command in the foreground; resolves when it can be moved and has said `word`. */
async function running(
  at: Scratch,
  command: string,
  options: { timeoutMs?: number; word?: string } = {},
): Promise<Running> {
  const stop = new AbortController();
  const ways: (() => boolean)[] = [];
  let said = "";
  const { word = "up", timeoutMs = 60_000 } = options;
  let outcome: Promise<ToolOutcome> | null = null;
  await new Promise<void>((ready) => {
    const look = (): void => {
      if (ways.length > 0 && said.includes(word)) ready();
    };
    outcome = at.call(
      "bash",
      { command, timeoutMs },
      {
        signal: stop.signal,
        output: (text) => {
          said += text;
          look();
        },
        canMove: (way) => {
          ways.push(way);
          look();
        },
      },
    );
  });
  if (outcome === null) throw new Error("the call began");
  return { outcome, move: () => ways[0]?.() ?? false, stop };
}

const untilGo = "echo up; while [ ! -e go ]; do sleep .05; done; echo more; exit 4";

describe("moving a command to the background", () => {
  test("[TOOL-85] its call ends with the output so far and the job, which tells the rest once", async () => {
    await using at = scratch();
    const { outcome, move } = await running(at, untilGo);
    expect(move()).toBe(true);
    expect(await outcome).toEqual({
      isError: false,
      text: "up\n⟨moved to the background; continues as job 1⟩",
      details: { summary: "continues as job 1", job: "1" },
    });
    expect((await at.call("job", { action: "list" })).text).toMatch(/^job 1: running: echo up; while/);
    expect((await at.call("job", { action: "read", id: "1" })).text).toBe("⟨no new output⟩\n⟨job 1: running⟩");
    at.file("go", "");
    expect((await at.call("job", { action: "wait", id: "1" })).text).toBe("more\n⟨job 1: exit 4⟩");
    expect((await at.call("job", { action: "read", id: "1" })).text).toBe("⟨no new output⟩\n⟨job 1: exit 4⟩");
  });

  test("[TOOL-85] neither its time-out nor the turn's stop ends it any more, a stop of the job does", async () => {
    await using at = scratch();
    const { outcome, move, stop } = await running(at, "setsid sleep 60 & echo up; sleep 60", { timeoutMs: 300 });
    expect(move()).toBe(true);
    await outcome;
    stop.abort("stopped");
    // Longer than the call's own time.
    expect((await at.call("job", { action: "wait", id: "1", timeoutMs: 700 })).text).toMatch(/⟨job 1: running⟩$/);
    expect((await living(at)).length).toBeGreaterThanOrEqual(2);
    expect((await at.call("job", { action: "stop", id: "1" })).text).toMatch(/⟨job 1: stopped/);
    expect(await living(at)).toEqual([]);
  });

  test("[TOOL-85] what was left out of a long output is where the result says, and later output is the job's", async () => {
    await using at = scratch();
    const command = "yes | head -c 100000; echo up; while [ ! -e go ]; do sleep .05; done; echo more";
    const { outcome, move } = await running(at, command);
    expect(move()).toBe(true);
    const { text } = await outcome;
    expect(text.length).toBeLessThan(toolLimits.outputCharsMax + 500);
    const path = /the whole output is in (\S+)⟩/.exec(text)?.[1] ?? "";
    at.file("go", "");
    expect((await at.call("job", { action: "wait", id: "1" })).text).toBe("more\n⟨job 1: exit 0⟩");
    expect((await at.call("read", { path, offset: 50_000 })).text).toContain("more");
  });

  test("[TOOL-85] a line that was not whole when it moved is told whole by the job", async () => {
    await using at = scratch();
    const command = "printf 'up and'; while [ ! -e go ]; do sleep .05; done; echo ' on'";
    const { outcome, move } = await running(at, command);
    expect(move()).toBe(true);
    expect((await outcome).text).toBe("⟨moved to the background; continues as job 1⟩");
    at.file("go", "");
    expect((await at.call("job", { action: "wait", id: "1" })).text).toBe("up and on\n⟨job 1: exit 0⟩");
  });

  test("[TOOL-85] a tab that closes ends what was moved, and forgets nothing of what was kept", async () => {
    await using at = scratch();
    const { outcome, move } = await running(at, "echo up; sleep 60");
    expect(move()).toBe(true);
    await outcome;
    await at.box.closePlace(at.place.tabId, "keep");
    expect(await living(at)).toEqual([]);
  });

  test("[TOOL-85] a server that was started anew has no jobs, and says why", async () => {
    await using at = scratch();
    const gone = await at.call("job", { action: "read", id: "1" });
    expect(gone).toMatchObject({ isError: true, text: expect.stringMatching(/no job 1\. Jobs end with the server/) });
  });

  test("[TOOL-86] one that has ended is not moved", async () => {
    await using at = scratch();
    const { outcome, move } = await running(at, "echo up");
    expect((await outcome).text).toBe("up\n");
    expect(move()).toBe(false);
    expect((await at.call("job", { action: "list" })).text).toBe("⟨no jobs⟩");
  });

  test("[TOOL-86] one that is being stopped is not moved", async () => {
    await using at = scratch();
    const { outcome, move, stop } = await running(at, "trap '' TERM; echo up; sleep 60");
    stop.abort("stopped");
    expect(move()).toBe(false);
    expect(await outcome).toMatchObject({ isError: true, text: expect.stringMatching(/^up\n⟨stopped/) });
    expect(await living(at)).toEqual([]);
  });

  test("[TOOL-86] with as many jobs as may be it stays where it is", async () => {
    await using at = scratch();
    for (let i = 0; i < toolLimits.jobsRunningMax; i++) {
      await at.call("bash", { command: "sleep 60", background: true });
    }
    const { outcome, move } = await running(at, "echo up; while [ ! -e go ]; do sleep .05; done");
    expect(move()).toBe(false);
    await at.call("job", { action: "stop", id: "3" });
    expect(move()).toBe(true);
    expect((await outcome).text).toMatch(/continues as job 9/);
  });

  test("[TOOL-86] a job is none that could be moved, and neither is a wait for one", async () => {
    await using at = scratch();
    const ways: unknown[] = [];
    const canMove = (move: () => boolean): void => void ways.push(move);
    await at.call("bash", { command: "sleep 60", background: true }, { canMove });
    await at.call("job", { action: "wait", id: "1", timeoutMs: 1 }, { canMove });
    expect(ways).toEqual([]);
  });
});
