import { describe, expect, test } from "vitest";
import { judgeHost, parseHostRule } from "./host-list.ts";

describe("hosts", () => {
  test.each([
    ["registry.example", { name: "registry.example", port: null }],
    ["Registry.Example:443", { name: "registry.example", port: 443 }],
    ["*.example", { name: "*.example", port: null }],
    ["10.0.0.7:8080", { name: "10.0.0.7", port: 8080 }],
    ["[::1]:3000", { name: "::1", port: 3000 }],
    ["localhost", { name: "localhost", port: null }],
    ["*", null],
    ["", null],
    ["a b", null],
    ["http://x.example", null],
    ["x.example/path", null],
    ["x..example", null],
    ["*.*.example", null],
    ["a*.example", null],
    ["x.example:0", null],
    ["x.example:70000", null],
    ["x.example:", null],
    ["user@x.example", null],
    ["::1", null],
    ["x\n.example", null],
  ])("[TOOL-123] %j is read as %j", (text, rule) => {
    expect(parseHostRule(text)).toEqual(rule);
  });

  const no = { allowed: false };
  const yes = { allowed: true, named: true };
  const wide = { allowed: true, named: false };
  test.each([
    [["a.example"], "a.example", 443, yes],
    [["a.example"], "A.EXAMPLE.", 80, yes],
    [["a.example"], "b.a.example", 443, no],
    [["a.example"], "xa.example", 443, no],
    [["a.example:443"], "a.example", 80, no],
    [["*.example"], "a.example", 443, wide],
    [["*.example"], "a.b.example", 443, wide],
    [["*.example"], "example", 443, no],
    [["*.example"], "evilexample", 443, no],
    [["*.example", "a.example"], "a.example", 443, yes],
    [["127.0.0.1"], "127.0.0.1", 5432, yes],
    [["[::1]"], "[::1]", 1, yes],
    [[], "a.example", 443, no],
  ])("[TOOL-123] %j and %s:%i", (texts, host, port, verdict) => {
    const rules = texts.flatMap((text) => parseHostRule(text) ?? []);
    expect(judgeHost(rules, host, port)).toEqual(verdict);
  });
});
