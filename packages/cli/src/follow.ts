/**
 * Follows a tab: its rows, each once and in order, and its frames, over as many streams as it takes. A stream that ends is
 * resumed behind the last row; what a head leaves out is paged.
 */
import { type ClientPorts, decodePage } from "@varve/client";
import { TailRefused, tailFrames } from "@varve/client/node";
import { type Clock, type ErrorBody, type Frame, type LogChunk, type LogId, limits, type TabId } from "@varve/protocol";
import type { RunningAddress } from "@varve/server";

/** Tries to reach the server again before it counts as gone, and the pause between them. */
const triesMax = 20;
const pauseMs = 500;

export interface FollowPorts {
  readonly server: RunningAddress;
  readonly rest: ClientPorts["rest"];
  readonly clock: Clock;
  readonly tab: TabId;
  readonly signal: AbortSignal;
  readonly row: (row: LogChunk) => void;
  readonly frame: (frame: Frame) => void;
}

/** Where following begins: rows with a larger seq. `log` null: whichever log the tab points to. */
export interface Start {
  readonly log: LogId | null;
  readonly seq: number;
}

/** Ends with null once `signal` aborts, else with what went wrong. */
export async function follow(ports: FollowPorts, start: Start): Promise<ErrorBody | null> {
  const follower = new Follower(ports, start);
  const opening = await follower.catchUp();
  if (opening !== null) return opening;
  for (let tries = 0; ; ) {
    const before = follower.rows;
    const outcome = await stream(ports, follower);
    if (ports.signal.aborted) return null;
    if (outcome !== "ended" && outcome.code !== "log-unavailable") return outcome;
    tries = follower.rows > before ? 0 : tries + 1;
    if (tries >= triesMax) return outcome === "ended" ? gone : outcome;
    await pause(ports);
  }
}

async function stream(ports: FollowPorts, follower: Follower): Promise<"ended" | ErrorBody> {
  const { server, tab, signal } = ports;
  try {
    const lastEventId = follower.eventId;
    const options = { baseUrl: server.url, token: server.token, tabId: tab, signal };
    for await (const { frame } of tailFrames({ ...options, ...(lastEventId !== undefined && { lastEventId }) })) {
      if (frame.type === "bye" && frame.code === "unknown-tab") return purged;
      const problem = await follower.take(frame);
      if (problem !== null) return problem;
    }
    return "ended";
  } catch (error) {
    if (error instanceof TailRefused) return error.body;
    // What `fetch` throws says nothing more than that nobody answered.
    return gone;
  }
}

class Follower {
  readonly #ports: FollowPorts;
  #log: LogId | null;
  #seq: number;
  #term = 0;
  rows = 0;

  constructor(ports: FollowPorts, start: Start) {
    this.#ports = ports;
    this.#log = start.log;
    this.#seq = start.seq;
  }

  get eventId(): string | undefined {
    return this.#log === null ? undefined : `${this.#log}:${this.#term}:${this.#seq}`;
  }

  /** Pages up to the tail. */
  async catchUp(): Promise<ErrorBody | null> {
    for (;;) {
      const { tab, rest } = this.#ports;
      const path = `/tabs/${tab}/chunks?after=${this.#seq}&limit=${limits.pageRowsMax}`;
      const answer = await rest({ method: "GET", path });
      if (!answer.ok) return answer.error;
      const page = decodePage(answer.body);
      if (page === null) return { code: "internal", message: "The server's answer is no page." };
      if (this.#log !== null && page.logId !== this.#log) return null; // A head tells of the other log.
      this.#log = page.logId;
      for (const row of page.chunks) this.#add(row);
      if (page.chunks.length === 0 || this.#seq >= page.tail) return null;
    }
  }

  async take(frame: Frame): Promise<ErrorBody | null> {
    const rows = rowsOf(frame);
    if (frame.type === "head" && frame.log !== this.#log) {
      this.#log = frame.log;
      this.#seq = (rows[0]?.seq ?? frame.tail + 1) - 1;
    }
    const first = rows.find((row) => row.seq > this.#seq);
    if (first !== undefined && first.seq > this.#seq + 1) {
      const problem = await this.catchUp();
      if (problem !== null) return problem;
    }
    for (const row of rows) if (row.seq === this.#seq + 1) this.#add(row);
    this.#ports.frame(frame);
    return null;
  }

  #add(row: LogChunk): void {
    this.#seq = row.seq;
    this.#term = row.term;
    this.rows++;
    this.#ports.row(row);
  }
}

function rowsOf(frame: Frame): readonly LogChunk[] {
  if (frame.type === "head") return frame.rows;
  if (frame.type !== "ops") return [];
  return frame.ops.flatMap((op) => (op.op === "chunk-seal" ? [op.row] : []));
}

const gone: ErrorBody = { code: "log-unavailable", message: "The server does not answer any more." };
const purged: ErrorBody = { code: "unknown-tab", message: "The tab was purged." };

function pause({ clock, signal }: FollowPorts): Promise<void> {
  return new Promise((resolve) => {
    const timer = clock.setTimer(pauseMs, resolve);
    signal.addEventListener("abort", () => {
      timer.cancel();
      resolve();
    });
  });
}
