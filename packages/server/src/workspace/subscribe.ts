import { FaultError, type Log } from "@varve/log";
import { type Clock, type Fault, fault, isFault, type SubCommand } from "@varve/protocol";
import { capture, headRows } from "./head.ts";
import type { TabCore } from "./tab-core.ts";
import { TabSubscription } from "./tab-subscription.ts";
import type { FrameSink } from "./workspace-contract.ts";

/** A head is begun anew when the log or term changed while its rows were read; so often, then the client tries later. */
const headTriesMax = 5;

export interface SubscribePorts {
  readonly log: Log;
  readonly clock: Clock;
  readonly core: TabCore;
  readonly sink: FrameSink;
  readonly closed: (subscription: TabSubscription) => void;
}
type Asked = Pick<SubCommand, "have" | "focus"> & Partial<Pick<SubCommand, "re" | "open" | "want">>;

/** Attaches a held cursor, sends the head, lets the feed flow. A fault: nothing stays attached. */
export async function subscribe(ports: SubscribePorts, asked: Asked): Promise<TabSubscription | Fault> {
  const { core, sink, clock } = ports;
  /** The newest row that was sent: where a later head of this subscription goes on. */
  const sent: { have: SubCommand["have"] } = { have: asked.have };
  const watching: FrameSink = {
    send(frame) {
      // What a client has been shown of an open block outlives this process.
      core.journal.flush();
      sent.have = haveAfter(frame, sent.have);
      sink.send(frame);
    },
    buffered: () => sink.buffered(),
    closeSlow: () => sink.closeSlow(),
  };
  const subscription: TabSubscription = new TabSubscription(
    {
      tab: core.tabId,
      feed: core.feed,
      sink: watching,
      clock,
      closed: ports.closed,
      sendHead: () => {
        void sendHead(ports, subscription, { have: sent.have, want: asked.want })
          .catch(() => unreadable())
          .then((problem) => {
            if (problem === null) return;
            // A client that is told nothing would wait for ever: it connects anew, asks again, and is told what is wrong.
            subscription.close();
            sink.closeSlow();
          });
      },
    },
    asked.focus,
  );
  const problem = await sendHead(ports, subscription, asked).catch((error: unknown) => {
    subscription.close();
    return faultIn(error);
  });
  if (problem === null) return subscription;
  subscription.close();
  return problem;
}

async function sendHead(
  ports: SubscribePorts,
  subscription: TabSubscription,
  asked: Pick<SubCommand, "have"> & Partial<Pick<SubCommand, "re" | "open" | "want">>,
): Promise<Fault | null> {
  const { log, core } = ports;
  for (let attempt = 0; attempt < headTriesMax; attempt++) {
    const captured = capture(core, asked.open ?? {});
    subscription.hold(captured.start);
    const rows = await headRows(log, core, { captured, have: asked.have, want: asked.want });
    if (isFault(rows)) return rows;
    if (subscription.isClosed) return null;
    const { log: logId, term, n } = captured.start;
    if (core.feed.logId !== logId || core.feed.term !== term) continue;
    const { from, mode } = rows;
    subscription.send({
      type: "head",
      ...(asked.re !== undefined && { re: asked.re }),
      tab: core.tabId,
      log: logId,
      term,
      n,
      from,
      mode,
      rows: [...rows.rows],
      tail: captured.tail,
      ...captured.frame,
    });
    subscription.release();
    return null;
  }
  return fault("log-unavailable", "The tab's log keeps changing.", "Subscribe again in a moment.");
}

/** A read of the log that has no room for a fault rejects with it. */
function faultIn(error: unknown): Fault {
  if (error instanceof FaultError) return error.fault;
  throw error;
}

const unreadable = (): Fault =>
  fault("log-unavailable", "The tab's rows cannot be read.", "Subscribe again in a moment.");

type SentFrame = Parameters<FrameSink["send"]>[0];

/** The newest row that a client holds once it has applied the frame. A head of another log wipes what it had. */
function haveAfter(frame: SentFrame, have: SubCommand["have"]): SubCommand["have"] {
  if (frame.type !== "head" && frame.type !== "ops") return have;
  // Text alone, of the log that the head before it was of.
  if (frame.type === "ops" && frame.b < frame.a && have?.log === frame.log) return have;
  const wiped = have === null || have.log !== frame.log || (frame.type === "head" && frame.mode === "reset");
  const rows = frame.type === "head" ? frame.rows : frame.ops.flatMap((op) => (op.op === "chunk-seal" ? [op.row] : []));
  const last = rows.at(-1);
  if (last !== undefined) return { log: frame.log, term: last.term, seq: last.seq };
  return wiped ? { log: frame.log, term: 0, seq: 0 } : have;
}
