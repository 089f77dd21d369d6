import { expect, test } from "vitest";
import { blob } from "../dev/fake-rows.ts";
import { filesText, parseFiles } from "./kept-files.ts";

const file = { blob: blob(), name: "plan.png", mediaType: "image/png" };

test("attachments come back from their text as they were, and none leave nothing behind", () => {
  expect(parseFiles(filesText([file, { ...file, name: "ü \u0000" }]))).toEqual([file, { ...file, name: "ü \u0000" }]);
  expect([filesText([]), parseFiles("")]).toEqual(["", []]);
});

test.each(["{", "null", "[1]", '[{"blob":"nope","name":"a","mediaType":"b"}]', `[{"blob":"${"a".repeat(64)}"}]`])(
  "read from %j they are none",
  (text) => {
    expect(parseFiles(text)).toEqual([]);
  },
);
