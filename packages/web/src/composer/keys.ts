/** The keys of a text field that matter here. While an input method composes a word, Enter belongs to it. */
export interface KeyPress {
  readonly key: string;
  readonly shiftKey: boolean;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly isComposing: boolean;
}

/** Enter sends, with Shift it breaks the line. On a phone Enter always breaks the line: the button sends. */
export function sendsOn(press: KeyPress, phone: boolean): boolean {
  if (press.key !== "Enter" || press.isComposing) return false;
  if (press.ctrlKey || press.metaKey) return true;
  return !press.shiftKey && !phone;
}
