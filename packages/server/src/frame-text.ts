import type { Frame } from "@varve/protocol";

const texts = new WeakMap<Frame, string>();

/** A frame as it travels. One that goes to many readers is written out once: a frame never changes after it was made. */
export function frameText(frame: Frame): string {
  const known = texts.get(frame);
  if (known !== undefined) return known;
  const text = JSON.stringify(frame);
  texts.set(frame, text);
  return text;
}
