/** Attachments of an unsent message, as they outlive a reload: the server has their bytes, the page keeps their names. */
import type { Attachment } from "@varve/protocol";
import { parseBlobHash } from "@varve/protocol";

export const filesPlace = (tabId: string): string => `files.${tabId}`;

/** "" when there are none, so that nothing is left behind in the store. */
export const filesText = (files: readonly Attachment[]): string => (files.length === 0 ? "" : JSON.stringify(files));

/** Damaged text reads as no files. */
export function parseFiles(text: string): readonly Attachment[] {
  if (text === "") return [];
  try {
    const read: unknown = JSON.parse(text);
    return Array.isArray(read) ? read.flatMap(fileIn) : [];
  } catch {
    return []; // Damaged: there is nothing to show.
  }
}

function fileIn(value: unknown): readonly Attachment[] {
  if (typeof value !== "object" || value === null) return [];
  if (!("blob" in value && "name" in value && "mediaType" in value)) return [];
  const { name, mediaType } = value;
  const blob = typeof value.blob === "string" ? parseBlobHash(value.blob) : null;
  return blob !== null && typeof name === "string" && typeof mediaType === "string" ? [{ blob, name, mediaType }] : [];
}
