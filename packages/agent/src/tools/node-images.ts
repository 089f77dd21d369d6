/**
 * Images by sharp, an optional package with native parts: it is loaded when the first image needs it, and a machine without it
 * says so. Only bytes whose start is that of a known raster format come here, so that no other loader of the library is reached.
 */
import type { Sharp } from "sharp";
import type { Converted, ImageOperations, ImageWish, Soundness } from "./image-operations.ts";

type Library = typeof import("sharp")["default"];

const decodeSecondsMax = 20;
const jpegQuality = 85;
/** Shares of the longest edge that are tried until the bytes fit. */
const shares = [1, 0.7, 0.5, 0.3];

async function load(): Promise<Library | null> {
  try {
    const { default: library } = await import("sharp");
    // One image at a time matters more than a fast one: the server has other work, and keeps no pixels.
    library.cache(false);
    library.concurrency(1);
    return library;
  } catch {
    // Not installed, or not for this machine: the answer says that images can't be converted here.
    return null;
  }
}

export function nodeImages(): ImageOperations {
  let library: Promise<Library | null> | null = null;
  let last: Promise<unknown> = Promise.resolve();
  /** One after the other: the pixels of several large pictures at once could take all memory. */
  const inTurn = <T>(work: (sharp: Library) => Promise<T>, broken: T, absent: T): Promise<T> => {
    const run = async (): Promise<T> => {
      library ??= load();
      const sharp = await library;
      if (sharp === null) return absent;
      try {
        return await work(sharp);
      } catch {
        // The library throws on what it can't decode, and on more pixels or time than it was given.
        return broken;
      }
    };
    const result = last.then(run);
    last = result;
    return result;
  };
  return {
    check: (bytes, { pixelsMax }) =>
      inTurn<Soundness>((sharp) => decodeAll(sharp, bytes, pixelsMax), "damaged", "absent"),
    convert: (bytes, wish) =>
      inTurn<Converted>((sharp) => convert(sharp, bytes, wish), { kind: "damaged" }, { kind: "absent" }),
  };
}

async function decodeAll(library: Library, bytes: Uint8Array, pixelsMax: number): Promise<"sound"> {
  await opened(library, bytes, pixelsMax).raw().toBuffer();
  return "sound";
}

const opened = (library: Library, bytes: Uint8Array, pixelsMax: number): Sharp =>
  library(bytes, { autoOrient: true, pages: 1, failOn: "error", limitInputPixels: pixelsMax }).timeout({
    seconds: decodeSecondsMax,
  });

async function convert(library: Library, bytes: Uint8Array, wish: ImageWish): Promise<Converted> {
  const open = (): Sharp => opened(library, bytes, wish.pixelsMax);
  const facts = await open().metadata();
  const { width, height } = facts.autoOrient;
  for (const share of shares) {
    const edge = Math.max(1, Math.round(Math.min(wish.edgeMax, Math.max(width, height)) * share));
    const sized = (): Sharp =>
      open().resize({ width: edge, height: edge, fit: "inside", withoutEnlargement: true }).toColourspace("srgb");
    const asJpeg = () => sized().flatten({ background: "white" }).jpeg({ quality: jpegQuality });
    // Photographs stay what they are; drawings and what can be seen through stay sharp, unless that takes too many bytes.
    for (const pipeline of facts.format === "jpeg" ? [asJpeg] : [() => sized().png(), asJpeg]) {
      const { data, info } = await pipeline().toBuffer({ resolveWithObject: true });
      if (data.length > wish.bytesMax) continue;
      const mediaType = info.format === "png" ? "image/png" : "image/jpeg";
      const size = { width: info.width, height: info.height, from: { width, height } };
      return { kind: "converted", bytes: new Uint8Array(data), mediaType, ...size, frames: facts.pages ?? 1 };
    }
  }
  return { kind: "too-large" };
}
