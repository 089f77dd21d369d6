import type { Attachment } from "svelte/attachments";

/** A box that scrolls must be reachable by key; some browsers see to it themselves, others do not. */
export const scrollFocus: Attachment<HTMLElement> = (element) => {
  element.tabIndex = 0;
};
