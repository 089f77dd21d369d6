import type { BlobHash, ErrorBody } from "@varve/protocol";

/** A fault of the world is a value: nothing here throws. */
export type Result<T> = { readonly ok: true; readonly body: T } | { readonly ok: false; readonly error: ErrorBody };

export type Method = "GET" | "POST" | "PATCH" | "DELETE";

/** The page's way to the server. `fetch-http.ts` is the real one. */
export interface Http {
  json(method: Method, path: string, body?: unknown): Promise<Result<unknown>>;
  upload(path: string, bytes: Blob): Promise<Result<unknown>>;
  download(path: string): Promise<Result<Blob>>;
}

export interface UploadedBlob {
  readonly blob: BlobHash;
  readonly mediaType: string;
  readonly size: number;
}
