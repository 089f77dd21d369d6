import { describe } from "vitest";
import { describeBills } from "./contract/bills.ts";
import type { OpenLog } from "./contract/fixtures.ts";
import { describeInbox } from "./contract/inbox.ts";
import { describeLogs } from "./contract/logs.ts";
import { describeModel } from "./contract/model.ts";
import { describeRest } from "./contract/rest.ts";
import { describeRows } from "./contract/rows.ts";

export type { OpenedLog, OpenLog } from "./contract/fixtures.ts";

/**
 * What every log must do. An implementation's test file calls it with a way to open an empty one; `runs` is how many
 * random histories are compared with the model.
 */
export function describeLogContract(name: string, open: OpenLog, runs = 60): void {
  describe(`${name} keeps the contract:`, () => {
    describeRows(open);
    describeLogs(open);
    describeInbox(open);
    describeRest(open);
    describeBills(open);
    describeModel(open, runs);
  });
}
