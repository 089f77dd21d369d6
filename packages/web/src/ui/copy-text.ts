/**
 * Copying, also where the browser keeps the clipboard from the page: over plain http from another machine it is off, and a
 * selection is copied by the browser's old command instead. Whether that worked is told, never assumed.
 */
export type CopyOutcome = "copied" | "insecure" | "refused";

/** `near`: the control that was used. Inside an open dialog only what is in the dialog can be selected. */
export async function copyText(text: string, near: HTMLElement): Promise<CopyOutcome> {
  if (navigator.clipboard !== undefined) {
    try {
      await navigator.clipboard.writeText(text);
      return "copied";
    } catch {
      // Refused by a setting or a lost focus: the selection may still do.
    }
  }
  if (copySelection(text, near)) return "copied";
  return window.isSecureContext ? "refused" : "insecure";
}

function copySelection(text: string, near: HTMLElement): boolean {
  const field = document.createElement("textarea");
  field.value = text;
  field.readOnly = true;
  field.className = "hidden-text";
  field.dataset.kept = "";
  const host = near.closest("dialog, [popover]") ?? document.body;
  host.append(field);
  const focused = document.activeElement;
  try {
    field.select();
    return document.execCommand("copy");
  } catch {
    return false; // The browser has no such command any more.
  } finally {
    field.remove();
    if (focused instanceof HTMLElement) focused.focus({ preventScroll: true });
  }
}
