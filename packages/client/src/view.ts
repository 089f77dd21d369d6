/**
 * The pure parts of a client for whoever drives them one step at a time: the view of a tab, its outbox and what it
 * subscribes with. Programs and pages use `createSyncClient`.
 */
export {
  addMessage,
  emptyOutbox,
  forgetMessage,
  loadEntries,
  type MessageFate,
  markSent,
  markUnsent,
  type Outbox,
  type StoreChange,
  sendAgain,
  takeEvidence,
  takeFate,
} from "./outbox.ts";
export { type SubCommand, subCommand } from "./subscription.ts";
export {
  ackEvidence,
  emptyView,
  fitsPage,
  type Resub,
  readAtEnd,
  type TabView,
  takeHead,
  takeOps,
  takePage,
  trim,
  type ViewStep,
  windowHi,
  windowLo,
} from "./tab-view.ts";
export type { WindowMost } from "./window.ts";
