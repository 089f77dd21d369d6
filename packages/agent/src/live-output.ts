/**
 * Output of a running tool as a person sees it: deltas of an open block up to `limits.liveOutputCharsMax`, from there on a
 * register of total bytes and the end, renewed at most every `limits.outputIntervalMs`.
 */
import type { ChunkId, Timer } from "@varve/protocol";
import { limits } from "@varve/protocol";
import type { Turn } from "./turn.ts";

export interface LiveOutput {
  write(text: string): void;
  /** No op is emitted after it. */
  close(): void;
  /** Whether the block was opened, so that it must be sealed or dropped. */
  readonly opened: boolean;
}

export interface OutputPlace {
  readonly id: ChunkId;
  readonly step: number;
  readonly index: number;
  readonly callId: string;
}

export function liveOutput(turn: Turn, place: OutputPlace): LiveOutput {
  const { owner, turnId, ports } = turn;
  let opened = false;
  let closed = false;
  let shown = 0;
  let bytes = 0;
  let tail = "";
  let timer: Timer | null = null;
  const redactor = turn.secrets.stream();

  const open = (): void => {
    opened = true;
    const { id, step, index, callId } = place;
    owner.open({ id, turnId, step, index, role: "tool", type: "tool_result", callId, at: ports.clock.now() });
  };
  const announce = (): void => {
    timer = null;
    if (!closed) owner.output(place.callId, bytes, tail);
  };
  return {
    write(written) {
      if (closed || written === "") return;
      if (!opened) open();
      bytes += Buffer.byteLength(written);
      // What it holds back at the end stands in the result.
      const text = redactor.push(written);
      tail = (tail + text.slice(-limits.outputTailChars)).slice(-limits.outputTailChars);
      const live = text.slice(0, Math.max(0, limits.liveOutputCharsMax - shown));
      shown += live.length;
      if (live !== "") owner.grow(place.id, live);
      if (live.length < text.length) timer ??= ports.clock.setTimer(limits.outputIntervalMs, announce);
    },
    close() {
      closed = true;
      timer?.cancel();
    },
    get opened() {
      return opened;
    },
  };
}
