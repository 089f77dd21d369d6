/**
 * Images for the model. One that a provider would refuse spoils every later request of its tab, so what is too large, of
 * another kind or cut off never leaves the tool.
 */
import { unreachable } from "@varve/protocol";
import { imageSize } from "image-size";
import { toolLimits } from "./limits.ts";
import type { OpenFile } from "./operations.ts";
import { ToolFault } from "./outcome.ts";
import type { ToolOutcome } from "./tool.ts";
import { readUpTo } from "./whole-file.ts";

type ImageKind = "image/png" | "image/jpeg" | "image/gif" | "image/webp" | "other";

const starts: readonly (readonly [ImageKind, string])[] = [
  ["image/png", "\x89PNG\r\n\x1a\n"],
  ["image/jpeg", "\xff\xd8\xff"],
  ["image/gif", "GIF87a"],
  ["image/gif", "GIF89a"],
  ["other", "BM"],
  ["other", "II*\0"],
  ["other", "MM\0*"],
  ["other", "\0\0\x01\0"],
  ["other", "8BPS"],
];

/** By content, never by name. `other` is an image that models can't see. */
export function imageKind(start: Uint8Array): ImageKind | null {
  const text = Buffer.from(start.subarray(0, 16)).toString("latin1");
  if (text.startsWith("RIFF") && text.slice(8, 12) === "WEBP") return "image/webp";
  const found = starts.find(([, magic]) => text.startsWith(magic));
  if (found === undefined) return null;
  // Two letters prove little: a bitmap also says its own size, and holds NUL bytes.
  if (found[1] === "BM") return start.length > 14 && start.subarray(6, 10).every((byte) => byte === 0) ? "other" : null;
  return found[0];
}

export async function readImage(
  file: OpenFile,
  image: { readonly kind: ImageKind; readonly shown: string },
): Promise<ToolOutcome> {
  const { kind, shown } = image;
  if (kind === "other") throw new ToolFault(`${shown} is an image of a kind that can't be shown. Convert it to PNG.`);
  const bytes = await readUpTo(file, toolLimits.imageBytesMax);
  if (bytes === null) {
    throw new ToolFault(
      `${shown} is an image of ${file.facts.size} bytes; at most 5 MB can be shown. Make it smaller.`,
    );
  }
  const size = sizeOf(bytes);
  if (size === null || !isComplete(bytes, kind)) throw new ToolFault(`${shown} is a damaged image and is not shown.`);
  const { width, height } = size;
  if (width > toolLimits.imagePixelsMax || height > toolLimits.imagePixelsMax) {
    throw new ToolFault(
      `${shown} is ${width} × ${height} pixels; at most ${toolLimits.imagePixelsMax} a side can be shown. Make it smaller.`,
    );
  }
  const summary = `${width} × ${height}`;
  return {
    text: `⟨image ${shown}, ${kind}, ${summary} pixels, ${bytes.length} bytes⟩`,
    isError: false,
    images: [{ bytes, mediaType: kind }],
    details: { summary, path: shown, width, height },
  };
}

function sizeOf(bytes: Uint8Array): { readonly width: number; readonly height: number } | null {
  try {
    const { width, height } = imageSize(bytes);
    return width > 0 && height > 0 ? { width, height } : null;
  } catch {
    // The library throws on what it can't read: the image is damaged, and said to be.
    return null;
  }
}

/** Cut-off files have a good head; their end is missing. */
function isComplete(bytes: Uint8Array, kind: Exclude<ImageKind, "other">): boolean {
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
