/** Making images fit for providers. `node-images.ts` is the real one; it may be absent from a machine. */
export interface ImageWish {
  /** Pixels of the longest edge, and bytes, of what comes out. */
  readonly edgeMax: number;
  readonly bytesMax: number;
  /** Pixels that are decoded; an image that says it has more is not touched. */
  readonly pixelsMax: number;
}

export type Converted =
  | {
      readonly kind: "converted";
      readonly bytes: Uint8Array;
      readonly mediaType: "image/png" | "image/jpeg";
      readonly width: number;
      readonly height: number;
      /** As it was, upright. */
      readonly from: { readonly width: number; readonly height: number };
      /** Of an animation only the first is kept. */
      readonly frames: number;
    }
  /** This machine has nothing to decode images with. */
  | { readonly kind: "absent" }
  | { readonly kind: "damaged" }
  /** No size is small enough for `bytesMax`. */
  | { readonly kind: "too-large" };

/** `absent`: nobody can tell here. */
export type Soundness = "sound" | "damaged" | "absent";

export interface ImageOperations {
  /** Whether every pixel can be decoded. Never throws. */
  check(bytes: Uint8Array, wish: Pick<ImageWish, "pixelsMax">): Promise<Soundness>;
  /** Upright, in sRGB, without metadata; the same bytes for the same image. Never throws. */
  convert(bytes: Uint8Array, wish: ImageWish): Promise<Converted>;
}
