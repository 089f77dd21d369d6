/** The real world below the tools. The only file of this folder that composes system calls; servers make one of it. */
import { mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Clock } from "@varve/protocol";
import { nodeSandbox } from "../sandbox/node-sandbox.ts";
import { nodeFiles } from "./node-files.ts";
import { nodeHttp } from "./node-http.ts";
import { nodeImages } from "./node-images.ts";
import { nodeProcesses } from "./node-processes.ts";
import type { ToolOperations } from "./operations.ts";

export const nodeClock: Clock = {
  now: () => Date.now(),
  setTimer: (ms, fire) => {
    const timer = setTimeout(fire, ms);
    return { cancel: () => clearTimeout(timer) };
  },
};

export interface NodeOperationsOptions {
  /**
   * Where spill files go, a folder for each tab; a new one for temporary files unless said. Must exist, outside every
   * workspace; it may be in `VARVE_HOME`, where spill files outlive a restart.
   */
  readonly spillRoot?: string;
  readonly clock?: Clock;
}

export function nodeOperations(options: NodeOperationsOptions = {}): ToolOperations {
  const spillRoot = realpathSync(options.spillRoot ?? mkdtempSync(join(tmpdir(), "agent-output-")));
  const processes = nodeProcesses();
  return {
    files: nodeFiles(spillRoot),
    processes,
    sandbox: nodeSandbox(processes),
    http: nodeHttp(),
    images: nodeImages(),
    clock: options.clock ?? nodeClock,
  };
}
