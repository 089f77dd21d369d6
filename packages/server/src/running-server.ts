/** What a second start, and every other command of this machine, asks of the server that holds a home. */
import { join } from "node:path";
import { type Fault, fault, isFault } from "@varve/protocol";
import { readToken } from "./auth/token.ts";
import { readRunning } from "./running-file.ts";

export interface RunningAddress {
  readonly url: string;
  readonly token: string;
}

const askMs = 5_000;

/**
 * The server that holds a home, as far as its files say; whether it answers shows when it is asked. The file of a process
 * that is gone, or of somebody else's by now, counts as none: whoever took its port since would be handed the token.
 */
export async function findServer(home: string, givenToken: string | undefined): Promise<RunningAddress | Fault> {
  const running = await readRunning(home);
  if (running === null || !isOurs(running.pid)) {
    return fault("log-unavailable", `No Varve server runs on ${home}.`, "Start one with `varve`, or name its --home.");
  }
  const token = await readToken(join(home, "token"), givenToken);
  if (isFault(token)) return token;
  if (token !== null) return { url: running.url, token };
  return fault(
    "unauthorized",
    `The server at ${running.url} was started with a VARVE_TOKEN of its own.`,
    "Set the same VARVE_TOKEN here.",
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
  try {
    const signal = AbortSignal.timeout(askMs);
    const answer = await ask(`${address.url}/api/links`, { method: "POST", headers, body: "{}", signal });
    const body: unknown = await answer.json();
    if (answer.status === 401) {
      return fault(
        "unauthorized",
        `The server at ${address.url} does not take this token.`,
        "It was started with another VARVE_TOKEN: set the same one here.",
      );
    }
    const [code, sockets] = [fieldOf(body, "code"), fieldOf(body, "sockets")];
    if (answer.ok && typeof code === "string") {
      return { url: `${address.url}/#code=${code}`, sockets: typeof sockets === "number" ? sockets : 0 };
    }
    return fault("internal", `The server at ${address.url} gave no sign-in link (${answer.status}).`);
  } catch {
    // Refused, cut or too slow: for the person it is all the same.
    return fault(
      "log-unavailable",
      `The server at ${address.url} does not answer.`,
      "Wait a moment, or stop that process and start again.",
    );
  }
}

const fieldOf = (body: unknown, name: string): unknown =>
  typeof body === "object" && body !== null ? Reflect.get(body, name) : undefined;
