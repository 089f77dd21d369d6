import fc from "fast-check";
import { expect, test } from "vitest";
import { eventCharsMax, SseReader } from "./sse.ts";

const events = [
  { id: "log:1:1", data: '{"type":"head"}' },
  { id: "log:1:2", data: "two\nlines 😀" },
  { id: "log:1:2", data: "" },
];
const streams = ["\n", "\r\n", "\r"].map((end) =>
  [
    ": a comment",
    "retry: 1000",
    "id: log:1:1",
    'data: {"type":"head"}',
    "",
    "",
    "id:log:1:2",
    "data:two",
    "data: lines 😀",
    "",
    "data",
    "",
    "event: ignored",
    ": heartbeat",
    "",
    "",
  ].join(end),
);

test.each(streams)("[TAIL-1] a stream is read whatever its line ends are: %j", (stream) => {
  expect(new SseReader().read(`${stream}\n`)).toEqual(events);
});
test("[TAIL-1] cut anywhere, it gives the same events", () => {
  fc.assert(
    fc.property(fc.constantFrom(...streams), fc.array(fc.nat(400), { maxLength: 60 }), (stream, cuts) => {
      const text = `${stream}\n`;
      const points = [...new Set([0, ...cuts.map((cut) => cut % text.length), text.length])].sort((a, b) => a - b);
      const reader = new SseReader();
      const pieces = points.slice(1).map((point, i) => text.slice(points[i], point));
      expect(pieces.flatMap((piece) => reader.read(piece))).toEqual(events);
    }),
    { numRuns: 2_000 },
  );
});
test("[TAIL-1] an event without its blank line is not given", () => {
  const reader = new SseReader();
  expect(reader.read("data: half\n")).toEqual([]);
  expect(reader.read("\n")).toEqual([{ data: "half", id: "" }]);
});
test("[TAIL-2] an event without end is refused instead of kept", () => {
  const reader = new SseReader();
  const piece = `data: ${"x".repeat(1024 * 1024)}\n`;
  expect(() => {
    for (let i = 0; i <= eventCharsMax / (1024 * 1024); i++) reader.read(piece);
  }).toThrow(RangeError);
  expect(() => new SseReader().read("x".repeat(eventCharsMax + 1))).toThrow(RangeError);
});
