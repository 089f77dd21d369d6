/** What an answer must be, whatever was asked. Pure: an answer in, sentences out. */
import { type ErrorCode, errorStatus } from "@varve/protocol";
import { frameSchema } from "@varve/protocol/schema";
import { isObject, parseJson } from "../json.ts";

export interface HttpAnswer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

/** Codes with which a server says that something of its own is broken. */
const broken: readonly string[] = [
  "internal",
  "log-unavailable",
  "log-damaged",
  "log-fenced",
  "disk-full",
  "shutting-down",
];
/** Statuses of what never becomes a request; their code is `bad-request`. */
const belowHttp: readonly number[] = [400, 408, 413, 417, 431];

/** A line of a stack, also with its line end written as JSON writes it, or a file of ours. */
const inside = /(?:\n|\\n)\s+at .+:\d+:\d+|file:\/\/|node_modules|\/packages\/\w+\/src\//;

/** What is wrong with an answer to a request of that method, or null. */
export function httpProblem({ status, type, body }: HttpAnswer, method: string): string | null {
  if (status >= 500 && !Object.values<number>(errorStatus).includes(status)) return `status ${status}`;
  if (status < 400) return inside.test(body) && isJson(type) ? "an answer tells of the inside" : null;
  if (inside.test(body)) return "an error tells of the inside";
  if (method === "HEAD") return null;
  if (!isJson(type)) return `an error of type "${type}"`;
  const error = errorIn(parseJson(body));
  if (error === null) return "an error without a code and a sentence";
  if (!isListed(error.code)) return `the code "${error.code}" is not on the list`;
  if (broken.includes(error.code)) return `the server says that it is broken: ${error.code}, ${error.message}`;
  const matches = errorStatus[error.code] === status || (error.code === "bad-request" && belowHttp.includes(status));
  return matches ? null : `${error.code} with status ${status}`;
}

const isListed = (code: string): code is ErrorCode => Object.hasOwn(errorStatus, code);

const isJson = (type: string): boolean => /^application\/json\b/.test(type);

function errorIn(body: unknown): { readonly code: string; readonly message: string } | null {
  const error = isObject(body) ? body.error : undefined;
  if (!isObject(error) || typeof error.code !== "string" || typeof error.message !== "string") return null;
  return { code: error.code, message: error.message };
}

/** One message of the server on a socket. */
export function frameProblem(text: string): string | null {
  const frame = frameSchema.safeParse(parseJson(text));
  if (!frame.success) return `a frame that the protocol does not know: ${text.slice(0, 200)}`;
  if (frame.data.type !== "err") return null;
  if (inside.test(text)) return "an error tells of the inside";
  return broken.includes(frame.data.code) ? `the server says that it is broken: ${frame.data.code}` : null;
}

/** Codes with which a socket may end: those of the protocol, and those of sockets for what is no message. */
const endings: readonly number[] = [1000, 1002, 1003, 1005, 1007, 1009, 1013, 4400, 4401, 4408, 4426];

export const endingProblem = (code: number): string | null =>
  endings.includes(code) ? null : `the socket ended with ${code}`;
