/** Bytes that no client would send: broken requests on a connection, broken frames on a socket. All in Latin-1. */
import type { Prng } from "../prng.ts";

/** How to reach a server, and to be let in. */
export interface Address {
  /** Headers of a caller who is let in, or nearly. */
  readonly admitted: (prng: Prng) => Readonly<Record<string, string>>;
  readonly host: string;
}

const byte = (prng: Prng): string => String.fromCharCode(prng.int(0, 255));
const noise = (prng: Prng, max: number): string => Array.from({ length: prng.int(1, max) }, () => byte(prng)).join("");

const requestLines = [
  "GET /api/tabs HTTP/1.1",
  "POST /api/tabs HTTP/1.1",
  "GET /api/tabs HTTP/9.9",
  "GET /api/tabs HTTP/1.0",
  "GET  /api/tabs  HTTP/1.1",
  "get /api/tabs http/1.1",
  "GET http://evil.example/api/tabs HTTP/1.1",
  "GET //evil.example/api/tabs HTTP/1.1",
  "GET /api/\0 HTTP/1.1",
  "GET /api/%zz HTTP/1.1",
  "GET * HTTP/1.1",
  "OPTIONS * HTTP/1.1",
  "CONNECT evil.example:443 HTTP/1.1",
  "TRACE /api/tabs HTTP/1.1",
  "PRI * HTTP/2.0",
  "POST /api/sign-in HTTP/1.1",
  "GET /api/ws HTTP/1.1",
  "GET /",
  "",
] as const;

const bodies: readonly [readonly [string, string], ...(readonly [string, string])[]] = [
  ["content-length: 2", "{}"],
  ["content-length: 200", '{"cwd":'],
  ["content-length: -1", "{}"],
  ["content-length: 99999999999999999999", "{}"],
  ["content-length: 2\r\ncontent-length: 3", "{}1"],
  ["content-length: 2\r\ntransfer-encoding: chunked", "0\r\n\r\n"],
  ["transfer-encoding: chunked", "2\r\n{}\r\n0\r\n\r\n"],
  ["transfer-encoding: chunked", "2\r\n{"],
  ["transfer-encoding: chunked", "zz\r\n{}\r\n0\r\n\r\n"],
  ["transfer-encoding: chunked", "ffffffffffffffff\r\n{}"],
  ["transfer-encoding: chunked", `2;${"x".repeat(20_000)}\r\n{}\r\n0\r\n\r\n`],
  ["transfer-encoding: gzip, chunked", "0\r\n\r\n"],
  ["transfer-encoding: identity", "{}"],
  ["expect: 100-continue\r\ncontent-length: 2", "{}"],
  ["expect: 200-maybe\r\ncontent-length: 2", "{}"],
  ["", ""],
];

/** A request, good in parts. */
export function rawConnection(prng: Prng, address: Address): string {
  if (prng.chance(0.1)) return noise(prng, 300);
  const admitted = Object.entries(address.admitted(prng)).map(([name, value]) => `${name}: ${value}`);
  const [framing, body] = prng.pick(bodies);
  const headers = [
    `host: ${address.host}`,
    ...admitted,
    "content-type: application/json",
    framing,
    ...oddHeaders(prng, address),
  ];
  const text = [prng.pick(requestLines), ...headers.filter((line) => line !== "")].join("\r\n");
  const whole = `${text}\r\n\r\n${body}`;
  if (prng.chance(0.2)) return whole.slice(0, prng.int(0, whole.length));
  return prng.chance(0.1) ? `${whole}${whole}${noise(prng, 40)}` : whole;
}

function oddHeaders(prng: Prng, { host }: Address): readonly string[] {
  const all = [
    "host: evil.example",
    `host: ${host}, evil.example`,
    "host:",
    `origin: http://evil.example`,
    "origin: null",
    "x: \0",
    ": empty",
    "no colon",
    " folded: a",
    `x-long: ${"a".repeat(20_000)}`,
    `authorization: Bearer ${"b".repeat(5_000)}`,
    "authorization: Bearer",
    "authorization: Basic \xff\xfe",
    `cookie: ${"a=b; ".repeat(900)}`,
    "cookie: =; ;;",
    "forwarded: for=127.0.0.1;host=evil.example",
    "x-forwarded-host: evil.example",
    "upgrade: websocket\r\nconnection: upgrade",
    "upgrade: h2c\r\nconnection: upgrade, http2-settings\r\nhttp2-settings: AAA",
    `sec-websocket-key: x\r\nsec-websocket-version: 99`,
    `${noise(prng, 20)}: ${noise(prng, 20)}`,
  ];
  return prng.shuffle(all).slice(0, prng.int(0, 3));
}

/** Frames of a socket as they must not be: no mask, strange operations, lengths that lie, texts that are no text. */
export function rawFrames(prng: Prng): string {
  return Array.from({ length: prng.int(1, 5) }, () => rawFrame(prng)).join("");
}

function rawFrame(prng: Prng): string {
  if (prng.chance(0.1)) return noise(prng, 60);
  const first = prng.pick([0x81, 0x81, 0x81, 0x82, 0x01, 0x00, 0x80, 0x88, 0x89, 0x8a, 0x83, 0x8f, 0xc1, 0xf1]);
  const payload = prng.pick([
    '{"type":"pong","ts":1}',
    "\xff\xfe\xc0\x80",
    "\xed\xa0\x80",
    "",
    "\x03\xe8",
    "\x00\x01",
    "\x03",
    "x".repeat(200),
    noise(prng, 60),
  ]);
  return maskedFrame(first, payload, { lies: prng.chance(0.2), masked: prng.chance(0.9) });
}

/** One frame of a client. `lies`: it announces more than it has. */
export function maskedFrame(
  first: number,
  payload: string,
  { lies = false, masked = true }: { readonly lies?: boolean; readonly masked?: boolean } = {},
): string {
  const length = lies ? payload.length * 70_000 + 1 : payload.length;
  const bit = masked ? 0x80 : 0;
  const bytes = [first];
  if (length < 126) bytes.push(bit | length);
  else if (length < 65_536) bytes.push(bit | 126, length >> 8, length & 255);
  else
    bytes.push(bit | 127, 0, 0, 0, 0, (length >>> 24) & 255, (length >> 16) & 255, (length >> 8) & 255, length & 255);
  // The mask is all zeros: allowed, and the payload stays readable.
  if (masked) bytes.push(0, 0, 0, 0);
  return `${String.fromCharCode(...bytes)}${payload}`;
}
