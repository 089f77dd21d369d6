import { expect, test } from "vitest";
import { isLoopback, isOnOwnNetwork, normalBaseUrl } from "./base-url.ts";

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

test.each([
  ["http://127.0.0.1:11434/v1", true],
  ["http://127.1/v1", true],
  ["http://0.0.0.0:8000/v1", true],
  ["http://localhost:8080/v1", true],
  ["http://LOCALHOST./v1", true],
  ["http://models.localhost/v1", true],
  ["http://10.1.2.3:8000/v1", true],
  ["http://172.16.0.1/v1", true],
  ["http://172.31.255.255/v1", true],
  ["http://192.168.1.20:1234/v1", true],
  ["http://169.254.1.1/v1", true],
  ["http://100.64.0.1/v1", true],
  ["http://100.127.0.1/v1", true],
  ["https://gpu-box.local:8000/v1", true],
  ["http://gpu-box.lan/v1", true],
  ["http://gpu-box.home.arpa/v1", true],
  ["http://ollama:11434/v1", true],
  ["http://host.docker.internal:11434/v1", true],
  ["http://[::1]:8080/v1", true],
  ["http://[fd00::1]:8080/v1", true],
  ["http://[fc01:2::1]/v1", true],
  ["http://[fe80::1]/v1", true],
  ["http://172.15.0.1/v1", false],
  ["http://172.32.0.1/v1", false],
  ["http://100.63.0.1/v1", false],
  ["http://100.128.0.1/v1", false],
  ["http://11.0.0.1/v1", false],
  ["http://192.169.0.1/v1", false],
  ["http://8.8.8.8/v1", false],
  ["http://[2001:db8::1]/v1", false],
  ["http://[fec0::1]/v1", false],
  ["https://api.groq.com/openai/v1", false],
  ["https://localhost.example/v1", false],
  ["https://local/v1.example", true],
  ["https://10.0.0.1.example/v1", false],
  ["https://notlocal.example/v1", false],
  ["https://mylocalhost.com/v1", false],
  ["https://gateway.internal/v1", false],
  ["https://x.example/127.0.0.1/v1", false],
  ["https://127.0.0.1@evil.example/v1", false],
  ["", false],
  ["no address", false],
])("[MODEL-23] %s is on one's own network: %s", (url, expected) => {
  expect(isOnOwnNetwork(url)).toBe(expected);
});
