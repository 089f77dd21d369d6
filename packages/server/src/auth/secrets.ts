/** Small tools for secrets: made from random bytes, kept as hashes, compared in constant time. */
import { createHash, timingSafeEqual } from "node:crypto";
import type { RandomBytes } from "@varve/protocol";

/** 256 bits, printable in a URL fragment, a header and a cookie. */
export function newSecret(random: RandomBytes): string {
  const bytes = new Uint8Array(32);
  random(bytes);
  return Buffer.from(bytes).toString("base64url");
}

export const hashOf = (secret: string): string => createHash("sha256").update(secret).digest("hex");

/** Equal in a time that tells nothing of either: both sides are hashed first, so lengths never differ. */
export function sameSecret(a: string, b: string): boolean {
  return timingSafeEqual(createHash("sha256").update(a).digest(), createHash("sha256").update(b).digest());
}
