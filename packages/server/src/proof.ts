/**
 * How a server shows that it is the one of a home before anybody hands it that home's token. The port in `server.json` may
 * be another program's by now; only the server that wrote the file knows the key in it.
 */
import { createHmac } from "node:crypto";

const noncePattern = /^[A-Za-z0-9_-]{22,64}$/;

/** The answer to a nonce. What it is made for stands in it, so that it is good for nothing else. */
export const proofOf = (key: string, nonce: string): string =>
  createHmac("sha256", key).update(`varve server of this home: ${nonce}`).digest("base64url");

/** Null for what is no nonce. */
export const proofFor = (key: string, nonce: string | null): string | null =>
  nonce !== null && noncePattern.test(nonce) ? proofOf(key, nonce) : null;
