import { describe, expect, test } from "vitest";
import { parseCommandLine } from "./arguments.ts";

const around = { env: {}, userHome: "/home/me", cwd: "/home/me/here" };
const parse = (line: string, env: Record<string, string> = {}) =>
  parseCommandLine(line === "" ? [] : line.split(" "), { ...around, env });

describe("the command line", () => {
  test("[CLI-1] flags win over the environment, which wins over the defaults", () => {
    const none = { allowHosts: [], trustProxies: [], publicUrl: undefined, importDb: undefined };
    const start = { command: "start", ...none, open: true };
    expect(parse("")).toEqual({ ...start, host: "127.0.0.1", port: 4477, home: "/home/me/.varve" });
    const env = {
      VARVE_HOST: "10.0.0.1",
      VARVE_PORT: "80",
      VARVE_HOME: "state",
      VARVE_ALLOW_HOSTS: "a.example, ,b",
      VARVE_TRUST_PROXIES: "10.0.0.7,fd00::/8",
      VARVE_PUBLIC_URL: "https://a.example",
    };
    expect(parse("", env)).toEqual({
      ...start,
      host: "10.0.0.1",
      port: 80,
      home: "/home/me/here/state",
      allowHosts: ["a.example", "b"],
      trustProxies: ["10.0.0.7", "fd00::/8"],
      publicUrl: "https://a.example",
    });
    expect(
      parse(
        "--host ::1 --port 0 --home /h --allow-host x --allow-host y --trust-proxy ::1,10.0.0.8 --public-url http://b --import-db old.db --no-open",
        env,
      ),
    ).toEqual({
      command: "start",
      host: "::1",
      port: 0,
      home: "/h",
      allowHosts: ["x", "y", "a.example", "b"],
      trustProxies: ["::1", "10.0.0.8", "10.0.0.7", "fd00::/8"],
      publicUrl: "http://b",
      importDb: "/home/me/here/old.db",
      open: false,
    });
    expect(parse("", { VARVE_HOST: "", VARVE_PORT: "", VARVE_HOME: "" })).toEqual(parse(""));
  });

  test.each([
    ["link", { command: "link", home: "/home/me/.varve" }],
    ["token list", { command: "token", act: "list", home: "/home/me/.varve" }],
    ["token add ci", { command: "token", act: "add", name: "ci", days: undefined }],
    ["token add ci --days 30 --home h", { act: "add", name: "ci", days: 30, home: "/home/me/here/h" }],
    ["token remove abc", { command: "token", act: "remove", id: "abc" }],
    ["token --help", { command: "help" }],
    ["link --home h", { command: "link", home: "/home/me/here/h" }],
    ["tail t", { command: "tail", home: "/home/me/.varve", tab: "t", from: 0 }],
    ["tail t --from 12", { command: "tail", home: "/home/me/.varve", tab: "t", from: 12 }],
    ["send t hello", { command: "send", tab: "t", text: "hello", wait: false, cwd: "/home/me/here" }],
    [
      "send --new hello --wait --cwd sub --model demo/demo --permissions allow",
      { tab: null, wait: true, cwd: "/home/me/here/sub", model: "demo/demo", permissions: "allow" },
    ],
    ["ledger run.jsonl", { command: "ledger", file: "/home/me/here/run.jsonl", json: false }],
    ["ledger --json /a/run.jsonl", { command: "ledger", file: "/a/run.jsonl", json: true }],
    ["ledger --help", { command: "help" }],
    ["--help", { command: "help" }],
    ["send -h", { command: "help" }],
    ["link --help", { command: "help" }],
    ["tail --help", { command: "help" }],
    ["--version", { command: "version" }],
  ])("[CLI-2] %s", (line, expected) => {
    expect(parse(line)).toMatchObject(expected);
  });

  test.each([
    ["serve", "Unknown command 'serve'"],
    ["--prot 80", "Unknown option '--prot'"],
    ["token", "'token' takes 'add NAME', 'list' or 'remove ID'"],
    ["token add", "'token' takes 'add NAME', 'list' or 'remove ID'"],
    ["token list x", "'token' takes 'add NAME', 'list' or 'remove ID'"],
    ["token remove a b", "'token' takes 'add NAME', 'list' or 'remove ID'"],
    ["token make a", "'token' takes 'add NAME', 'list' or 'remove ID'"],
    ["token add a --days 0", "--days goes with 'token add' and takes a whole number of days"],
    ["token add a --days soon", "--days goes with 'token add' and takes a whole number of days"],
    ["token list --days 3", "--days goes with 'token add' and takes a whole number of days"],
    ["--port", "Option '--port <value>' argument missing"],
    ["--port 80x", "'80x' is not a port"],
    ["--port 65536", "'65536' is not a port"],
    ["--port -1", "Option '--port' argument is ambiguous"],
    ["ledger", "'ledger' takes one recording"],
    ["ledger a b", "'ledger' takes one recording"],
    ["ledger --home h a", "Unknown option '--home'"],
    ["link extra", "Unexpected argument 'extra'"],
    ["tail", "'tail' takes one tab"],
    ["tail a b", "'tail' takes one tab"],
    ["tail a --from x", "--from takes a seq"],
    ["send t", "'send' takes a tab"],
    ["send t a b", "quote the text"],
    ["send --new", "'send --new' takes one text"],
    ["send t x --model m", "use them with --new"],
    ["send --new x --permissions god", "--permissions is one of read, ask, edits, allow"],
    ["send t x --waits", "Unknown option '--waits'"],
  ])("[CLI-3] %s is refused with a sentence", (line, sentence) => {
    const parsed = parse(line);
    expect(parsed.command).toBe("wrong");
    expect(parsed).toMatchObject({ sentence: expect.stringContaining(sentence) });
  });

  test("[CLI-3] a port of the environment that is none is refused as well", () => {
    expect(parse("", { VARVE_PORT: "http" })).toMatchObject({ command: "wrong" });
  });
});
