/** What this browser lets the page do at this address, and the way to more. */
import type { OutboxState } from "@varve/client";
import { WAY_ON } from "./copy-error.ts";

/** The one reason for most of it. */
export const INSECURE = "this page came over plain http from another machine, where browsers turn this off.";

export interface BrowserSurroundings {
  readonly secure: boolean;
  readonly clipboard: boolean;
  readonly notifications: "granted" | "denied" | "default" | "missing";
  readonly standalone: boolean;
  readonly locks: boolean;
  readonly outbox: OutboxState;
}
export interface BrowserFact {
  readonly name: string;
  readonly works: boolean;
  readonly text: string;
}

export function browserFacts(around: BrowserSurroundings): readonly BrowserFact[] {
  return [addressFact(around), copyFact(around), installFact(around), notificationFact(around), storeFact(around)];
}

const addressFact = ({ secure }: BrowserSurroundings): BrowserFact => ({
  name: "Address",
  works: secure,
  text: secure
    ? "Secure for the browser: nothing is turned off."
    : `Plain http from another machine: who is in the same network can read along. ${WAY_ON}`,
});

const copyFact = ({ secure, clipboard }: BrowserSurroundings): BrowserFact => ({
  name: "Copying",
  works: true,
  text: secure && clipboard ? "Works." : "Works by selecting the text: the clipboard itself is off at this address.",
});

const installFact = ({ secure, standalone }: BrowserSurroundings): BrowserFact => {
  if (standalone) return { name: "Installing", works: true, text: "This page runs as an app of its own." };
  return secure
    ? {
        name: "Installing",
        works: true,
        text: "By the menu of the browser: “Install page as app” or “Add to home screen”.",
      }
    : { name: "Installing", works: false, text: `Off: ${INSECURE} A bookmark on the home screen works.` };
};

const notificationFact = ({ secure, notifications }: BrowserSurroundings): BrowserFact => {
  const name = "Notifications";
  if (!secure)
    return { name, works: false, text: `Off: ${INSECURE} The title of the window counts what waits for you.` };
  if (notifications === "missing") return { name, works: false, text: "Off: this browser has none." };
  if (notifications === "denied")
    return { name, works: false, text: "Off: they are blocked for this address in the browser." };
  return { name, works: false, text: "Not sent by this version: the title of the window counts what waits for you." };
};

const storeFact = ({ outbox, locks }: BrowserSurroundings): BrowserFact => {
  const name = "Unsent messages";
  if (outbox.kind === "memory") return { name, works: false, text: outbox.message };
  const guard = locks ? "" : " Two windows take turns by a lease, because locks are off at this address.";
  return { name, works: true, text: `Kept in this browser until the server has them.${guard}` };
};
