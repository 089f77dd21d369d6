import { createServer } from "node:http";
import { isFault } from "@varve/protocol";
import { describe, expect, test } from "vitest";
import {
  addressOf,
  bindProblem,
  boundNames,
  isLoopbackHost,
  listenOn,
  networkNames,
  parsePublicUrl,
} from "./listen-address.ts";

describe("where a server may listen", () => {
  test.each([
    ["127.0.0.1", true],
    ["127.8.9.1", true],
    ["LOCALHOST", true],
    ["::1", true],
    ["[::1]", true],
    ["0.0.0.0", false],
    ["::", false],
    ["192.168.1.4", false],
    ["example.org", false],
    ["127.evil.example", false],
    ["1127.0.0.1", false],
    ["", false],
  ])("[AUTH-16] %s is this machine alone: %s; anything else needs a token of one's own", (host, loopback) => {
    expect(isLoopbackHost(host)).toBe(loopback);
    expect(bindProblem(host, undefined) === null).toBe(loopback);
    expect(bindProblem(host, "") === null).toBe(loopback);
    expect(bindProblem(host, "a-long-enough-secret")).toBeNull();
  });

  test.each([
    ["short", true],
    ["fifteen-letters", true],
    ["aaaaaaaaaaaaaaaaaaaaaaaa", true],
    ["1212121212121212", true],
    ["a-long-enough-secret", false],
    ["0123456789abcdef", false],
  ])("[AUTH-16] beyond loopback the token %s is too weak: %s", (token, weak) => {
    expect(bindProblem("192.168.1.4", token) !== null).toBe(weak);
    expect(bindProblem("127.0.0.1", token)).toBeNull();
  });

  test("[AUTH-38] a link can lead to what another machine can call: no loopback, no address of one link alone", () => {
    const interfaces = {
      lo: [{ address: "127.0.0.1" }, { address: "::1" }],
      eth0: [{ address: "10.0.0.7" }, { address: "fe80::1" }, { address: "2001:db8::1" }, { address: "169.254.3.4" }],
    };
    // Only `address` is read.
    const given = interfaces as unknown as Parameters<typeof networkNames>[1];
    expect(networkNames("0.0.0.0", given)).toEqual(["10.0.0.7", "[2001:db8::1]"]);
    expect(networkNames("10.0.0.7", given)).toEqual(["10.0.0.7"]);
    expect(networkNames("127.0.0.1", given)).toEqual([]);
  });

  test.each([
    ["https://Varve.example", "https://varve.example"],
    ["https://varve.example/", "https://varve.example"],
    ["http://varve.example:8080", "http://varve.example:8080"],
    ["https://varve.example/sub", null],
    ["https://me:x@varve.example", null],
    ["https://varve.example?x", null],
    ["https://varve.example/#x", null],
    ["varve.example", null],
    ["ftp://varve.example", null],
    ["javascript:alert(1)", null],
    ["", null],
  ])("[AUTH-38] %j as a public address: %j", (text, origin) => {
    const parsed = parsePublicUrl(text);
    if (origin === null) expect(parsed).toMatchObject({ code: "bad-request" });
    else expect(parsed).toMatchObject({ origin });
  });

  test("[AUTH-2] the addresses of the bound interfaces count by themselves", () => {
    const interfaces = {
      lo: [{ address: "127.0.0.1" }],
      eth0: [{ address: "10.0.0.7" }, { address: "FE80::1" }],
    };
    // Only `address` is read.
    const given = interfaces as unknown as Parameters<typeof boundNames>[1];
    expect(boundNames("0.0.0.0", given)).toEqual(["127.0.0.1", "10.0.0.7", "fe80::1"]);
    expect(boundNames("10.0.0.7", given)).toEqual(["10.0.0.7"]);
  });

  test("[HTTP-25] what a person types is an address of this machine", () => {
    expect(addressOf("127.0.0.1", 4477)).toBe("http://127.0.0.1:4477");
    expect(addressOf("0.0.0.0", 80)).toBe("http://127.0.0.1:80");
    expect(addressOf("::1", 1)).toBe("http://[::1]:1");
  });

  test("[HTTP-25] a port that is taken and an address that is not here are each one sentence", async () => {
    const [first, second] = [createServer(), createServer()];
    const port = await listenOn(first, "127.0.0.1", 0);
    if (isFault(port)) throw new Error(port.message);
    const taken = await listenOn(second, "127.0.0.1", port);
    expect(taken).toMatchObject({
      code: "address-unavailable",
      message: `Port ${port} on 127.0.0.1 is in use by another program.`,
    });
    const elsewhere = await listenOn(createServer(), "192.0.2.1", 0);
    expect(elsewhere).toMatchObject({ code: "address-unavailable", message: "This machine has no address 192.0.2.1." });
    await new Promise((resolve) => first.close(resolve));
  });
});
