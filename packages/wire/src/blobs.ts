/** Attachments and images as parts. The bytes are looked up by hash; what can't be sent becomes a constant text. */
import { Buffer } from "node:buffer";
import type { Attachment, BlobHash, StoredRow } from "@varve/protocol";
import type { UserPart } from "./model-message.ts";
import type { Profile } from "./profile.ts";
import { texts } from "./texts.ts";
import { viewOf } from "./view.ts";
import { wellFormedText } from "./well-formed.ts";

export interface ResolvedBlob {
  readonly base64: string;
}
/** Pure: the caller has read what `neededBlobs` names. Undefined means that the bytes are gone. */
export type BlobLookup = (hash: BlobHash) => ResolvedBlob | undefined;

/** A blob as rows name it. */
export type BlobReference = Pick<Attachment, "blob" | "mediaType"> & { readonly name?: string };

const imageTypes: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);
const textTypes = /^(text\/|application\/(json|xml|yaml|toml|javascript|typescript)$|image\/svg\+xml$)/;

/** Never throws and never yields a media type that a provider adapter would refuse. */
export function blobPart(reference: BlobReference, blobs: BlobLookup, profile: Profile): UserPart {
  const { blob, mediaType } = reference;
  const name = wellFormedText(reference.name ?? mediaType);
  const found = blobs(blob);
  if (found === undefined) return { type: "text", text: texts.missingBlob(name) };
  if (imageTypes.has(mediaType) && profile.images) return { type: "file", mediaType, data: found.base64 };
  if (mediaType === "application/pdf" && profile.pdf) {
    return { type: "file", mediaType, data: found.base64, filename: name };
  }
  if (textTypes.test(mediaType)) {
    const content = wellFormedText(Buffer.from(found.base64, "base64").toString("utf8"));
    return { type: "text", text: texts.textFile(name.replaceAll('"', "'"), content) };
  }
  return { type: "text", text: texts.refusedFile(name, mediaType) };
}

/** What a fold of these rows will look up, each once, so that the caller can read it beforehand. */
export function neededBlobs(rows: readonly StoredRow[]): readonly BlobHash[] {
  const view = viewOf(rows);
  return blobsOf(rows.filter((row) => !view.isReplaced(row.seq)));
}

/** What these rows name, each once. */
export function blobsOf(rows: readonly StoredRow[]): readonly BlobHash[] {
  const named = new Set<BlobHash>();
  for (const row of rows) {
    if (row.type === "text") for (const { blob } of row.data.attachments ?? []) named.add(blob);
    if (row.type === "tool_result") for (const { blob } of row.data.images ?? []) named.add(blob);
  }
  return [...named];
}
