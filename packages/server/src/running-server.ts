/** What a second start, and every other command of this machine, asks of the server that holds a home. */
import { join } from "node:path";
import { type Fault, fault, isFault, type RandomBytes } from "@varve/protocol";
import { newSecret, sameSecret } from "./auth/secrets.ts";
import { readToken } from "./auth/token.ts";
import { proofOf } from "./proof.ts";
import { type RunningFile, readRunning } from "./running-file.ts";

export interface RunningAddress {
  readonly url: string;
  readonly token: string;
}

const askMs = 5_000;

export interface Finding {
  /** For its `VARVE_TOKEN`. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly fetch: typeof globalThis.fetch;
  readonly randomBytes: RandomBytes;
}

/**
 * The server that holds a home. The file of a process that is gone counts as none, and whatever answers at the address in
 * the file has to show that it wrote it: whoever took that port since must never be handed the token.
 */
export async function findServer(home: string, finding: Finding): Promise<RunningAddress | Fault> {
  const running = await readRunning(home);
  if (running === null || !isOurs(running.pid)) {
    return fault("log-unavailable", `No Varve server runs on ${home}.`, "Start one with `varve`, or name its --home.");
  }
  const token = await readToken(join(home, "token"), finding.env.VARVE_TOKEN);
  if (isFault(token)) return token;
  if (token !== null) return (await proofProblem(running, finding)) ?? { url: running.url, token };
  return fault(
    "unauthorized",
    `The server at ${running.url} was started with a VARVE_TOKEN of its own.`,
    "Set the same VARVE_TOKEN here.",
  );
}

/** Null when the server at that address is the one which wrote the file. */
async function proofProblem({ url, proofKey }: RunningFile, { fetch, randomBytes }: Finding): Promise<Fault | null> {
  if (proofKey === undefined) {
    return fault("log-unavailable", `The server at ${url} is of an older version.`, "Stop it and start it again.");
  }
  const nonce = newSecret(randomBytes);
  const answer = await asked(fetch, `${url}/health?nonce=${nonce}`, { method: "GET" });
  if (answer === null) return silent(url);
  const proof = fieldOf(answer.body, "proof");
  if (typeof proof === "string" && sameSecret(proof, proofOf(proofKey, nonce))) return null;
  return fault(
    "log-unavailable",
    `What answers at ${url} is not the Varve server of this home; it was told nothing.`,
    "Stop that program, or start Varve on another port.",
  );
}

/** Signal 0 reaches a living process that this user may end, and does nothing to it. */
function isOurs(pid: number): boolean {
  try {
    return Number.isSafeInteger(pid) && pid > 0 && process.kill(pid, 0);
  } catch {
    return false; // No such process, or another user's.
  }
}

export interface SignInLink {
  /** `http://127.0.0.1:4477/#code=...` */
  readonly url: string;
  /** Pages and programs that hold a socket of that server. */
  readonly sockets: number;
}

/** A one-time sign-in link of the running server. */
export async function askForLink(address: RunningAddress, ask: typeof globalThis.fetch): Promise<SignInLink | Fault> {
  const headers = { authorization: `Bearer ${address.token}`, "content-type": "application/json" };
  const answer = await asked(ask, `${address.url}/api/links`, { method: "POST", headers, body: "{}" });
  if (answer === null) return silent(address.url);
  if (answer.status === 401) {
    return fault(
      "unauthorized",
      `The server at ${address.url} does not take this token.`,
      "It was started with another VARVE_TOKEN: set the same one here.",
    );
  }
  if (answer.status === 403) {
    return fault(
      "owner-only",
      "This token is a named one, which lets nobody in.",
      "Unset VARVE_TOKEN to use the home's own.",
    );
  }
  const [url, sockets] = [fieldOf(answer.body, "url"), fieldOf(answer.body, "sockets")];
  if (answer.status === 201 && typeof url === "string") {
    return { url, sockets: typeof sockets === "number" ? sockets : 0 };
  }
  return fault("internal", `The server at ${address.url} gave no sign-in link (${answer.status}).`);
}

/** Null for refused, cut, too slow and no JSON: for the person it is all the same. */
async function asked(ask: typeof globalThis.fetch, url: string, init: RequestInit) {
  try {
    const answer = await ask(url, { ...init, redirect: "error", signal: AbortSignal.timeout(askMs) });
    const body: unknown = await answer.json();
    return { status: answer.status, body };
  } catch {
    return null; // The caller says that nobody answers there.
  }
}

const silent = (url: string): Fault =>
  fault(
    "log-unavailable",
    `The server at ${url} does not answer.`,
    "Wait a moment, or stop that process and start again.",
  );

const fieldOf = (body: unknown, name: string): unknown =>
  typeof body === "object" && body !== null ? Reflect.get(body, name) : undefined;
