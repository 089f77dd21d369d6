/** Which addresses belong to the public internet. Everything that stands for this machine or a local network does not. */
import { BlockList, isIPv4, isIPv6 } from "node:net";

const closed4: readonly (readonly [string, number])[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
];

const closed = new BlockList();
for (const [net, bits] of closed4) closed.addSubnet(net, bits, "ipv4");

/** True for an address that may be reached without leave. Anything that is no address is not public. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !closed.check(address, "ipv4");
  if (!isIPv6(address)) return false;
  const groups = groupsOf(address);
  const inner = embedded(groups);
  if (inner !== null) return isPublicAddress(inner);
  // 2000::/3 is what the internet uses; of it documentation (2001:db8::/32, 3fff::/20), Teredo (2001::/32) and what names
  // no place (2001:10::/28, 2001:20::/28) lead elsewhere.
  const [first = 0, second = 0] = groups;
  if (first < 0x2000 || first > 0x3fff) return false;
  if (first === 0x3fff && second < 0x1000) return false;
  return !(first === 0x2001 && (second === 0x0db8 || second === 0 || (second >= 0x10 && second < 0x30)));
}

/** The eight groups of an IPv6 address. */
function groupsOf(address: string): readonly number[] {
  const bare = address.split("%")[0] ?? "";
  const hex = bare.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_all, ...parts: string[]) => {
    const [a = 0, b = 0, c = 0, d = 0] = parts.slice(0, 4).map(Number);
    return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
  });
  const [head = "", tail] = hex.split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  const middle =
    tail === undefined ? [] : Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => "0");
  return [...left, ...middle, ...right].map((group) => Number.parseInt(group, 16));
}

/** The IPv4 address that an IPv6 one stands for: mapped, compatible, NAT64 and 6to4. */
function embedded(groups: readonly number[]): string | null {
  const dotted = (high = 0, low = 0) => [high >> 8, high & 255, low >> 8, low & 255].join(".");
  const startsWith = (...start: readonly number[]) => start.every((group, i) => groups[i] === group);
  if (startsWith(0, 0, 0, 0, 0, 0xffff) || startsWith(0, 0, 0, 0, 0, 0) || startsWith(0x64, 0xff9b, 0, 0, 0, 0)) {
    return dotted(groups[6], groups[7]);
  }
  return startsWith(0x2002) ? dotted(groups[1], groups[2]) : null;
}
