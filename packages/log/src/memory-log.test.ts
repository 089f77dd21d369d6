import { describeLogContract } from "./contract.ts";
import { memoryLog } from "./memory-log.ts";

describeLogContract("the memory log", async () => {
  const log = memoryLog();
  return { log, [Symbol.asyncDispose]: () => log.close() };
});
