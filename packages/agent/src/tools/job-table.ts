/** A tab's background commands, by small numbers, and what its foreground commands left running. */
import { toolLimits } from "./limits.ts";
import type { ToolOperations } from "./operations.ts";
import { cutStart, ToolFault } from "./outcome.ts";
import { ShellTask, type TaskEnd, type TaskStart } from "./shell-task.ts";

export interface Job {
  readonly id: string;
  readonly command: string;
  readonly task: ShellTask;
  /** Set when it ended. */
  readonly end: TaskEnd | null;
}

interface KeptJob extends Job {
  end: TaskEnd | null;
  fresh: string;
  missed: number;
}

export class JobTable {
  readonly #operations: ToolOperations;
  readonly #jobs = new Map<string, KeptJob>();
  /** Ended, but not all of their processes. */
  readonly #left = new Set<ShellTask>();
  #started = 0;
  #closed = false;

  constructor(operations: ToolOperations) {
    this.#operations = operations;
  }

  async start(start: TaskStart): Promise<Job> {
    const running = this.#running();
    if (running >= toolLimits.jobsRunningMax) {
      throw new ToolFault(`${running} jobs are running, which is the most. Stop one or wait for it first.`);
    }
    this.#started += 1;
    const id = String(this.#started);
    let early = "";
    let job: KeptJob | null = null;
    const task = await ShellTask.start(this.#operations, {
      ...start,
      final: (text) => {
        if (job === null) early += text;
        else keepFresh(job, text);
      },
    });
    job = { id, command: start.command, task, end: null, fresh: early, missed: 0 };
    if (this.#closed) await task.stop("stopped");
    this.#jobs.set(id, job);
    void this.#watch(job);
    return job;
  }

  /**
   * A command that ran in the foreground goes on as a job; its call has told the output so far. Null when it is over or being
   * ended, or when there are as many jobs as may be.
   */
  adopt(task: ShellTask, command: string): Job | null {
    if (this.#closed || !task.goesOn || this.#running() >= toolLimits.jobsRunningMax) return null;
    this.#started += 1;
    const job: KeptJob = { id: String(this.#started), command, task, end: null, fresh: "", missed: 0 };
    task.follow((text) => keepFresh(job, text));
    this.#jobs.set(job.id, job);
    void this.#watch(job);
    return job;
  }

  list(): readonly Job[] {
    return [...this.#jobs.values()];
  }

  get(id: string): Job {
    const job = this.#jobs.get(id);
    if (job !== undefined) return job;
    const known = [...this.#jobs.keys()].join(", ");
    const others = known === "" ? "Jobs end with the server; it may have been restarted." : `There are: ${known}.`;
    throw new ToolFault(`There is no job ${id}. ${others}`);
  }

  /** Output since the last look. */
  takeFresh(id: string): string {
    const job = this.#jobs.get(id);
    if (job === undefined) return "";
    if (job.task.binary) return job.task.output();
    const text = job.missed > 0 ? `⟨${job.missed} characters left out⟩\n${job.fresh}` : job.fresh;
    job.fresh = "";
    job.missed = 0;
    return text;
  }

  /** A foreground command ended and left processes: they end with the turn that started them, or with the tab. */
  leave(task: ShellTask, signal: AbortSignal): void {
    this.#left.add(task);
    const end = () => void this.#endLeft(task);
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
  }

  async close(): Promise<void> {
    this.#closed = true;
    const jobs = [...this.#jobs.values()];
    await Promise.all([
      ...jobs.map(({ task }) => task.stop("stopped")),
      ...[...this.#left].map((task) => this.#endLeft(task)),
    ]);
    await Promise.all(jobs.map(({ task }) => task.ended));
  }

  #running(): number {
    return [...this.#jobs.values()].filter(({ end }) => end === null).length;
  }

  async #endLeft(task: ShellTask): Promise<void> {
    await task.endLeft();
    this.#left.delete(task);
  }

  async #watch(job: KeptJob): Promise<void> {
    job.end = await job.task.ended;
    if ((job.end.left ?? 0) > 0) this.#left.add(job.task);
    const ended = [...this.#jobs.values()].filter(({ end }) => end !== null);
    for (const { id } of ended.slice(0, Math.max(0, ended.length - toolLimits.jobsEndedMax))) this.#jobs.delete(id);
  }
}

function keepFresh(job: KeptJob, text: string): void {
  const whole = job.fresh + text;
  job.fresh = cutStart(whole, toolLimits.outputCharsMax);
  job.missed += whole.length - job.fresh.length;
}
