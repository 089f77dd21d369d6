/** Longest edge of a picture that is sent; providers shrink larger ones themselves, after the bytes were paid for. */
export const IMAGE_EDGE_MAX = 1568;
const JPEG_QUALITY = 0.9;

/** The size at which a picture is sent; null when it fits as it is. */
export function shrunkSize(width: number, height: number): { readonly width: number; readonly height: number } | null {
  const longest = Math.max(width, height);
  if (longest <= IMAGE_EDGE_MAX) return null;
  const scale = IMAGE_EDGE_MAX / longest;
  return { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) };
}

/** Shrinks a picture in the browser. What cannot be decoded goes out unchanged: the server judges it. */
export async function shrinkImage(file: Blob): Promise<Blob> {
  if (!file.type.startsWith("image/")) return file;
  try {
    const bitmap = await createImageBitmap(file);
    const size = shrunkSize(bitmap.width, bitmap.height);
    if (size === null) return file;
    const canvas = new OffscreenCanvas(size.width, size.height);
    canvas.getContext("2d")?.drawImage(bitmap, 0, 0, size.width, size.height);
    bitmap.close();
    const type = file.type === "image/jpeg" ? file.type : "image/png";
    return await canvas.convertToBlob({ type, quality: JPEG_QUALITY });
  } catch {
    return file; // A picture that this browser cannot read may still be one that the server can.
  }
}
