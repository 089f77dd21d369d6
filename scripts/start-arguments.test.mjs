import { describe, expect, test } from "vitest";
import { nodeTooOld } from "./lib/node-version.mjs";
import { misplacedArgument } from "./lib/start-arguments.mjs";

describe("arguments of npm start", () => {
  test.each([
    ["nothing", [], {}],
    ["a flag and its value", ["--port", "5000"], {}],
    ["a flag with an equals sign", ["--home=/tmp/x", "--no-open"], {}],
    ["npm's own settings", [], { npm_config_cache: "/c", npm_config_allow_scripts: "" }],
  ])("%s is fine", (_name, args, env) => expect(misplacedArgument(args, env)).toBeUndefined());

  test.each([
    ["a word", ["foo"], {}, "--port 5000"],
    ["a word after a complete flag", ["--no-open", "foo"], {}, "--port 5000"],
    ["a flag that npm took, its value left over", ["4000"], { npm_config_port: "true" }, "--port 4000"],
    ["a flag with a value that npm took", [], { npm_config_home: "/x" }, "--home /x"],
    ["a negated flag that npm took", [], { npm_config_open: "" }, "--no-open"],
    ["a long flag that npm took", [], { npm_config_allow_host: "a.example" }, "--allow-host a.example"],
  ])("%s gets the sentence", (_name, args, env, example) => {
    expect(misplacedArgument(args, env)).toBe(`flags go after \`--\`: npm start -- ${example}`);
  });
});

test.each([
  ["20.19.0", true],
  ["20.20.2", true],
  ["22.0.0", true],
  ["24.22.3", true],
  ["20.18.3", false],
  ["18.20.0", false],
  ["8.0.0", false],
])("Node %s is accepted: %s", (version, accepted) => {
  const sentence = nodeTooOld(version);
  if (accepted) expect(sentence).toBeUndefined();
  else expect(sentence).toContain(`this is Node ${version}`);
});
