/** `bash`: runs a command and tells exactly what came of it. */
import { type JsonObject, unreachable } from "@varve/protocol";
import { z } from "zod";
import { sandboxFor } from "../sandbox/plan.ts";
import { commandRoot } from "./boundary.ts";
import type { ToolContext } from "./context.ts";
import { defineTool } from "./define-tool.ts";
import { namesHome } from "./home-names.ts";
import type { Job } from "./job-table.ts";
import { toolLimits } from "./limits.ts";
import { count, fail, stoppedWords, succeed, ToolFault } from "./outcome.ts";
import { pause } from "./process-tree.ts";
import { lineEnded, ShellTask, type TaskEnd } from "./shell-task.ts";
import type { Tool, ToolOutcome, ToolPlace, ToolRun } from "./tool.ts";

const schema = z.strictObject({
  command: z.string().min(1).max(toolLimits.commandCharsMax),
  timeoutMs: z.int().min(100).max(toolLimits.commandMsMax).optional(),
  background: z.boolean().optional().describe("Start it as a job and go on"),
});
type Args = z.infer<typeof schema>;

/** What "for this tab" allows: exactly this text in exactly this directory, and what was allowed in a sandbox only there. */
export const commandKey = (command: string, cwd: string, sandboxed = false): string =>
  `${command}\nin ${cwd}${sandboxed ? "\nin a sandbox" : ""}`;

export function bashTool(context: ToolContext): Tool {
  return defineTool({
    name: "bash",
    schema,
    prepare: async (args, place) => {
      if (args.command.trim() === "") throw new ToolFault("The command is empty.");
      if (args.command.includes("\0")) throw new ToolFault("A command can't hold a NUL character.");
      const named = await namesHome(context.operations.files, place, args.command);
      const box = await boxFor(context, place);
      const sandboxed = box.program !== null;
      return {
        effect: "run",
        subject: {
          tool: "bash",
          key: commandKey(args.command, place.cwd, sandboxed),
          command: args.command,
          ...(sandboxed ? { sandboxed } : {}),
        },
        lock: null,
        ...(named ? { namesHome: true } : {}),
        run: async (run) => {
          await commandRoot(context.operations.files, place);
          // Nothing begins behind a stop: the tab may be on its way to the trash.
          if (run.signal.aborted) throw new ToolFault(stoppedWords(run.signal));
          // What was shown as sandboxed stays so; a sandbox that the person asked for since holds at once.
          const running = { args, place, run, box: sandboxed ? box : await boxFor(context, place) };
          const outcome = await (args.background === true ? inBackground : inForeground)(context, running);
          return { ...outcome, details: { ...outcome.details, ...running.box.details } };
        },
      };
    },
  });
}

interface Box {
  /** What builds the sandbox; null: there is none around the command. */
  readonly program: string | null;
  /** For the page; nothing where the tab wants no sandbox. */
  readonly details: JsonObject;
}

async function boxFor({ operations }: ToolContext, place: ToolPlace): Promise<Box> {
  const verdict = await sandboxFor(operations, place);
  switch (verdict.kind) {
    case "none":
      return { program: null, details: {} };
    case "missing":
      return { program: null, details: { sandbox: "none" } };
    case "sandboxed":
      return { program: verdict.program, details: { sandbox: "bubblewrap" } };
    case "refused":
      throw new ToolFault(verdict.words);
    default:
      return unreachable(verdict);
  }
}

interface Running {
  readonly box: Box;
  readonly args: Args;
  readonly place: ToolPlace;
  readonly run: ToolRun;
}

async function inForeground(context: ToolContext, { args, place, run, box }: Running): Promise<ToolOutcome> {
  const timeoutMs = args.timeoutMs ?? toolLimits.commandMsDefault;
  const { command } = args;
  const { jobs } = context.memory(place.tabId);
  const start = { command, place, sandbox: box.program, callId: run.callId, live: run.output };
  const task = await ShellTask.start(context.operations, start);
  const timer = context.operations.clock.setTimer(timeoutMs, () => void task.stop("timed out"));
  const onAbort = () => void task.stop("stopped");
  run.signal.addEventListener("abort", onAbort, { once: true });
  if (run.signal.aborted) onAbort();
  const letGo = (): void => {
    timer.cancel();
    run.signal.removeEventListener("abort", onAbort);
  };
  let job: Job | null = null;
  const moved = new Promise<ToolOutcome>((resolve) => {
    run.canMove?.(() => {
      job = jobs.adopt(task, command);
      if (job === null) return false;
      // In the very tick of the move neither the call's time-out nor the turn's stop ends the command any more.
      letGo();
      resolve(movedOutcome(task, job));
      return true;
    });
  });
  const over = task.ended.then((end): ToolOutcome => {
    // What a job leaves running is its table's business, and not the turn's.
    if (job === null && (end.left ?? 0) > 0) jobs.leave(task, run.signal);
    return outcomeOf(task, end, timeoutMs);
  });
  return Promise.race([moved, over]).finally(letGo);
}

/** What the call tells when a person let its command go on without it: the output so far; the job tells the rest. */
function movedOutcome(task: ShellTask, { id }: Job): ToolOutcome {
  return succeed(`${lineEnded(task.output())}⟨moved to the background; continues as job ${id}⟩`, {
    summary: `continues as job ${id}`,
    job: id,
  });
}

function outcomeOf(task: ShellTask, end: TaskEnd, timeoutMs: number): ToolOutcome {
  const words = endWords(end, timeoutMs);
  const left = end.left ?? 0;
  const background = left > 0 ? [`⟨${count(left, "background process", "background processes")} still running⟩`] : [];
  const failed = end.early !== null || end.exit.code !== 0;
  const output = task.output();
  const notes = [...(output === "" ? ["⟨no output⟩"] : []), ...background, ...(failed ? [`⟨${words}⟩`] : [])];
  const text = notes.length === 0 ? output : lineEnded(output) + notes.join("\n");
  const details: JsonObject = {
    summary: words,
    ...(end.exit.code === null ? {} : { exitCode: end.exit.code }),
    ...(end.exit.signal === null ? {} : { signal: end.exit.signal }),
    ...(left > 0 ? { background: left } : {}),
  };
  const bytes = task.spill();
  const spill = bytes === null ? {} : { spill: { bytes, mediaType: "text/plain; charset=utf-8" } };
  return failed ? { ...fail(text, details), ...spill } : succeed(text, details, spill);
}

export function endWords({ early, exit }: TaskEnd, timeoutMs: number | null): string {
  if (early === "timed out") return `timed out after ${(timeoutMs ?? 0) / 1_000} s; its processes were ended`;
  if (early === "stopped") return "stopped; its processes were ended";
  if (exit.notStarted === true) return "its sandbox could not be built; the command was not run";
  return exit.signal === null ? `exit ${exit.code}` : `killed by ${exit.signal}`;
}

async function inBackground(context: ToolContext, { args, place, run, box }: Running): Promise<ToolOutcome> {
  const { jobs } = context.memory(place.tabId);
  let watched = true;
  const live = (text: string) => {
    if (watched) run.output(text);
  };
  const start = { command: args.command, place, sandbox: box.program, callId: run.callId, live };
  const job = await jobs.start(start);
  await Promise.race([job.task.ended, pause(context.operations.clock, toolLimits.jobStartMs)]);
  watched = false;
  const state = job.task.running ? "running" : endWords(await job.task.ended, null);
  const text = `${lineEnded(jobs.takeFresh(job.id))}⟨job ${job.id}: ${state}⟩`;
  return succeed(text, { summary: `job ${job.id}: ${state}`, job: job.id });
}
