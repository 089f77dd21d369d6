/** Names on the wire that providers accept. The same function serves a call and its result, so both always agree. */
import { sha256 } from "./digest.ts";

const plainId = /^[A-Za-z0-9_-]{1,40}$/;
const nineAlphanumerics = /^[A-Za-z0-9]{9}$/;
const plainName = /^[A-Za-z0-9_-]{1,64}$/;

/** 40 is the tightest bound of the usual providers; anything else becomes `vc_` and 24 hex digits of its hash. */
export const plainCallId = (id: string): string => (plainId.test(id) ? id : `vc_${sha256(id).slice(0, 24)}`);
export const isPlainCallId = (id: string): boolean => plainId.test(id);

/** Mistral's endpoint takes exactly nine letters or digits. */
export function nineCharCallId(id: string): string {
  if (nineAlphanumerics.test(id)) return id;
  return BigInt(`0x${sha256(id)}`)
    .toString(36)
    .padStart(9, "0")
    .slice(-9);
}
export const isNineCharCallId = (id: string): boolean => nineAlphanumerics.test(id);

/** A name that a model invented may hold anything; one with illegal letters would make every later request a 400. */
export function toolNameOnWire(name: string): string {
  if (plainName.test(name)) return name;
  return name.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 64) || "unknown_tool";
}
export const isToolNameOnWire = (name: string): boolean => plainName.test(name);
