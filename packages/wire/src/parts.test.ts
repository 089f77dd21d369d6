/** Results and their images, part by part, for a provider that takes images inside and one that doesn't. */
import { describe, expect, test } from "vitest";
import { folded, pixel, toAnthropic, toCompatible } from "./testing/folded.ts";
import { blobHash, C, type Draft, logOf, P, R, RE, RI, U } from "./testing/rows.ts";
import { show } from "./testing/show.ts";

const png = { blob: blobHash("a"), mediaType: "image/png" };
const tiff = { blob: blobHash("b"), mediaType: "image/tiff" };
const image = `file(image/png,${pixel})`;
const inside = `{"type":"image-data","data":"${pixel}","mediaType":"image/png"}`;
const behind = (result: string, ...parts: readonly string[]) =>
  `T[${result}] U["[images from the result of bash]" ${parts.join(" ")}]`;

/** The result as it goes out, with what stands behind it. */
function sent(result: Draft, target = toAnthropic): string {
  const rows = logOf(P(), U("a"), C("c1"), result);
  return show(folded(rows, target).messages).replace(/^.*?(?=T\[)/, "");
}
const refused = "[attachment image/tiff (image/tiff) can't be sent to this model]";

describe("results", () => {
  test.each([
    ["text", R("c1", "out"), 'T[res(c1,"out")]'],
    ["nothing", R("c1", ""), 'T[res(c1,"(no output)")]'],
    ["blanks", R("c1", " \n\t"), 'T[res(c1,"(no output)")]'],
    ["blanks around text", R("c1", "\n x \n"), 'T[res(c1,"\\n x \\n")]'],
    ["an error", RE("c1", "boom"), 'T[error(c1,"boom")]'],
    ["an error without words", RE("c1", ""), 'T[error(c1,"(no output)")]'],
    ["half an emoji", R("c1", "\ud83d"), 'T[res(c1,"\ufffd")]'],
  ] as const)("[WIRE-13] %s, for either provider", (_, result, expected) => {
    expect(sent(result)).toBe(expected);
    expect(sent(result, toCompatible)).toBe(expected);
  });

  test("[WIRE-21] an image stands in the result, or in a user message behind it", () => {
    const result = RI("c1", "shown", [png]);
    expect(sent(result)).toBe(`T[content(c1,[{"type":"text","text":"shown"},${inside}])]`);
    expect(sent(result, toCompatible)).toBe(behind('res(c1,"shown")', image));
  });

  test("[WIRE-21] an image without words still has a text", () => {
    expect(sent(RI("c1", "", [png]))).toBe(`T[content(c1,[{"type":"text","text":"(no output)"},${inside}])]`);
    expect(sent(RI("c1", "", [png, png]), toCompatible)).toBe(behind('res(c1,"(no output)")', image, image));
  });

  test("[WIRE-13] an error keeps its flag, and its images stand behind it", () => {
    const data = { callId: "c1", name: "bash", result: "boom", isError: true, images: [png] };
    const failed: Draft = { ...R("c1"), data };
    expect(sent(failed)).toBe(behind('error(c1,"boom")', image));
    expect(sent(failed, toCompatible)).toBe(behind('error(c1,"boom")', image));
  });

  test("[WIRE-21] an image type that no provider takes is a constant text", () => {
    const text = JSON.stringify({ type: "text", text: refused });
    expect(sent(RI("c1", "x", [tiff]))).toBe(`T[content(c1,[{"type":"text","text":"x"},${text}])]`);
    expect(sent(RI("c1", "x", [tiff]), toCompatible)).toBe(behind('res(c1,"x")', JSON.stringify(refused)));
  });

  test("[WIRE-21] the images of several results stand in call order, each under its tool", () => {
    const rows = logOf(P(), U("a"), C("c1"), C("c2"), RI("c2", "two", [png]), RI("c1", "one", [png]), U("q"));
    expect(show(folded(rows, toCompatible).messages)).toContain(
      `T[res(c1,"one") res(c2,"two")] U["[images from the result of bash]" ${image} "[images from the result of bash]" ${image}] U["q"]`,
    );
  });
});
