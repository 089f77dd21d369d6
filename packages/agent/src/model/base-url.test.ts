import { expect, test } from "vitest";
import { isLoopback, normalBaseUrl } from "./base-url.ts";

test.each<[string, string | null]>([
  ["http://127.0.0.1:4000", "http://127.0.0.1:4000/v1"],
  ["http://127.0.0.1:4000/", "http://127.0.0.1:4000/v1"],
  ["http://127.0.0.1:4000/v1", "http://127.0.0.1:4000/v1"],
  ["http://127.0.0.1:4000/v1/", "http://127.0.0.1:4000/v1"],
  ["https://api.z.ai/api/paas/v4", "https://api.z.ai/api/paas/v4"],
  ["https://host/v1beta/openai", "https://host/v1beta/openai"],
  ["https://gateway.example/team", "https://gateway.example/team/v1"],
  ["localhost:11434", "http://localhost:11434/v1"],
  ["  http://h:1/v1  ", "http://h:1/v1"],
  ["ftp://h/v1", null],
  ["", null],
  ["http://", null],
])("[MODEL-6] %s is %s", (text, expected) => {
  expect(normalBaseUrl(text)).toBe(expected);
});

test.each([
  ["http://127.0.0.1:1/v1", true],
  ["http://localhost/v1", true],
  ["http://[::1]:8080/v1", true],
  ["https://localhost.example/v1", false],
  ["https://api.anthropic.com/v1", false],
])("[MODEL-6] %s is on this machine: %s", (url, expected) => {
  expect(isLoopback(url)).toBe(expected);
});
