/**
 * Images for the model. One that a provider would refuse spoils every later request of its tab, so what is too large, lies on
 * its side, moves, or is of a kind that only some providers know is converted before it leaves the tool, or refused in words.
 */
import { unreachable } from "@varve/protocol";
import { imageSize } from "image-size";
import type { Converted, ImageOperations } from "./image-operations.ts";
import { toolLimits } from "./limits.ts";
import type { OpenFile } from "./operations.ts";
import { ToolFault } from "./outcome.ts";
import type { ToolOutcome } from "./tool.ts";
import { readUpTo } from "./whole-file.ts";

type ShownKind = "image/png" | "image/jpeg" | "image/gif" | "image/webp";
/** `convertible`: no provider takes it, and it can be made into one that all take. `other`: not even that. */
type ImageKind = ShownKind | "convertible" | "other";

const starts: readonly (readonly [ImageKind, string])[] = [
  ["image/png", "\x89PNG\r\n\x1a\n"],
  ["image/jpeg", "\xff\xd8\xff"],
  ["image/gif", "GIF87a"],
  ["image/gif", "GIF89a"],
  ["convertible", "II*\0"],
  ["convertible", "MM\0*"],
  ["other", "BM"],
  ["other", "\0\0\x01\0"],
  ["other", "8BPS"],
];

/** By content, never by name. */
export function imageKind(start: Uint8Array): ImageKind | null {
  const text = Buffer.from(start.subarray(0, 64)).toString("latin1");
  if (text.startsWith("RIFF") && text.slice(8, 12) === "WEBP") return "image/webp";
  if (text.slice(4, 8) === "ftyp") return heifKind(text.slice(8));
  const found = starts.find(([, magic]) => text.startsWith(magic));
  if (found === undefined) return null;
  // Two letters prove little: a bitmap also says its own size, and holds NUL bytes.
  if (found[1] === "BM") return start.length > 14 && start.subarray(6, 10).every((byte) => byte === 0) ? "other" : null;
  return found[0];
}

/** Films begin in the same way; only the brands tell that it is a picture, and how its pixels are kept. */
function heifKind(brands: string): ImageKind | null {
  if (/avi[fs]/.test(brands)) return "convertible";
  return /hei[cxms]|hev[cx]|mif1/.test(brands) ? "other" : null;
}

interface Image {
  readonly kind: ImageKind;
  readonly shown: string;
}

interface Size {
  readonly width: number;
  readonly height: number;
}

export async function readImage(file: OpenFile, image: Image, images: ImageOperations): Promise<ToolOutcome> {
  const { kind, shown } = image;
  if (kind === "other") throw new ToolFault(`${shown} ${otherWords}`);
  const bytes = await readUpTo(file, toolLimits.imageSourceBytesMax);
  if (bytes === null) {
    const most = toolLimits.imageSourceBytesMax / 1024 ** 2;
    throw new ToolFault(
      `${shown} is an image of ${file.facts.size} bytes; at most ${most} MB can be read. Make it smaller.`,
    );
  }
  const fitted = await fitImage(bytes, images);
  if (fitted.kind === "refused") throw new ToolFault(`${shown} ${fitted.words}`);
  return outcomeOf(shown, fitted);
}

export type FittedImage =
  | {
      readonly kind: "fitted";
      /** The very bytes that came, if every provider takes them. */
      readonly bytes: Uint8Array;
      readonly mediaType: ShownKind;
      readonly width: number;
      readonly height: number;
      /** What was changed, for who looks at it: empty, or it begins with a comma. */
      readonly note: string;
    }
  /** The end of a sentence that begins with the name of the file. */
  | { readonly kind: "refused"; readonly words: string };

/** An image that every provider takes, made of this one, or why there is none. Never throws. */
export async function fitImage(bytes: Uint8Array, images: ImageOperations): Promise<FittedImage> {
  const kind = imageKind(bytes);
  if (kind === null) return refused("is not an image.");
  if (kind === "other") return refused(otherWords);
  const size = sizeOf(bytes);
  if (kind !== "convertible" && (size === null || !isComplete(bytes, kind))) return refused(damagedWords);
  if (size !== null && isBomb(size)) return refused(bombWords(size));
  if (kind !== "convertible" && size !== null && fitsAsIs(bytes, kind, size)) {
    const soundness = await images.check(bytes, { pixelsMax: toolLimits.imageSourcePixelsMax });
    return soundness === "damaged" ? refused(damagedWords) : asItIs(bytes, kind, size);
  }
  const made = await images.convert(bytes, {
    edgeMax: toolLimits.imagePixelsMax,
    bytesMax: toolLimits.imageBytesMax,
    pixelsMax: toolLimits.imageSourcePixelsMax,
  });
  if (made.kind === "damaged") return refused(damagedWords);
  if (made.kind === "too-large") return refused("is too large to be shown in any size. Make it smaller.");
  if (made.kind === "converted") {
    const { mediaType, width, height } = made;
    return { kind: "fitted", bytes: made.bytes, mediaType, width, height, note: noteOf(made, kind) };
  }
  // Nothing can be converted here. What is merely unhandy goes as it is.
  if (kind === "convertible" || size === null) return refused(`${absentWords} Convert it to PNG.`);
  if (!isSmall(bytes, size)) {
    return refused(
      `is ${sizeWords(size)} pixels and ${bytes.length} bytes; at most ${toolLimits.imagePixelsMax} a side and ` +
        `${toolLimits.imageBytesMax} bytes can be shown. It ${absentWords} Make it smaller.`,
    );
  }
  return asItIs(bytes, kind, size);
}

const refused = (words: string): FittedImage => ({ kind: "refused", words });
const asItIs = (bytes: Uint8Array, mediaType: ShownKind, { width, height }: Size): FittedImage => {
  return { kind: "fitted", bytes, mediaType, width, height, note: "" };
};
const otherWords = "is an image of a kind that can't be shown. Convert it to PNG.";
const absentWords = "can't be converted here: the optional package sharp is not installed.";
const damagedWords = "is a damaged image and is not shown.";
const sizeWords = ({ width, height }: Size): string => `${width} × ${height}`;

/** A small file may say that it is an enormous picture; decoding it would take all memory. */
const isBomb = (size: Size): boolean => size.width * size.height > toolLimits.imageSourcePixelsMax;
const bombWords = (size: Size): string =>
  `says it is ${sizeWords(size)} pixels; at most ${toolLimits.imageSourcePixelsMax / 1_000_000} million are decoded.`;

const isSmall = (bytes: Uint8Array, { width, height }: Size): boolean =>
  bytes.length <= toolLimits.imageBytesMax && width <= toolLimits.imagePixelsMax && height <= toolLimits.imagePixelsMax;

/** GIF and what moves is not known to every provider; a photograph on its side is shown so by most. */
function fitsAsIs(bytes: Uint8Array, kind: ShownKind, size: Size & { readonly upright: boolean }): boolean {
  return isSmall(bytes, size) && size.upright && kind !== "image/gif" && !(kind === "image/webp" && moves(bytes));
}

/** The flag of the extended header of WebP. */
const moves = (bytes: Uint8Array): boolean =>
  Buffer.from(bytes.subarray(12, 16)).toString("latin1") === "VP8X" && ((bytes[20] ?? 0) & 2) !== 0;

function noteOf(made: Extract<Converted, { kind: "converted" }>, kind: ImageKind): string {
  const notes = [];
  const smaller = made.width !== made.from.width || made.height !== made.from.height;
  if (smaller) notes.push(`made smaller from ${sizeWords(made.from)}`);
  if (made.frames > 1) notes.push(`the first of ${made.frames} frames`);
  if (notes.length === 0 && kind !== made.mediaType) notes.push("converted");
  return notes.map((note) => `, ${note}`).join("");
}

function outcomeOf(shown: string, image: Extract<FittedImage, { kind: "fitted" }>): ToolOutcome {
  const { bytes, mediaType, width, height, note } = image;
  const summary = sizeWords(image);
  return {
    text: `⟨image ${shown}, ${mediaType}, ${summary} pixels, ${bytes.length} bytes${note}⟩`,
    isError: false,
    images: [{ bytes, mediaType }],
    details: { summary, path: shown, width, height },
  };
}

function sizeOf(bytes: Uint8Array): (Size & { readonly upright: boolean }) | null {
  try {
    const { width, height, orientation = 1 } = imageSize(bytes);
    return width > 0 && height > 0 ? { width, height, upright: orientation === 1 } : null;
  } catch {
    // The library throws on what it can't read: the image is damaged, and said to be.
    return null;
  }
}

/** Cut-off files have a good head; their end is missing. */
function isComplete(bytes: Uint8Array, kind: ShownKind): boolean {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  switch (kind) {
    case "image/png":
      return buffer.lastIndexOf("IEND", undefined, "latin1") !== -1;
    case "image/jpeg":
      return buffer.lastIndexOf(Buffer.from([0xff, 0xd9])) > 2;
    case "image/gif":
      return buffer.lastIndexOf(0x3b) > 12;
    case "image/webp":
      return buffer.length >= 20 && buffer.length >= buffer.readUInt32LE(4) + 8;
    default:
      return unreachable(kind);
  }
}
