import fc from "fast-check";
import { expect, test } from "vitest";
import { KnownSecrets } from "./known-secrets.ts";
import { redactError } from "./redact.ts";

const redactor = (values: readonly string[]) => {
  const secrets = new KnownSecrets();
  secrets.know("here", values);
  return (text: string): string => redactError(text, secrets);
};
const redact = redactor(["my-secret-key", "my-secret-key-longer", "ab", "with/slash+key"]);

test.each([
  ["key my-secret-key-longer!", "key [secret]!"],
  ["two my-secret-key my-secret-key", "two [secret] [secret]"],
  ["url ?k=with%2Fslash%2Bkey", "url ?k=[secret]"],
  ["short ones stay: ab", "short ones stay: ab"],
  ["unknown sk-ant-api03-abcdefghijklmnop", "unknown [secret]"],
  ["Authorization: Bearer abcdefghijklmnopqrstuvwx", "Authorization: Bearer [secret]"],
  ['{"api_key":"abcdefghijklmnopqrst"}', '{"api_key":"[secret]"}'],
])("[MODEL-4] %s", (text, expected) => {
  expect(redact(text)).toBe(expected);
});

test("[MODEL-4] no known secret stays in any text", () => {
  fc.assert(
    fc.property(fc.string({ minLength: 8 }), fc.string(), fc.string(), (secret, before, after) => {
      fc.pre(!"[secret]".includes(secret) && secret.trim().length >= 8);
      const clean = redactor([secret])(`${before}${secret}${after}`);
      const glued = `${before}[secret]${after}`;
      expect(clean.includes(secret) && !glued.includes(secret)).toBe(false);
    }),
  );
});
