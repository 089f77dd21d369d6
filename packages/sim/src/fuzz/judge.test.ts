import { describe, expect, test } from "vitest";
import { answersIn } from "./connection.ts";
import { endingProblem, frameProblem, httpProblem } from "./judge.ts";
import { maskedFrame } from "./raw-bytes.ts";

const json = "application/json; charset=utf-8";
const error = (code: string, message = "No."): string => JSON.stringify({ error: { code, message } });

describe("[SIM-73] what is judged as wrong", () => {
  test.each<[string, number, string, string]>([
    ["a status of nobody's", 505, json, error("internal")],
    ["a broken server", 500, json, error("internal")],
    ["a log that is gone", 503, json, error("log-unavailable")],
    ["an error that is a page", 404, "text/html", "<h1>Not found</h1>"],
    ["an error without a code", 400, json, '{"error":{"message":"No."}}'],
    ["an error that is no JSON", 400, json, "No."],
    ["a code that is not on the list", 400, json, error("oops")],
    ["a code with another status", 404, json, error("bad-json")],
    ["a name that every object has", 400, json, error("toString")],
    ["a stack", 400, json, error("bad-json", "x\n    at run (/srv/app.js:1:2)")],
    ["a file of ours", 404, json, error("unknown-tab", "in /x/packages/server/src/app.ts")],
    ["a stack in a good answer", 200, json, '{"a":"\n    at run (/srv/app.js:1:2)"}'],
  ])("[SIM-73] %s", (_what, status, type, body) => {
    expect(httpProblem({ status, type, body }, "GET")).not.toBeNull();
  });

  test.each<[string, string]>([
    ["no JSON", "{"],
    ["an unknown frame", '{"type":"wonder"}'],
    ["an answer to no number", '{"type":"err","re":null,"code":"bad-request","message":"No."}'],
    ["a broken server", '{"type":"err","code":"internal","message":"No."}'],
  ])("[SIM-73] a frame that is %s", (_what, text) => {
    expect(frameProblem(text)).not.toBeNull();
  });
});

test("[SIM-73] what is right passes", () => {
  expect(httpProblem({ status: 200, type: json, body: "{}" }, "GET")).toBeNull();
  expect(httpProblem({ status: 404, type: json, body: error("unknown-tab") }, "GET")).toBeNull();
  expect(httpProblem({ status: 404, type: json, body: "" }, "HEAD")).toBeNull();
  expect(httpProblem({ status: 431, type: json, body: error("bad-request") }, "GET")).toBeNull();
  expect(frameProblem('{"type":"err","re":1,"code":"bad-request","message":"No."}')).toBeNull();
  expect([1002, 4400, 1006].map((code) => endingProblem(code) === null)).toEqual([true, true, false]);
});

test("[SIM-73] answers on one connection are told apart, and what is none is seen", () => {
  const one = "HTTP/1.1 404 Refused\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}";
  expect(answersIn(Buffer.from(`HTTP/1.1 100 Continue\r\n\r\n${one}${one}`))).toEqual([
    { status: 404, type: "application/json", body: "{}" },
    { status: 404, type: "application/json", body: "{}" },
  ]);
  expect(answersIn(Buffer.from("hello"))).toBeNull();
  expect(answersIn(Buffer.alloc(0))).toEqual([]);
});

test("[SIM-73] a frame says its length in one, two or eight bytes", () => {
  const bytes = (text: string): readonly number[] => [...Buffer.from(text, "latin1").subarray(0, 10)];
  expect(bytes(maskedFrame(0x81, "ab"))).toEqual([0x81, 0x82, 0, 0, 0, 0, 97, 98]);
  expect(bytes(maskedFrame(0x81, "a".repeat(300))).slice(0, 4)).toEqual([0x81, 0xfe, 1, 44]);
  expect(bytes(maskedFrame(0x81, "a".repeat(70_000)))).toEqual([0x81, 0xff, 0, 0, 0, 0, 0, 1, 17, 112]);
});
