/** The token of a home is for its own server, not for whoever listens where that one used to. */
import { spawnSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";
import { isFault } from "@varve/protocol";
import { createPrng } from "@varve/sim";
import { expect, test } from "vitest";
import { proofOf } from "./proof.ts";
import { writeRunning } from "./running-file.ts";
import { askForLink, findServer } from "./running-server.ts";
import { temporaryFolder } from "./testing/house.ts";

const token = "a-long-secret-of-this-home";
const proofKey = "the key of this start";
const prng = createPrng(5);
/** A process that has been and is no more. */
const gone = (): number => spawnSync("true").pid;

interface Found {
  /** What the address in the file was asked, in order. */
  readonly asked: readonly string[];
  /** Whether it was handed the token. */
  readonly told: boolean;
  readonly outcome: Awaited<ReturnType<typeof findServer>>;
}
type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** Looks for the server of a home whose file names this process, this key and somebody who answers so. */
async function find(answer: Answer, { pid = process.pid, keyed = true } = {}): Promise<Found> {
  const home = temporaryFolder();
  const asked: string[] = [];
  let told = false;
  const other = createServer((request, response) => {
    asked.push(request.url?.split("?")[0] ?? "");
    told ||= JSON.stringify([request.headers, request.url]).includes(token);
    answer(request, response);
  });
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  try {
    const address = other.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    writeFileSync(join(home, "token"), token);
    const file = { url: `http://127.0.0.1:${port}`, host: "127.0.0.1", port, pid, boot: "b" };
    await writeRunning(home, { ...file, ...(keyed && { proofKey }) });
    const finding = {
      env: {},
      fetch: globalThis.fetch,
      randomBytes: (into: Uint8Array<ArrayBuffer>) => prng.fill(into),
    };
    const outcome = await findServer(home, finding);
    if (!isFault(outcome)) await askForLink(outcome, globalThis.fetch);
    return { asked, told, outcome };
  } finally {
    other.closeAllConnections();
    await new Promise((resolve) => other.close(resolve));
    rmSync(home, { recursive: true });
  }
}
const nonceOf = (request: IncomingMessage): string =>
  new URL(request.url ?? "", "http://x").searchParams.get("nonce") ?? "";
const json = (response: ServerResponse, body: unknown): void => void response.end(JSON.stringify(body));
const honest: Answer = (request, response) => {
  if (request.url?.startsWith("/health") === true) json(response, { proof: proofOf(proofKey, nonceOf(request)) });
  else json(response.writeHead(201), { url: "http://x/#code=c", sockets: 0 });
};

test.each([
  ["its own", () => process.pid, true],
  ["one that is gone", gone, false],
  ["none", () => 0, false],
  ["a group", () => -1, false],
  ["no number", () => Number.NaN, false],
])("[HTTP-23] a file of the process %s: the token goes to the address in it: %j", async (_name, pid, trusted) => {
  const { asked, told, outcome } = await find(honest, { pid: pid() });
  expect(told).toBe(trusted);
  expect(asked).toEqual(trusted ? ["/health", "/api/links"] : []);
  if (!trusted) expect(outcome).toMatchObject({ code: "log-unavailable" });
});

/** Somebody else's program behind the port of a server that was killed, whose process number lives again. */
const impostors: readonly (readonly [string, Answer])[] = [
  ["answers everything with success", (_request, response) => json(response, { code: "c", proof: "p", url: "u" })],
  ["knows another key", (request, response) => json(response, { proof: proofOf("guess", nonceOf(request)) })],
  [
    "has heard the answer to another nonce",
    (_request, response) => json(response, { proof: proofOf(proofKey, "old") }),
  ],
  ["sends the nonce back", (request, response) => json(response, { proof: nonceOf(request) })],
  ["answers with no proof", (_request, response) => json(response, {})],
  ["answers with no JSON", (_request, response) => void response.end("<html>")],
  ["answers null", (_request, response) => json(response, null)],
  ["leads elsewhere", (_request, response) => void response.writeHead(307, { location: "/api/links" }).end()],
  ["asks for a sign-in", (_request, response) => void response.writeHead(401, { "www-authenticate": "Basic" }).end()],
  ["hangs up", (request) => void request.socket.destroy()],
];

test.each(impostors)("[AUTH-36] an impostor that %s is not told the token", async (_name, answer) => {
  const { asked, told, outcome } = await find(answer);
  expect(asked).toEqual(["/health"]);
  expect(told).toBe(false);
  expect(outcome).toMatchObject({ code: "log-unavailable" });
});

test("[AUTH-36] a file without a key, as an older version wrote it, is asked nothing", async () => {
  const { asked, outcome } = await find(honest, { keyed: false });
  expect(asked).toEqual([]);
  expect(outcome).toMatchObject({ code: "log-unavailable", hint: "Stop it and start it again." });
});
