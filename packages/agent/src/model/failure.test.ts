import { APICallError, InvalidResponseDataError } from "@ai-sdk/provider";
import { describe, expect, test } from "vitest";
import { failureOf, retryAfterMs } from "./failure.ts";

const plain = (text: string): string => text;
const http = (statusCode: number, body: unknown = {}, headers: Record<string, string> = {}): APICallError =>
  new APICallError({
    message: "Failed",
    url: "http://provider/v1",
    requestBodyValues: { secret: "in the request" },
    statusCode,
    responseHeaders: headers,
    responseBody: typeof body === "string" ? body : JSON.stringify(body),
  });
const said = (message: string) => ({ error: { message } });
/** A limit by the minute, in the very words in which others say that an account is empty. */
const googleLimit = {
  error: {
    code: 429,
    message: "You exceeded your current quota, please check your plan and billing details. Please retry in 34.5s.",
    status: "RESOURCE_EXHAUSTED",
    details: [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "34.5s" }],
  },
};

describe("answers with a status", () => {
  test.each<[number, unknown, string, boolean]>([
    [400, said("messages.0: bad"), "provider-refused", false],
    [400, said("prompt is too long: 210000 tokens > 200000 maximum"), "context-overflow", false],
    [400, said("This model's maximum context length is 8192 tokens"), "context-overflow", false],
    [400, said("This model's maximum prompt length is 131072 but the request holds more"), "context-overflow", false],
    [400, said("Please reduce the length of the messages or completion."), "context-overflow", false],
    [400, said("prompt token count of 128601 exceeds the limit of 128000"), "context-overflow", false],
    [400, said("Prompt exceeds max length"), "context-overflow", false],
    [
      400,
      said("The input token count (9) exceeds the maximum number of tokens allowed (8)"),
      "context-overflow",
      false,
    ],
    [400, said("the request exceeds the available context size"), "context-overflow", false],
    [500, said("the request exceeds the available context size"), "context-overflow", false],
    [400, said("max_tokens: 32000 exceeds the limit of 8192"), "provider-refused", false],
    [400, said("Your credit balance is too low"), "credential-refused", false],
    [401, said("invalid x-api-key"), "credential-refused", false],
    [402, said("Payment required"), "credential-refused", false],
    [403, said("forbidden"), "credential-refused", false],
    [404, said("model: nope"), "unknown-model", false],
    [408, {}, "provider-unreachable", true],
    [409, {}, "provider-unreachable", true],
    [413, said("Request exceeds the maximum size"), "context-overflow", false],
    [422, {}, "provider-refused", false],
    [429, said("rate limited"), "provider-overloaded", true],
    [429, { error: { code: "insufficient_quota", message: "quota" } }, "credential-refused", false],
    [429, googleLimit, "provider-overloaded", true],
    [402, said("Insufficient Balance"), "credential-refused", false],
    [402, said("Insufficient credits. Add more in the settings."), "credential-refused", false],
    [400, said("API key not valid. Please pass a valid API key."), "credential-refused", false],
    [500, {}, "provider-unreachable", true],
    [503, "<html>busy</html>", "provider-overloaded", true],
    [529, said("Overloaded"), "provider-overloaded", true],
    [200, "not json", "provider-cut", true],
  ])("[MODEL-5] HTTP %i %j: %s, tried again: %s", (status, body, code, again) => {
    const failure = failureOf(http(status, body), plain);
    expect(failure.code).toBe(code);
    expect(failure.retry !== null).toBe(again);
    expect(failure.statusCode).toBe(status);
  });

  test("[MODEL-5] the message has the provider's own sentence, cut when it is a page", () => {
    expect(failureOf(http(400, said("messages.0: bad")), plain).message).toBe(
      "The provider answered HTTP 400: messages.0: bad",
    );
    expect(failureOf(http(400, said("x".repeat(5000))), plain).message.length).toBeLessThan(700);
  });

  test("[MODEL-5] Google says in the body how long to wait", () => {
    expect(failureOf(http(429, googleLimit), plain).retry).toEqual({ afterMs: 34_500 });
    expect(failureOf(http(429, googleLimit, { "retry-after": "2" }), plain).retry).toEqual({ afterMs: 2_000 });
    expect(failureOf(http(429, said("quota; billing")), plain).retry).toBeNull();
  });

  test("[MODEL-4] a key that the provider repeats is taken out", () => {
    const redact = (text: string): string => text.replaceAll("sk-1", "[secret]");
    expect(failureOf(http(401, said("Incorrect API key provided: sk-1")), redact).message).not.toContain("sk-1");
  });
});

describe("errors in a stream and below it", () => {
  test.each<[string, unknown, string, boolean]>([
    ["overloaded", { type: "overloaded_error", message: "Overloaded" }, "provider-overloaded", true],
    ["the vendor's own trouble", { type: "api_error", message: "Internal server error" }, "provider-overloaded", true],
    ["a rate limit", { code: "rate_limit_exceeded", message: "slow down" }, "provider-overloaded", true],
    ["a bare sentence", "upstream timed out", "provider-overloaded", true],
    ["a bad request", { type: "invalid_request_error", message: "bad" }, "provider-refused", false],
    ["too long a context", { type: "x", message: "exceeds the context window" }, "context-overflow", false],
    ["no credit", { code: "insufficient_quota", message: "pay" }, "credential-refused", false],
    ["something unknown", { message: "hm" }, "provider-cut", true],
    ["data that cannot be read", new InvalidResponseDataError({ data: {}, message: "no" }), "provider-cut", true],
    ["a broken socket", new TypeError("terminated"), "provider-unreachable", true],
    ["nothing one can name", undefined, "provider-unreachable", true],
  ])("[MODEL-5] %s", (_name, error, code, again) => {
    const failure = failureOf(error, plain);
    expect(failure.code).toBe(code);
    expect(failure.retry !== null).toBe(again);
  });

  test("[MODEL-5] a network error is told by its deepest cause", () => {
    const error = new TypeError("fetch failed", { cause: new Error("connect ECONNREFUSED 127.0.0.1:1") });
    expect(failureOf(error, plain).message).toContain("ECONNREFUSED");
  });
});

test.each<[Record<string, string> | undefined, number | null]>([
  [{ "retry-after": "3" }, 3000],
  [{ "retry-after": "0.5" }, 500],
  [{ "retry-after-ms": "1500", "retry-after": "9" }, 1500],
  [{ "retry-after": "Wed, 21 Oct 2026 07:28:00 GMT" }, null],
  [{ "retry-after": "-1" }, null],
  [{}, null],
  [undefined, null],
])("[MODEL-5] the wait in %j is %s ms", (headers, expected) => {
  expect(retryAfterMs(headers)).toBe(expected);
});
