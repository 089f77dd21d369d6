import { openSync, writeSync } from "node:fs";
import { imageSize } from "image-size";
import { describe, expect, test } from "vitest";
import { imageKind } from "./image.ts";
import { toolLimits } from "./limits.ts";
import { pngOf } from "./testing/png.ts";
import { type Scratch, scratch } from "./testing/scratch.ts";

const library = await import("sharp").then(
  ({ default: sharp }) => sharp,
  () => null, // Not installed here: what needs it is skipped below, and says so.
);
if (library === null) process.stdout.write("images: sharp is not installed, so that conversions are not tested\n");

const withoutLibrary = () =>
  scratch({
    change: (real) => ({
      ...real,
      images: { check: async () => "absent" as const, convert: async () => ({ kind: "absent" as const }) },
    }),
  });

type Sharp = NonNullable<typeof library>;
const sharp = (): Sharp => library ?? expect.fail("skipped without it");
const plain = (width: number, height: number, channels: 3 | 4 = 3) =>
  sharp()({ create: { width, height, channels, background: { r: 200, g: 30, b: 30, alpha: 0.5 } } });
/** Pixels that no format can pack. */
const noise = (width: number, height: number) => {
  let state = 1;
  const bytes = Buffer.alloc(width * height * 3);
  for (let at = 0; at < bytes.length; at++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    bytes[at] = state >>> 24;
  }
  return sharp()(bytes, { raw: { width, height, channels: 3 } });
};

async function frames(count: number, format: "gif" | "webp"): Promise<Buffer> {
  const strip = Buffer.alloc(8 * 8 * count * 3, 0);
  for (let frame = 0; frame < count; frame++) strip.fill(frame * 60, frame * 192, (frame + 1) * 192);
  const image = sharp()(strip, { raw: { width: 8, height: 8 * count, channels: 3, pageHeight: 8 } });
  return await (format === "gif" ? image.gif({ delay: 100 }) : image.webp({ lossless: true })).toBuffer();
}

async function imageFrom(at: Scratch, bytes: Uint8Array) {
  at.file("picture.txt", bytes);
  const outcome = await at.call("read", { path: "picture.txt" });
  const [image] = outcome.images ?? [];
  if (image === undefined) throw new Error(outcome.text);
  const { width, height } = imageSize(image.bytes);
  return { ...image, width, height, text: outcome.text, kind: imageKind(image.bytes) };
}

describe.runIf(library !== null)("images that are converted", () => {
  const cases = [
    {
      name: "a wide JPEG",
      make: () => plain(4_000, 1_000).jpeg().toBuffer(),
      type: "image/jpeg",
      size: [2_000, 500],
      words: "made smaller from 4000 × 1000",
    },
    {
      name: "a tall PNG one can see through",
      make: () => plain(300, 3_000, 4).png().toBuffer(),
      type: "image/png",
      size: [200, 2_000],
      words: "made smaller from 300 × 3000",
    },
    {
      name: "a wide WebP",
      make: () => plain(2_001, 20).webp().toBuffer(),
      type: "image/png",
      size: [2_000, 20],
      words: "made smaller",
    },
    { name: "a GIF", make: () => frames(1, "gif"), type: "image/png", size: [8, 8], words: "converted" },
    {
      name: "a GIF that moves",
      make: () => frames(3, "gif"),
      type: "image/png",
      size: [8, 8],
      words: "the first of 3 frames",
    },
    {
      name: "a WebP that moves",
      make: () => frames(3, "webp"),
      type: "image/png",
      size: [8, 8],
      words: "the first of 3 frames",
    },
    {
      name: "a TIFF",
      make: () => plain(30, 20).tiff().toBuffer(),
      type: "image/png",
      size: [30, 20],
      words: "converted",
    },
    {
      name: "an AVIF",
      make: () => plain(64, 32).avif({ effort: 0 }).toBuffer(),
      type: "image/png",
      size: [64, 32],
      words: "converted",
    },
    {
      name: "sixteen bits a colour",
      make: () => plain(2_100, 10).toColourspace("rgb16").png().toBuffer(),
      type: "image/png",
      size: [2_000, 10],
      words: "made smaller",
    },
    {
      name: "inks",
      make: () => plain(2_100, 10).toColourspace("cmyk").jpeg().toBuffer(),
      type: "image/jpeg",
      size: [2_000, 10],
      words: "made smaller",
    },
    {
      name: "a photograph on its side",
      make: () => plain(40, 20).jpeg().withMetadata({ orientation: 6 }).toBuffer(),
      type: "image/jpeg",
      size: [20, 40],
      words: "bytes⟩",
    },
  ] as const;
  test.each(cases)("[TOOL-147] $name comes as one that every provider takes", async ({ make, type, size, words }) => {
    await using at = scratch();
    const bytes = await make();
    const image = await imageFrom(at, bytes);
    expect(image).toMatchObject({ mediaType: type, kind: type, width: size[0], height: size[1] });
    expect(image.text).toContain(words);
    expect(image.bytes.length).toBeLessThanOrEqual(toolLimits.imageBytesMax);
    expect(await imageFrom(at, bytes)).toEqual(image);
    expect((await sharp()(image.bytes).metadata()).exif).toBeUndefined();
  });

  test("[TOOL-147] what every provider takes is not touched", async () => {
    await using at = scratch();
    for (const bytes of [
      await plain(2_000, 10).png().toBuffer(),
      await plain(9, 9).jpeg().toBuffer(),
      await plain(9, 9).webp().toBuffer(),
    ]) {
      expect(Buffer.from((await imageFrom(at, bytes)).bytes).equals(bytes)).toBe(true);
    }
  });

  test("[TOOL-147] pixels that PNG can't pack become a JPEG, and smaller ones where even that is too much", async () => {
    const { nodeImages } = await import("./node-images.ts");
    const bytes = await noise(200, 200).png().toBuffer();
    const wish = { edgeMax: 200, pixelsMax: 1_000_000 };
    const whole = await nodeImages().convert(bytes, { ...wish, bytesMax: 60_000 });
    expect(whole).toMatchObject({ kind: "converted", mediaType: "image/jpeg", width: 200, height: 200 });
    const part = await nodeImages().convert(bytes, { ...wish, bytesMax: 12_000 });
    expect(part).toMatchObject({ kind: "converted", mediaType: "image/jpeg", width: 100 });
  });

  test("[TOOL-147] what no size makes small enough is refused", async () => {
    const { nodeImages } = await import("./node-images.ts");
    const wish = { edgeMax: 100, bytesMax: 10, pixelsMax: 10_000 };
    expect(await nodeImages().convert(await plain(90, 90).png().toBuffer(), wish)).toEqual({ kind: "too-large" });
    expect(await nodeImages().convert(await plain(101, 100).png().toBuffer(), wish)).toEqual({ kind: "damaged" });
  });
});

test.each([
  { name: "a bomb", bytes: pngOf(60_000, 60_000), words: /60000 × 60000 pixels; at most 64 million/ },
  {
    name: "damaged pixels of a large one",
    bytes: pngOf(2_001, 2),
    words: library === null ? /sharp is not/ : /damaged/,
  },
  { name: "HEIC", bytes: Buffer.from("\0\0\0\x18ftypheic\0\0\0\0mif1heic", "latin1"), words: /Convert it to PNG/ },
  { name: "an icon", bytes: Buffer.from("\0\0\x01\0\x01\0\x10\x10", "latin1"), words: /Convert it to PNG/ },
  { name: "a film", bytes: Buffer.from("\0\0\0\x18ftypisom\0\0\0\0isomiso2avc1", "latin1"), words: /binary file/ },
  {
    name: "half an AVIF",
    bytes: Buffer.from("\0\0\0\x18ftypavif\0\0\0\0avifmif1", "latin1"),
    words: library === null ? /sharp/ : /damaged/,
  },
])("[TOOL-46] $name is refused in words", async ({ bytes, words }) => {
  await using at = scratch();
  at.file("p", bytes);
  const outcome = await at.call("read", { path: "p" });
  expect(outcome).toMatchObject({ isError: true, text: expect.stringMatching(words) });
  expect(outcome.images).toBeUndefined();
});

test.runIf(library !== null)("[TOOL-46] a small image is refused too where its pixels are damaged", async () => {
  await using at = scratch();
  const flipped = pngOf(3, 2);
  flipped[45] = (flipped[45] ?? 0) ^ 0xff;
  for (const bytes of [pngOf(300, 200), flipped]) {
    at.file("p", bytes);
    expect((await at.call("read", { path: "p" })).text).toMatch(/damaged/);
  }
});

test("[TOOL-46] a file with more bytes than are read is refused without reading them", async () => {
  await using at = scratch();
  const path = at.file("p", pngOf(3, 2));
  writeSync(openSync(path, "r+"), "x", toolLimits.imageSourceBytesMax);
  expect((await at.call("read", { path: "p" })).text).toMatch(/at most 50 MB/);
});

test("[TOOL-46] a drawing in SVG is its text", async () => {
  await using at = scratch();
  at.file("p.svg", '<svg xmlns="http://www.w3.org/2000/svg"/>\n');
  expect((await at.call("read", { path: "p.svg" })).text).toBe('1\t<svg xmlns="http://www.w3.org/2000/svg"/>');
});

describe("on a machine that can't convert", () => {
  test.each([
    {
      name: "too wide",
      bytes: pngOf(2_001, 2),
      words: /2001 × 2 pixels .* at most 2000 a side .*sharp is not installed/,
    },
    {
      name: "too many bytes",
      bytes: Buffer.concat([pngOf(3, 2), new Uint8Array(toolLimits.imageBytesMax)]),
      words: /sharp is not installed/,
    },
    {
      name: "a TIFF",
      bytes: Buffer.from("II*\0\x08\0\0\0\0\0", "latin1"),
      words: /sharp is not installed.*Convert it to PNG/,
    },
  ])("[TOOL-148] $name is refused, with the reason", async ({ bytes, words }) => {
    await using at = withoutLibrary();
    at.file("p", bytes);
    expect(await at.call("read", { path: "p" })).toMatchObject({ isError: true, text: expect.stringMatching(words) });
  });

  test("[TOOL-148] what is within the limits goes as it is", async () => {
    await using at = withoutLibrary();
    const gif = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64");
    expect(await imageFrom(at, gif)).toMatchObject({ mediaType: "image/gif", width: 1, height: 1 });
  });
});
