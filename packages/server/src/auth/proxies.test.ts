import { isFault } from "@varve/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { arrivalOf, calledHost, parseProxies } from "./proxies.ts";

function proxies(...texts: readonly string[]) {
  const parsed = parseProxies(texts);
  if (isFault(parsed)) throw new Error(parsed.message);
  return parsed;
}
const reader = (headers: Readonly<Record<string, string>>) => (name: string) => headers[name];
const host = "127.0.0.1:4477";

describe("which proxies are believed", () => {
  test.each([
    ["10.0.0.7", "10.0.0.7", true],
    ["10.0.0.7", "10.0.0.8", false],
    ["10.0.0.7", "::ffff:10.0.0.7", true],
    ["10.0.0.0/8", "10.255.0.1", true],
    ["10.0.0.0/8", "11.0.0.1", false],
    ["172.16.0.0/12", "172.31.255.255", true],
    ["172.16.0.0/12", "172.32.0.0", false],
    ["::1", "::1", true],
    ["::1", "127.0.0.1", false],
    ["127.0.0.1", "::1", false],
    ["fd00::/8", "fd12:3456::1", true],
    ["fd00::/8", "fe80::1", false],
    ["fe80::/10", "fe80::1%eth0", true],
    ["10.0.0.7", "", false],
    ["10.0.0.7", "evil", false],
  ])("[AUTH-34] %s: %s is trusted: %s", (text, address, trusted) => {
    expect(proxies(text).trusts(address)).toBe(trusted);
  });

  test("[AUTH-34] without a proxy nobody is", () => {
    for (const address of ["127.0.0.1", "::1", "", undefined]) expect(proxies().trusts(address)).toBe(false);
  });

  test.each([
    ["localhost"],
    ["10.0.0.0/33"],
    ["10.0.0.0/x"],
    ["10.0.0.0/8/8"],
    ["10.0.0"],
    ["0.0.0.0/0"],
    ["::/0"],
    ["10.0.0.7:80"],
    ["*"],
    ["fd00::/129"],
    ["10.0.0.0/-1"],
    [""],
  ])("[AUTH-34] %j is no proxy: one sentence", (text) => {
    expect(parseProxies([text])).toMatchObject({ code: "bad-request" });
  });

  test("[AUTH-34] at most sixty-four can be named", () => {
    const many = Array.from({ length: 65 }, (_, n) => `10.0.0.${n}`);
    expect(isFault(parseProxies(many.slice(1)))).toBe(false);
    expect(parseProxies(many)).toMatchObject({ code: "bad-request" });
  });
});

const forwarded = { "x-forwarded-for": "192.0.2.9", "x-forwarded-host": "varve.example", "x-forwarded-proto": "https" };

describe("how a request arrived", () => {
  test("[AUTH-34] from anybody else forwarded headers are not read, whatever they say", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...Object.keys(forwarded), "forwarded"), fc.string()), (lies) => {
        const arrival = arrivalOf("192.0.2.1", reader({ host, ...lies }), proxies("10.0.0.7"));
        expect(arrival).toEqual({ client: "192.0.2.1", hosts: [host], scheme: null });
      }),
    );
  });

  test("[AUTH-35] a trusted proxy says who called, under which name and scheme; its own Host is looked at as well", () => {
    const arrival = arrivalOf("10.0.0.7", reader({ host, ...forwarded }), proxies("10.0.0.7"));
    expect(arrival).toEqual({ client: "192.0.2.9", hosts: [host, "varve.example"], scheme: "https" });
    expect(calledHost(arrival)).toBe("varve.example");
    const silent = arrivalOf("10.0.0.7", reader({ host }), proxies("10.0.0.7"));
    expect(silent).toEqual({ client: "10.0.0.7", hosts: [host], scheme: null });
  });

  test.each([
    ["https", "https"],
    ["HTTPS", "https"],
    ["wss", "https"],
    ["http", "http"],
    ["ws", "http"],
    ["https, http", "http"],
    ["gopher", "http"],
    ["", "http"],
  ])("[AUTH-35] X-Forwarded-Proto %j is %s", (proto, scheme) => {
    const headers = reader({ host, "x-forwarded-proto": proto });
    expect(arrivalOf("10.0.0.7", headers, proxies("10.0.0.7")).scheme).toBe(scheme);
  });

  test.each([
    ["192.0.2.9", "192.0.2.9"],
    // What the caller itself wrote stands before what the proxy saw.
    ["203.0.113.5, 192.0.2.9", "192.0.2.9"],
    ["192.0.2.9, 10.0.0.8", "192.0.2.9"],
    ["203.0.113.5, 192.0.2.9, 10.0.0.8, 10.0.0.9", "192.0.2.9"],
    ["192.0.2.9:5000", "192.0.2.9"],
    ["[2001:db8::1]:5000", "2001:db8::1"],
    ["2001:db8::1", "2001:db8::1"],
    ["::ffff:192.0.2.9", "192.0.2.9"],
    ["nonsense", "10.0.0.7"],
    ["192.0.2.9, nonsense", "10.0.0.7"],
    ["", "10.0.0.7"],
    ["10.0.0.8", "10.0.0.8"],
  ])("[AUTH-35] X-Forwarded-For %j: the caller is %s", (chain, client) => {
    const headers = reader({ host, "x-forwarded-for": chain });
    expect(arrivalOf("10.0.0.7", headers, proxies("10.0.0.0/24")).client).toBe(client);
  });

  test.each([
    ["for=192.0.2.9;proto=https;host=varve.example", "192.0.2.9", "varve.example", "https"],
    ['For="[2001:db8::1]:4711"; Proto=https', "2001:db8::1", host, "https"],
    [
      "for=203.0.113.5;host=evil.example;proto=http, for=192.0.2.9;host=varve.example;proto=https",
      "192.0.2.9",
      "varve.example",
      "https",
    ],
    ["for=_hidden;proto=https", "10.0.0.7", host, "https"],
    ["=;;=,", "10.0.0.7", host, null],
  ])("[AUTH-35] Forwarded %j is read when no older header is there", (text, client, called, scheme) => {
    const read = (headers: Readonly<Record<string, string>>) =>
      arrivalOf("10.0.0.7", reader(headers), proxies("10.0.0.7"));
    const arrival = read({ host, forwarded: text });
    expect([arrival.client, calledHost(arrival), arrival.scheme]).toEqual([client, called, scheme]);
    const both = read({ host, forwarded: text, ...forwarded });
    expect(both).toEqual({ client: "192.0.2.9", hosts: [host, "varve.example"], scheme: "https" });
  });

  test("[AUTH-35] a chain of any length is followed for a bounded number of hops", () => {
    const chain = Array.from({ length: 40 }, (_, n) => `10.0.0.${40 - n}`).join(", ");
    const headers = reader({ host, "x-forwarded-for": `192.0.2.9, ${chain}` });
    expect(arrivalOf("10.0.0.7", headers, proxies("10.0.0.0/24")).client).toBe("10.0.0.16");
  });
});
