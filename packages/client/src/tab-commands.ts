/** Commands of a person on one tab. Each names what is shown now (version, turn), so that a late one hits nothing else. */
import type { AnswerBody, ChunkId, Command, Delivery, ErrorBody, TabId } from "@varve/protocol";
import type { TabHandle } from "./client.ts";
import { isUnderWay } from "./outbox.ts";
import type { TabView } from "./tab-view.ts";

export interface CommandPorts {
  readonly tabId: TabId;
  readonly view: () => TabView;
  /** Sends what is made with a fresh number. Resolves exactly once: null, the server's error, or that nobody answered. */
  readonly ask: (make: (re: number) => Command) => Promise<ErrorBody | null>;
}

export type TabCommands = Pick<
  TabHandle,
  "edit" | "setDelivery" | "hold" | "release" | "move" | "cancel" | "stop" | "background" | "answer"
>;

export function tabCommands({ tabId, view, ask }: CommandPorts): TabCommands {
  const tab = tabId;
  const messageOf = (id: ChunkId) => view().state.queue.get(id)?.message;
  const versionOf = (id: ChunkId): number => messageOf(id)?.version ?? 1;
  const shownTurn = () => {
    const { turnId } = view().state.status;
    return turnId === null ? {} : { turnId };
  };
  const change = (id: ChunkId, to: { readonly text?: string; readonly delivery?: Delivery }) => {
    const message = messageOf(id);
    if (message === undefined) return Promise.resolve(notWaiting);
    const text = to.text ?? message.data.text;
    const delivery = to.delivery ?? message.delivery;
    const { version } = message;
    // A message that becomes one that stops means the turn that is shown now.
    const meant = to.delivery === "stop" ? shownTurn() : {};
    return ask((re) => ({ type: "edit", re, tab, id, version, text, delivery, ...meant }));
  };
  return {
    edit: (id, text) => change(id, { text }),
    setDelivery: (id, delivery) => change(id, { delivery }),
    hold: (id) => ask((re) => ({ type: "hold", re, tab, id, version: versionOf(id) })),
    release: (id) => ask((re) => ({ type: "release", re, tab, id, version: versionOf(id) })),
    move: (id, before) => ask((re) => ({ type: "move", re, tab, id, version: versionOf(id), before })),
    cancel: (id) => ask((re) => ({ type: "cancel", re, tab, id })),
    stop: (callId) => {
      // Nothing runs and nothing is on its way that could: a late stop without a turn would hit somebody else's.
      const { state, outbox } = view();
      if (state.status.turnId === null && !outbox.pending.some(isUnderWay)) return Promise.resolve(null);
      return ask((re) => ({ type: "stop", re, tab, ...shownTurn(), ...(callId === undefined ? {} : { callId }) }));
    },
    background: (callId) => ask((re) => ({ type: "background", re, tab, callId, ...shownTurn() })),
    answer: (askId, answer) => ask((re) => ({ type: "answer", re, tab, askId, ...given(answer) })),
  };
}

const given = ({ verdict, rules, text, choice, raiseTo }: Omit<AnswerBody, "askId">): Omit<AnswerBody, "askId"> => ({
  ...(verdict === undefined ? {} : { verdict }),
  ...(rules === undefined ? {} : { rules }),
  ...(text === undefined ? {} : { text }),
  ...(choice === undefined ? {} : { choice }),
  ...(raiseTo === undefined ? {} : { raiseTo }),
});

const notWaiting: ErrorBody = {
  code: "unknown-message",
  message: "This message does not wait any more.",
  hint: "It was sent or removed meanwhile; the tab shows which.",
};
