/** One input out of a seed, the routes and schemas that the server itself publishes, and what it has told so far. */
import { isObject, type JsonObject } from "../json.ts";
import type { Prng } from "../prng.ts";
import { fromSchema, type Making } from "./from-schema.ts";
import type { FramesInput, FuzzInput, RawInput, RestInput } from "./fuzz-input.ts";
import { mutated, oddText, torn } from "./garbage.ts";
import { type Tree, textOf } from "./json-tree.ts";
import type { Known } from "./known.ts";
import { type Address, rawConnection, rawFrames } from "./raw-bytes.ts";

const framesMax = 10;

export interface Operation {
  readonly method: string;
  /** With `{name}` for each parameter. */
  readonly path: string;
  readonly query: readonly string[];
  /** Null: it takes no JSON. */
  readonly body: unknown;
  /** It takes bytes of any kind. */
  readonly bytes: boolean;
}

export interface Published {
  readonly operations: readonly [Operation, ...Operation[]];
  /** Of every command of a socket. */
  readonly command: unknown;
}

/** What an OpenAPI document says of operations and commands. Throws where it says nothing. */
export function published(document: unknown): Published {
  const paths = fieldOf(document, "paths");
  const operations = Object.entries(isObject(paths) ? paths : {}).flatMap(([path, methods]) =>
    Object.entries(isObject(methods) ? methods : {}).map(([method, facts]) => operationOf(path, method, facts)),
  );
  // Turns and questions are what most else hangs on.
  const often = operations.filter(({ method, path }) => method === "POST" && /(messages|answers)$/.test(path));
  const [first, ...rest] = [...operations, ...often, ...often, ...often];
  if (first === undefined) throw new Error("the server publishes no operation");
  const command = fieldOf(fieldOf(fieldOf(document, "components"), "schemas"), "Command");
  if (!isObject(command)) throw new Error("the server publishes no commands");
  return { operations: [first, ...rest], command };
}

function operationOf(path: string, method: string, facts: unknown): Operation {
  const parameters = fieldOf(facts, "parameters");
  const named = (Array.isArray(parameters) ? parameters : []).filter((one) => fieldOf(one, "in") === "query");
  const content = fieldOf(fieldOf(facts, "requestBody"), "content");
  const json = fieldOf(content, "application/json");
  return {
    method: method.toUpperCase(),
    path,
    query: named.map((one) => String(fieldOf(one, "name"))),
    body: fieldOf(json, "schema") ?? null,
    bytes: fieldOf(content, "application/octet-stream") !== undefined,
  };
}

const fieldOf = (value: unknown, name: string): unknown => (isObject(value) ? value[name] : undefined);

export interface Maker extends Address {
  readonly published: Published;
  readonly known: Known;
}

export function makeInput(prng: Prng, maker: Maker): FuzzInput {
  const draw = prng.float();
  if (draw < 0.62) return restInput(prng, maker);
  if (draw < 0.84) return framesInput(prng, maker);
  return rawInput(prng, maker);
}

/** Changes of something good: mostly one, sometimes none, so that what is behind the checks is reached as well. */
function spoiled(tree: Tree, prng: Prng): string {
  const times = prng.pick([0, 0, 0, 1, 1, 1, 2, 3]);
  let spoilt = tree;
  for (let time = 0; time < times; time += 1) spoilt = mutated(spoilt, prng);
  const text = textOf(spoilt);
  return prng.chance(0.04) ? torn(text, prng) : text;
}

const makingOf = (prng: Prng, maker: Maker, schema: unknown): Making => ({
  prng,
  known: maker.known,
  definitions: definitionsOf(schema),
});
function definitionsOf(schema: unknown): JsonObject {
  const found = fieldOf(schema, "$defs");
  return isObject(found) ? found : {};
}

const types = [
  "text/plain",
  "application/x-www-form-urlencoded",
  "multipart/form-data",
  "application/jsonp",
  "",
] as const;

function restInput(prng: Prng, maker: Maker): RestInput {
  const operation = prng.pick(maker.published.operations);
  const method = prng.chance(0.95) ? operation.method : prng.pick(["PUT", "HEAD", "OPTIONS", "DELETE", "POST", "GET"]);
  const bodyless = operation.body === null && !operation.bytes;
  const body = bodyless && prng.chance(0.9) ? "" : bodyOf(operation, prng, maker);
  const headers: Record<string, string> = { ...maker.admitted(prng) };
  if (body !== "" || prng.chance(0.2)) headers["content-type"] = operation.bytes ? "image/png" : "application/json";
  if (prng.chance(0.05)) headers["content-type"] = prng.pick(types);
  if (prng.chance(0.05)) headers["content-encoding"] = prng.pick(["gzip", "br", "identity", "x"]);
  if (prng.chance(0.05))
    headers[prng.pick(["accept", "range", "if-none-match", "last-event-id", "x-varve-key"])] = latin(prng);
  return { kind: "rest", method, path: pathOf(operation, prng, maker), headers, body };
}

function bodyOf({ body, bytes }: Operation, prng: Prng, maker: Maker): string {
  if (bytes || prng.chance(0.03)) return Array.from({ length: prng.int(0, 300) }, () => latinUnit(prng)).join("");
  return toBytes(spoiled(fromSchema(body ?? {}, "", makingOf(prng, maker, body)), prng));
}

/** UTF-8 as Latin-1; half of a pair becomes a replacement character, as any client makes it. */
const toBytes = (text: string): string => Buffer.from(text, "utf8").toString("latin1");
const latinUnit = (prng: Prng): string => String.fromCharCode(prng.int(0, 255));
/** Header values that a client can send at all. */
const latin = (prng: Prng): string =>
  Array.from({ length: prng.int(0, 60) }, () => String.fromCharCode(prng.int(0x20, 0xff)))
    .join("")
    .replaceAll("\x7f", "");

function pathOf(operation: Operation, prng: Prng, maker: Maker): string {
  const filled = operation.path.replace(/\{(\w+)\}/g, (_all, name: string) => segment(name, prng, maker));
  const query = operation.query.filter(() => prng.chance(0.5));
  if (prng.chance(0.05)) query.push(prng.pick(["limit", "x", "__proto__", "before"]));
  const pairs = query.map((name) => `${name}=${queryValue(name, prng, maker)}`);
  return pairs.length === 0 ? filled : `${filled}?${pairs.join("&")}`;
}

function segment(name: string, prng: Prng, maker: Maker): string {
  const told = maker.known.like(name, prng);
  if (told !== undefined && prng.chance(0.8)) return encodeURIComponent(String(told));
  return prng.pick([short(prng), "%00", "%", "%ff", "..", ".", "%2e%2e", "a%2fb", "%E0%A4%A", "0", "-1", "NaN"]);
}

function queryValue(name: string, prng: Prng, maker: Maker): string {
  const told = maker.known.like(name, prng);
  if (told !== undefined && prng.chance(0.5)) return encodeURIComponent(String(told));
  return prng.pick([
    short(prng),
    "0",
    "-1",
    "1",
    "500",
    "501",
    "1e9",
    "NaN",
    "",
    "%",
    "%00",
    "1-3",
    "3-1",
    "1-99999999",
    "/",
  ]);
}

/** What a request line can hold: encoded, and not longer than a server reads. */
const short = (prng: Prng): string => encodeURIComponent(oddText(prng).slice(0, 2_000).toWellFormed());

function framesInput(prng: Prng, maker: Maker): FramesInput {
  const frames = Array.from({ length: prng.int(1, framesMax) }, () => {
    if (prng.chance(0.05)) return oddText(prng);
    const { command } = maker.published;
    return spoiled(fromSchema(command, "", makingOf(prng, maker, command)), prng);
  });
  return { kind: "frames", greets: prng.chance(0.95), frames };
}

function rawInput(prng: Prng, maker: Maker): RawInput {
  const upgraded = prng.chance(0.4);
  return { kind: "raw", upgraded, bytes: upgraded ? rawFrames(prng) : rawConnection(prng, maker) };
}
