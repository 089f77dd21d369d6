/** Ways by which a page or a model would have `fetch` speak to this machine or to a network that is not the internet. */
import { describe, expect, test } from "vitest";
import type { HttpAnswer, HttpOperations } from "./operations.ts";
import { isNamedHost, privateHostPattern } from "./private-hosts.ts";
import { type Scratch, type ScratchOptions, scratch } from "./testing/scratch.ts";

/** What names lead to. Every name that is not here is unknown; an address leads to itself, as in the real world. */
const names: Readonly<Record<string, readonly string[]>> = {
  localhost: ["::1", "127.0.0.1"],
  "localhost.": ["127.0.0.1"],
  "any.localhost": ["127.0.0.1"],
  "127.0.0.1.nip.example": ["127.0.0.1"],
  "metadata.google.internal": ["169.254.169.254"],
  "printer.local": ["fe80::1%eth0"],
  "router.example": ["192.168.1.1"],
  "mixed.example": ["93.184.216.34", "10.0.0.1"],
  "mapped.example": ["::ffff:192.168.0.1"],
  "nat64.example": ["64:ff9b::7f00:1"],
  "six-to-four.example": ["2002:7f00:1::"],
  "public.example": ["93.184.216.34"],
  "nowhere.example": [],
};

function answer(part: Partial<HttpAnswer> = {}): HttpAnswer {
  const body = (async function* () {
    yield Buffer.from("page");
  })();
  return { status: 200, contentType: "text/plain", location: null, body, close: () => {}, ...part };
}

interface Net {
  readonly at: Scratch;
  /** Addresses that a request was sent to. */
  readonly asked: readonly string[];
}

function net(options: ScratchOptions & { readonly http?: Partial<HttpOperations> } = {}): Net {
  const asked: string[] = [];
  const http: HttpOperations = {
    resolve: async (host) => names[host] ?? [host.replace(/^\[|\]$/g, "")],
    get: async ({ address }) => {
      asked.push(address);
      return answer();
    },
    ...options.http,
  };
  return { at: scratch({ ...options, change: (real) => ({ ...real, http }) }), asked };
}

const ways: readonly string[] = [
  "http://127.0.0.1/",
  "http://127.1/",
  "http://127.0.1/",
  "http://2130706433/",
  "http://0x7f000001/",
  "http://0x7f.0.0.1/",
  "http://0177.0.0.1/",
  "http://017700000001/",
  "http://127.0.0.1./",
  "http://0/",
  "http://0.0.0.0/",
  "http://00000000/",
  "http://\u2460\u2461\u2466.0.0.1/",
  "http://127\u30020\u30020\u30021/",
  "http://%31%32%37.0.0.1/",
  "http://localhost/",
  "http://LOCALHOST/",
  "http://localhost./",
  "http://any.localhost/",
  "http://127.0.0.1.nip.example/",
  "http://metadata.google.internal/computeMetadata/v1/",
  "http://169.254.169.254/latest/meta-data",
  "http://printer.local/",
  "http://router.example:8080/",
  "http://mixed.example/",
  "http://mapped.example/",
  "http://nat64.example/",
  "http://six-to-four.example/",
  "http://10.0.0.1/",
  "http://172.16.0.1/",
  "http://192.168.0.1:4477/",
  "http://100.64.0.1/",
  "http://198.18.0.1/",
  "http://224.0.0.1/",
  "http://255.255.255.255/",
  "http://[::1]/",
  "http://[::]/",
  "http://[0:0:0:0:0:0:0:1]/",
  "http://[::ffff:127.0.0.1]/",
  "http://[::ffff:7f00:1]/",
  "http://[::127.0.0.1]/",
  "http://[64:ff9b::127.0.0.1]/",
  "http://[64:ff9b:1::1]/",
  "http://[2002:c0a8:0001::]/",
  "http://[fe80::1]/",
  "http://[fc00::1]/",
  "http://[fd00:ec2::254]/",
  "http://[ff02::1]/",
  "http://[2001:db8::1]/",
  "http://[2001:20::1]/",
  "http://[3fff::1]/",
];

describe("ways into private networks", () => {
  test.each(ways)("[TOOL-93] %s reaches nobody", async (url) => {
    const { at, asked } = net();
    await using _ = at;
    expect(await at.call("fetch", { url })).toMatchObject({
      isError: true,
      text: expect.stringMatching(/private network|not an address/),
    });
    expect(asked).toEqual([]);
  });

  test.each([
    "http://[::1%25eth0]/",
    "http://127.0.0.1:99999/",
    "http:///etc/passwd",
    "http://user@127.0.0.1/",
    "http://public.example@127.0.0.1/",
    "gopher://127.0.0.1/",
    "http://127.0.0.1 .example/",
  ])("[TOOL-94] %s is no address that is asked", async (url) => {
    const { at, asked } = net();
    await using _ = at;
    expect((await at.call("fetch", { url })).isError).toBe(true);
    expect(asked).toEqual([]);
  });

  test("[TOOL-93] a name that leads elsewhere at the second look is judged again, and the address is the judged one", async () => {
    const answers = [["93.184.216.34"], ["127.0.0.1"]];
    const { at, asked } = net({
      http: {
        resolve: async () => answers.shift() ?? [],
        get: async ({ address, url }) => {
          expect(address).toBe("93.184.216.34");
          return answer({ status: 302, location: `${url.origin}/again` });
        },
      },
    });
    await using _ = at;
    expect((await at.call("fetch", { url: "http://rebinds.example/" })).text).toContain("leads to 127.0.0.1");
    expect(asked).toEqual([]);
  });

  test.each([
    "http://127.0.0.1/",
    "//localhost/x",
    "http://[::1]:4477/api",
    "http://public.example.:80/",
    "file:///etc/passwd",
  ])("[TOOL-92] a redirect to %s is told and not followed", async (location) => {
    const asked: string[] = [];
    const { at } = net({
      http: {
        get: async ({ url }) => {
          asked.push(url.hostname);
          return answer({ status: 301, location });
        },
      },
    });
    await using _ = at;
    const { text } = await at.call("fetch", { url: "http://public.example/" });
    expect(text).toMatch(/not followed|Only http/);
    expect(asked).toEqual(["public.example"]);
  });

  test("[TOOL-153] a person's list is read for each request, and names hosts with or without a port", async () => {
    let hosts: readonly string[] = [];
    const { at, asked } = net({ privateHosts: () => hosts });
    await using _ = at;
    const isOpen = async (url: string) => !(await at.call("fetch", { url })).isError;
    expect(await isOpen("http://router.example:8080/")).toBe(false);
    hosts = ["router.example:8080", "localhost"];
    expect(await isOpen("http://router.example:8080/")).toBe(true);
    expect(await isOpen("http://localhost:3000/")).toBe(true);
    expect(await isOpen("http://router.example/")).toBe(false);
    // The name was allowed, and not what else leads to the same place.
    expect(await isOpen("http://127.0.0.1/")).toBe(false);
    hosts = [];
    expect(await isOpen("http://localhost:3000/")).toBe(false);
    expect(asked).toEqual(["192.168.1.1", "::1"]);
  });
});

test.each([
  ["http://a:80/", ["a:80"], true],
  ["https://a/", ["a:443"], true],
  ["https://a/", ["a:80"], false],
  ["http://a:81/", ["a"], true],
  ["http://[::1]:81/", ["[::1]:81"], true],
  ["http://a.b/", ["a"], false],
  ["http://b/", [], false],
])("[TOOL-153] %s is named by %j: %s", (url, hosts, named) => {
  expect(isNamedHost(new URL(url), hosts)).toBe(named);
});

test.each([
  ["localhost", true],
  ["my-box.lan:8080", true],
  ["10.0.0.1", true],
  ["[::1]:4477", true],
  ["*", false],
  ["*.lan", false],
  ["HOST", false],
  ["a/b", false],
  ["http://a", false],
  ["a:", false],
  ["", false],
  ["a b", false],
])("[TOOL-153] %j can stand in the list: %s", (host, can) => {
  expect(privateHostPattern.test(host)).toBe(can);
});
