/** What the kernel says of a process. Linux only, as the figures of the budgets are. */
import { readdirSync, readFileSync } from "node:fs";

/** Resident MiB. */
export function residentMiB(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
}

/** User and system time so far, in seconds, of ended threads too; the kernel counts in hundredths. */
export function processorSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** Time on a processor so far of the threads that live, in microseconds: for spans in which no thread ends. */
export function processorUs(pid: number): number {
  let ns = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    ns += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]);
  }
  return ns / 1000;
}
