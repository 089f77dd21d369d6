/** `job`: looks after what `bash` started in the background. */
import { unreachable } from "@varve/protocol";
import { z } from "zod";
import { endWords } from "./bash.ts";
import type { ToolContext } from "./context.ts";
import { defineTool } from "./define-tool.ts";
import type { Job, JobTable } from "./job-table.ts";
import { toolLimits } from "./limits.ts";
import { count, cutEnd, succeed, ToolFault } from "./outcome.ts";
import { lineEnded } from "./shell-task.ts";
import type { Tool, ToolOutcome, ToolRun } from "./tool.ts";

const schema = z.strictObject({
  action: z.enum(["list", "read", "wait", "stop"]),
  id: z.string().min(1).max(20).optional().describe('The job, for all actions but "list"'),
  timeoutMs: z.int().min(0).max(toolLimits.commandMsMax).optional().describe("For wait; 60000 unless said"),
});
type Args = z.infer<typeof schema>;

export function jobTool(context: ToolContext): Tool {
  return defineTool({
    name: "job",
    schema,
    prepare: async (args, place) => {
      if (args.action !== "list" && args.id === undefined)
        throw new ToolFault(`"${args.action}" needs the "id" of a job.`);
      return {
        // It touches nothing but what this tab was allowed to start.
        effect: "read",
        subject: { tool: "job", key: `${args.action} ${args.id ?? ""}`.trim() },
        lock: null,
        run: (run) => act(context, context.memory(place.tabId).jobs, { args, run }),
      };
    },
  });
}

interface Acting {
  readonly args: Args;
  readonly run: ToolRun;
}

async function act(context: ToolContext, jobs: JobTable, { args, run }: Acting): Promise<ToolOutcome> {
  if (args.action === "list") return listed(jobs.list());
  const job = jobs.get(args.id ?? "");
  switch (args.action) {
    case "read":
      break;
    case "wait":
      await waitFor(context, job, { ms: args.timeoutMs ?? toolLimits.jobWaitMsDefault, signal: run.signal });
      break;
    case "stop":
      await job.task.stop("stopped");
      await job.task.ended;
      break;
    default:
      return unreachable(args.action);
  }
  const state = await stateOf(job);
  const fresh = jobs.takeFresh(job.id);
  const text = `${lineEnded(fresh === "" ? "⟨no new output⟩" : fresh)}⟨job ${job.id}: ${state}⟩`;
  return succeed(text, { summary: `job ${job.id}: ${state}`, job: job.id });
}

const stateOf = async ({ task }: Job): Promise<string> => (task.running ? "running" : endWords(await task.ended, null));

async function listed(jobs: readonly Job[]): Promise<ToolOutcome> {
  const lines = await Promise.all(
    jobs.map(async (job) => `job ${job.id}: ${await stateOf(job)}: ${cutEnd(job.command.replace(/\s+/g, " "), 120)}`),
  );
  const details = { summary: count(jobs.length, "job"), jobs: jobs.map(({ id }) => id) };
  return succeed(lines.length === 0 ? "⟨no jobs⟩" : lines.join("\n"), details);
}

/** Until the job ends, the time is over, or the call is stopped (which leaves the job alone). */
async function waitFor(
  context: ToolContext,
  job: Job,
  { ms, signal }: { readonly ms: number; readonly signal: AbortSignal },
): Promise<void> {
  await new Promise<void>((done) => {
    const timer = context.operations.clock.setTimer(ms, finished);
    function finished() {
      timer.cancel();
      signal.removeEventListener("abort", finished);
      done();
    }
    signal.addEventListener("abort", finished, { once: true });
    void job.task.ended.then(finished);
  });
  signal.throwIfAborted();
}
