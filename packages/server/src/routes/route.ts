/**
 * What a route is. All routes stand in one table, from which requests are answered and the OpenAPI document is made, so
 * that the two cannot differ.
 */
import { type ErrorBody, type Fault, fault, isFault, parseTabId, type TabId } from "@varve/protocol";
import type { z } from "zod";
import type { Visitor } from "../auth/gate.ts";
import type { Arrival } from "../auth/proxies.ts";

export type Method = "GET" | "POST" | "PATCH" | "DELETE";

export interface Call<Body> {
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly body: Body;
  readonly visitor: Visitor;
  readonly arrival: Arrival;
  /** Whether the caller would still be let in; for answers that go on. */
  readonly stillHolds: () => boolean;
  readonly headers: Headers;
  /** Ends the connection of a reader that takes nothing; does nothing where there is no connection. */
  readonly cut: () => void;
}

export interface Reply {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}
/** A fault may carry more beside it, such as the record as it is now. */
export type RouteAnswer = Reply | Response | (Fault & { readonly current?: unknown });

export type Intake =
  | { readonly kind: "nothing" }
  | { readonly kind: "json"; readonly schema: z.ZodType }
  /** Raw bytes of any type, at most so many. */
  | { readonly kind: "bytes"; readonly bytesMax: number };

export interface Route {
  readonly method: Method;
  /** Below `/api`, with `:name` for each parameter. */
  readonly path: string;
  readonly summary: string;
  /** Answered without a token or a signed-in device; host and origin are checked all the same. */
  readonly open?: true;
  /** Lets others in or keeps them out: not for programs with a named token. */
  readonly ownerOnly?: true;
  readonly intake: Intake;
  /** Query parameters and what they mean. */
  readonly query?: Readonly<Record<string, string>>;
  readonly answers: { readonly status: number; readonly schema?: z.ZodType; readonly type?: string };
  /** `body` is what the intake made of the request's body: undefined, the schema's output, or the bytes. */
  readonly run: (call: Call<unknown>) => Promise<RouteAnswer> | RouteAnswer;
}

type Plain = Omit<Route, "intake" | "run">;

export function route(facts: Plain & { readonly run: (call: Call<undefined>) => ReturnType<Route["run"]> }): Route {
  const { run, ...rest } = facts;
  return { ...rest, intake: { kind: "nothing" }, run: (call) => run({ ...call, body: undefined }) };
}

export function jsonRoute<S extends z.ZodType>(
  facts: Plain & { readonly body: S; readonly run: (call: Call<z.output<S>>) => ReturnType<Route["run"]> },
): Route {
  const { run, body: schema, ...rest } = facts;
  return {
    ...rest,
    intake: { kind: "json", schema },
    // The body has just been parsed with this very schema by the caller of `run` (`intake.ts`).
    run: (call) => run({ ...call, body: call.body as z.output<S> }),
  };
}

export function bytesRoute(
  facts: Plain & {
    readonly bytesMax: number;
    readonly run: (call: Call<Uint8Array>) => ReturnType<Route["run"]>;
  },
): Route {
  const { run, bytesMax, ...rest } = facts;
  return {
    ...rest,
    intake: { kind: "bytes", bytesMax },
    // An intake of kind "bytes" yields bytes (`intake.ts`).
    run: (call) => run({ ...call, body: call.body as Uint8Array }),
  };
}

/** For routes below `/tabs/:tab`: the id is checked before anything else. */
export const onTab =
  <Body>(run: (tab: TabId, call: Call<Body>) => Promise<RouteAnswer> | RouteAnswer) =>
  (call: Call<Body>): Promise<RouteAnswer> | RouteAnswer => {
    const tab = parseTabId(call.params.tab ?? "");
    return tab === null ? badId("tab") : run(tab, call);
  };

export const badId = (what: string): Fault =>
  fault("bad-id", `This is no id of a ${what}.`, "Ids have 1 to 64 letters, digits, `_` or `-`.");

export const reply = (status: number, body: unknown): Reply => ({ status, body });

/** The value as a 200, or the fault that it is. */
export const okOr = (value: unknown, status = 200): Reply | Fault => (isFault(value) ? value : reply(status, value));

export const errorBodyOf = ({ code, message, hint }: ErrorBody): { readonly error: ErrorBody } => ({
  error: hint === undefined ? { code, message } : { code, message, hint },
});
