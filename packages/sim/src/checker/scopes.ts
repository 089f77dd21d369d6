/** The worlds whose every state is visited, with all rules in force. */
import type { Scope } from "./world.ts";

const plain = { clients: 1, rows: 1, page: 2, window: 3, isRunning: true } as const;
const two = { ...plain, clients: 2 } as const;

/** Small enough for every day. */
export const dailyScopes: readonly Scope[] = [
  {
    ...plain,
    name: "clear within a term",
    isRunning: false,
    termStays: true,
    budget: { clear: 1, page: 1, send: 1, "remote-send": 1, end: 1, cut: 1 },
  },
  {
    ...plain,
    name: "clear, and back to the log before",
    isRunning: false,
    budget: { clear: 1, back: 1, page: 1, send: 1, "remote-send": 1, end: 1, cut: 1 },
  },
  {
    ...plain,
    name: "restore and an own message",
    isRunning: false,
    budget: { send: 1, backup: 1, restore: 1, cut: 1, end: 1, "remote-send": 1 },
  },
  {
    ...plain,
    name: "edit race",
    budget: { send: 1, edit: 2, "remote-edit": 2, cancel: 1, cut: 1 },
  },
];

export const scopes: readonly Scope[] = [
  ...dailyScopes,
  {
    ...plain,
    name: "queue, steer, cancels, a disconnect",
    budget: { send: 2, cancel: 1, "remote-cancel": 1, end: 1, cut: 1 },
    lateCommands: true,
  },
  {
    ...plain,
    name: "streaming, parallel seals, two disconnects",
    budget: { open: 2, grow: 4, drop: 1, cut: 2 },
  },
  {
    ...plain,
    name: "pages and eviction",
    rows: 5,
    budget: { page: 3, open: 1, send: 1, cut: 1 },
  },
  {
    ...plain,
    name: "a crash in the middle of a turn",
    budget: { send: 1, open: 2, grow: 2, crash: 1 },
  },
  {
    ...plain,
    name: "a crash while somebody reads above the end",
    rows: 5,
    isDetached: true,
    budget: { send: 1, open: 1, cut: 1, crash: 1, page: 1 },
  },
  {
    ...plain,
    name: "another owner under living connections",
    budget: { send: 1, "remote-send": 1, open: 1, grow: 2, retake: 1, cut: 1 },
  },
  {
    ...plain,
    name: "clear with messages that wait",
    isRunning: false,
    budget: { clear: 1, send: 2, end: 2, page: 1, cut: 2 },
    lateCommands: true,
  },
  {
    ...plain,
    name: "restore and a page",
    rows: 4,
    budget: { backup: 1, restore: 1, page: 2, open: 2 },
  },
  {
    ...plain,
    name: "restore and two own messages",
    isRunning: false,
    budget: { send: 2, backup: 1, restore: 1, cut: 2, end: 1 },
    lateCommands: true,
  },
  {
    ...plain,
    name: "restore with a clock set back",
    isRunning: false,
    budget: { send: 1, backup: 1, crash: 1, "set-back": 1, cut: 2, page: 1, "remote-send": 1 },
  },
  {
    ...plain,
    name: "a page is loaded anew",
    budget: { send: 2, reload: 2, end: 1 },
    lateCommands: true,
  },
  {
    ...plain,
    name: "frames told together",
    budget: { send: 1, open: 2, grow: 2, merge: 2 },
  },
  {
    ...plain,
    name: "frames twice and out of order",
    budget: { send: 1, "remote-send": 1, "remote-cancel": 1, again: 2, swap: 1, cut: 1 },
  },
  {
    ...plain,
    name: "frames twice and out of order over two terms",
    budget: { "remote-send": 2, open: 1, grow: 1, again: 1, swap: 1, retake: 1 },
  },
  {
    ...plain,
    name: "text twice and out of order",
    budget: { open: 2, grow: 3, again: 1, swap: 1 },
  },
  {
    ...two,
    name: "two clients: queue, cancel, edit",
    budget: { send: 2, cancel: 1, edit: 1 },
  },
  {
    ...two,
    name: "two clients: messages over a disconnect",
    isRunning: false,
    budget: { send: 2, end: 1, cut: 1, cancel: 1 },
    lateCommands: true,
  },
  {
    ...two,
    name: "two clients: streaming over a crash",
    budget: { send: 1, open: 1, grow: 1, crash: 1, cut: 1 },
  },
  {
    ...two,
    name: "two clients: restore",
    isRunning: false,
    budget: { send: 2, backup: 1, restore: 1, end: 1 },
  },
  {
    ...two,
    name: "two clients: clear",
    isRunning: false,
    budget: { send: 1, "remote-send": 1, end: 1, clear: 1, cut: 1 },
  },
  {
    ...two,
    name: "two clients: pages",
    rows: 5,
    budget: { page: 2, open: 1, cut: 1 },
  },
];
