/** The public surface of the log room: the port, its implementations, and the checks of what they hold. */
export { addedBill, billEntryOf, billKey } from "./bill-rule.ts";
export { FaultError } from "./fault-error.ts";
export type * from "./log.ts";
export { memoryLog } from "./memory-log.ts";
export { pageRowsMax } from "./page-limit.ts";
export { type HomeHeld, type HomePaths, homePaths, isHomeHeld } from "./sqlite/home.ts";
export { openSqliteLog, type SqliteLogOptions } from "./sqlite-log.ts";
export { problemsMax, type RowProblem, verifyRows } from "./verify-rows.ts";
export { wellFormed } from "./well-formed.ts";
