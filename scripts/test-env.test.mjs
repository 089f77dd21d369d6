import { homedir } from "node:os";
import { expect, test } from "vitest";
import { applyTestEnvironment } from "./lib/test-env.mjs";

test("keys and settings of the machine never reach a test, the fixed environment does", () => {
  const env = {
    PATH: "/bin",
    ANTHROPIC_API_KEY: "k",
    OPENAI_BASE_URL: "u",
    VARVE_HOME: "/h",
    GIT_DIR: "/g",
    LANG: "de_DE",
  };
  applyTestEnvironment(env, "/tmp/home");
  expect(env).toMatchObject({
    PATH: "/bin",
    HOME: "/tmp/home",
    TZ: "UTC",
    LANG: "C.UTF-8",
    GIT_AUTHOR_NAME: "Varve Test",
  });
  for (const name of ["ANTHROPIC_API_KEY", "OPENAI_BASE_URL", "VARVE_HOME", "GIT_DIR"])
    expect(env).not.toHaveProperty(name);
});

test("the running test itself sees that environment", () => {
  expect(new Date(0).getTimezoneOffset()).toBe(0);
  expect(homedir()).toContain("varve-test-home-");
  expect(process.env.VARVE_HOME).toBeUndefined();
  expect(process.env.GIT_AUTHOR_NAME).toBe("Varve Test");
});
