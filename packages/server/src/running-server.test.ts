/** The token of a home is for its own server, not for whoever listens where that one used to. */
import { spawnSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { isFault } from "@varve/protocol";
import { expect, test } from "vitest";
import { writeRunning } from "./running-file.ts";
import { askForLink, findServer } from "./running-server.ts";
import { temporaryFolder } from "./testing/house.ts";

const token = "a-long-secret-of-this-home";
/** A process that has been and is no more. */
const gone = (): number => spawnSync("true").pid;

test.each([
  ["its own", () => process.pid, true],
  ["one that is gone", gone, false],
  ["none", () => 0, false],
  ["a group", () => -1, false],
  ["no number", () => Number.NaN, false],
])("[HTTP-23] a file of the process %s: the token goes to the address in it: %j", async (_name, pid, trusted) => {
  const home = temporaryFolder();
  const seen: (string | undefined)[] = [];
  const other = createServer((request, response) => {
    seen.push(request.headers.authorization);
    response.end('{"code":"c"}');
  });
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  try {
    const address = other.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    writeFileSync(join(home, "token"), token);
    await writeRunning(home, { url: `http://127.0.0.1:${port}`, host: "127.0.0.1", port, pid: pid(), boot: "b" });
    const found = await findServer(home, undefined);
    if (!isFault(found)) await askForLink(found, globalThis.fetch);
    expect(seen).toEqual(trusted ? [`Bearer ${token}`] : []);
    if (!trusted) expect(found).toMatchObject({ code: "log-unavailable" });
  } finally {
    await new Promise((resolve) => other.close(resolve));
    rmSync(home, { recursive: true });
  }
});
