/** What is said of devices, links and tokens. Pure. */
import { timeText } from "../ui/time-text.ts";
import type { NamedToken, SignInLink } from "./access-calls.ts";

const BROWSERS: readonly (readonly [RegExp, string])[] = [
  [/\bEdgA?\//, "Edge"],
  [/\bOPR\//, "Opera"],
  [/\bFirefox\/|\bFxiOS\//, "Firefox"],
  [/\bCriOS\/|\b(?:Headless)?Chrom(?:e|ium)\//, "Chrome"],
  [/\bSafari\//, "Safari"],
];
const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/\biPhone\b/, "iPhone"],
  [/\biPad\b/, "iPad"],
  [/\bAndroid\b/, "Android"],
  [/\bWindows\b/, "Windows"],
  [/\bMac OS X\b|\bMacintosh\b/, "macOS"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bLinux\b/, "Linux"],
];

/** A browser's name for itself in short; a name that a person gave stays. */
export function deviceName(label: string): string {
  if (!label.startsWith("Mozilla/")) return label === "" ? "A device" : label;
  const browser = BROWSERS.find(([pattern]) => pattern.test(label))?.[1] ?? "A browser";
  const system = SYSTEMS.find(([pattern]) => pattern.test(label))?.[1];
  return system === undefined ? browser : `${browser} on ${system}`;
}

/** Whether an address leads to the machine itself, whoever calls it. */
export function isLoopback(url: string): boolean {
  const { hostname } = new URL(url);
  return /^(?:localhost|.*\.localhost|127(?:\.\d+){3}|\[::1\]|\[::ffff:7f.*\])\.?$/.test(hostname);
}

/** The links of which one can be of use to another machine. */
export const linksForOthers = ({ url, others }: Pick<SignInLink, "url" | "others">): readonly string[] =>
  [...new Set([url, ...others])].filter((one) => !isLoopback(one));

const MINUTE_MS = 60_000;
export function linkLeft(endsAt: number, now: number): string | null {
  const left = endsAt - now;
  if (left <= 0) return null;
  const minutes = Math.ceil(left / MINUTE_MS);
  return minutes === 1 ? "Works once, within a minute." : `Works once, within ${minutes} minutes.`;
}

export function tokenFacts({ lastFour, createdAt, usedAt, expiresAt }: NamedToken, now: number): string {
  const used = usedAt === null ? "never used" : `last used ${timeText(usedAt, now)}`;
  const ends =
    expiresAt === null ? "does not expire" : `${expiresAt <= now ? "expired" : "expires"} ${timeText(expiresAt, now)}`;
  return [`…${lastFour}`, `made ${timeText(createdAt, now)}`, used, ends].join(" · ");
}

/** As the server takes it. */
export const isTokenName = (name: string): boolean => /^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$/.test(name);
