import { isFault } from "@varve/protocol";
import { stillClock, temporaryFolder } from "./contract/temporary.ts";
import { describeLogContract } from "./contract.ts";
import { openSqliteLog } from "./sqlite-log.ts";

describeLogContract("the SQLite log", async () => {
  const folder = await temporaryFolder();
  const log = await openSqliteLog({ home: folder.path, clock: stillClock });
  if (isFault(log)) throw new Error(log.message);
  const close = async () => {
    await log.close();
    await folder[Symbol.asyncDispose]();
  };
  return { log, [Symbol.asyncDispose]: close };
});
