import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { secretCharsMax } from "./forms.ts";
import { hiddenNames, hiddenValues } from "./hidden-names.ts";
import { KnownSecrets } from "./known-secrets.ts";

const secret = 'p4ss"word/with+signs&more';
function knowing(...values: readonly string[]): KnownSecrets {
  const secrets = new KnownSecrets();
  secrets.know("test", values);
  return secrets;
}

describe("the forms of a secret", () => {
  test.each([
    ["as it is", secret],
    ["in an address", encodeURIComponent(secret)],
    ["in a JSON text", JSON.stringify(secret).slice(1, -1)],
  ])("[SECRET-3] %s", (_what, form) => {
    expect(knowing(secret).text(`before ${form} behind`)).toBe("before [secret] behind");
  });

  test("[SECRET-3] in base64, wherever it stands in the bytes", () => {
    fc.assert(
      fc.property(fc.nat(9), fc.nat(9), fc.constantFrom("base64", "base64url"), (before, behind, encoding) => {
        const bytes = Buffer.concat([randomBytes(before), Buffer.from(secret), randomBytes(behind)]);
        const clean = knowing(secret).text(bytes.toString(encoding === "base64" ? "base64" : "base64url"));
        expect(clean).toContain("[secret]");
        // What its neighbours have a say in is left, which is less than two letters of it on each side.
        expect(clean.length).toBeLessThan((before + behind) * 2 + 16);
      }),
    );
  });

  test("[SECRET-3] a key file in a variable is known line by line, without its first and last", () => {
    const lines = [
      "-----BEGIN PRIVATE KEY-----",
      "MIIEvQIBADANBgkqhkiG",
      "9w0BAQEFAASCBKcwggSj",
      "-----END PRIVATE KEY-----",
    ];
    const shown = knowing(lines.join("\n")).text(lines.map((line) => `    ${line}`).join("\n"));
    expect(shown.split("\n").map((line) => line.trim())).toEqual([lines[0], "[secret]", "[secret]", lines[3]]);
  });

  test.each([
    ["shorter than eight characters", "abc1234", "abc1234"],
    ["what people type where no key is needed", "lm-studio", "run lm-studio now"],
    ["far too long", "x".repeat(secretCharsMax + 1), "x".repeat(50)],
    ["nothing but blanks", "            ", "a            b"],
  ])("[SECRET-4] left alone: %s", (_what, value, text) => {
    expect(knowing(value).text(text)).toBe(text);
  });

  test("[SECRET-3] named tokens of this product are known by their look alone", () => {
    const token = `varve_${"a".repeat(43)}`;
    expect(new KnownSecrets().text(`curl -H 'authorization: Bearer ${token}'`)).toContain("Bearer [secret]'");
    expect(new KnownSecrets().text("varve_home and varve_token")).toBe("varve_home and varve_token");
  });
});

describe("what is known", () => {
  test("[SECRET-5] it holds at once, also for a stream that runs, and what was removed stays known", () => {
    const secrets = new KnownSecrets();
    const stream = secrets.stream();
    expect(stream.push("first-secret ")).toBe("first-secret ");
    secrets.know("stored", ["first-secret"]);
    secrets.know("stored", ["second-secret"]);
    secrets.tried("third-secret");
    expect(stream.push("first-secret second-secret third-secret.")).toBe("[secret] [secret] [secret].");
  });

  test("[SECRET-2] in front of every mark of a cut the beginning of one is replaced", () => {
    const secrets = knowing("sk-ant-0123456789");
    const text =
      "a sk-ant-0123⟨line cut, 90 bytes⟩\nb sk-ant-012345…\nsk-ant-01\n⟨5 characters left out⟩\nsk-ant-0123456";
    expect(secrets.cutText(text)).toBe(
      "a [secret]⟨line cut, 90 bytes⟩\nb [secret]…\n[secret]\n⟨5 characters left out⟩\n[secret]",
    );
  });

  test("[SECRET-2] names that begin like a named token are no cut ones; enough of a token is", () => {
    const secrets = knowing("varve_own-0123456789");
    for (const text of ["a\nvarve_settings", "varve_home_folder…", "see varve_token_pattern"]) {
      expect(secrets.cutText(text)).toBe(text);
    }
    expect(secrets.cutText(`x varve_${"A1b-".repeat(5)}`)).toBe("x [secret]");
    expect(secrets.cutText("x varve_own-01")).toBe("x [secret]");
    expect(secrets.cutText("varve_varve_own-01")).toBe("varve_[secret]");
  });

  test("[SECRET-3] values are cleaned with all that they hold, and are the very same when there was nothing to do", () => {
    const secrets = knowing("first-secret");
    const value = { a: ["x first-secret", 1, null], "first-secret": { b: true } };
    expect(secrets.data(value)).toEqual({ a: ["x [secret]", 1, null], "[secret]": { b: true } });
    const clean = { a: ["x", { y: "z" }] };
    expect(secrets.data(clean)).toBe(clean);
  });
});

test("[SECRET-9] names are hidden exactly, or by a beginning or an end; places are no secrets", () => {
  const isHidden = hiddenNames(["NPM_TOKEN", "*_PASSWORD", "AWS_*", "*SECRET*"]);
  const names = [
    "NPM_TOKEN",
    "NPM_TOKEN_2",
    "DB_PASSWORD",
    "PASSWORD",
    "AWS_KEY",
    "MY_AWS_KEY",
    "A_SECRET_B",
    "npm_token",
  ];
  expect(names.filter(isHidden)).toEqual(["NPM_TOKEN", "DB_PASSWORD", "AWS_KEY", "A_SECRET_B", "npm_token"]);
  const env = { HOME: "/home/somebody", HOME_KEY: "0123456789", OTHER: "x" };
  expect(hiddenValues(env, ["HOME*"])).toEqual(["0123456789"]);
});
