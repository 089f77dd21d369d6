/** Directories to work in, settings, uploaded files. */
import { fitImage, type ImageOperations, type SandboxOperations } from "@varve/agent";
import type { BlobStore } from "@varve/log";
import { type Fault, fault, isFault, limits, parseBlobHash } from "@varve/protocol";
import { z } from "zod";
import { dataHeaders } from "../answer.ts";
import type { Directories } from "../directories.ts";
import type { Settings } from "../settings.ts";
import type { Workspace } from "../workspace/workspace-contract.ts";
import { badId, bytesRoute, jsonRoute, okOr, type Route, reply, route } from "./route.ts";

export interface PlacePorts {
  readonly workspace: Workspace;
  readonly directories: Directories;
  readonly settings: Settings;
  readonly sandbox?: Pick<SandboxOperations, "find"> | undefined;
  readonly blobs: BlobStore;
  readonly images: ImageOperations;
}

/** Directories last worked in that are offered. */
const recentMax = 10;
/** Shown by a page as what they are; every other type is only ever handed over as bytes. */
const shownTypes = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const mediaType = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,80}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,80}$/;

const directorySchema = z.object({
  path: z.string(),
  parent: z.string().nullable(),
  entries: z.array(z.object({ name: z.string(), path: z.string(), git: z.boolean() })),
  /** More entries are there than are listed. */
  more: z.boolean(),
  recent: z.array(z.string()),
});
const settingsSchema = z.object({
  paths: z.record(z.string(), z.string()),
  values: z.record(z.string(), z.unknown()),
  /** Whether commands can be put in a sandbox on this machine, and if not, why. */
  sandbox: z.object({ available: z.boolean(), reason: z.string().optional() }),
});

export const placeRoutes = (ports: PlacePorts): readonly Route[] => [
  route({
    method: "GET",
    path: "/directories",
    summary: "The folders in a directory; hidden ones are left out.",
    query: { path: "An absolute path; the home directory of the server's user unless said." },
    answers: { status: 200, schema: directorySchema },
    run: async ({ query }) => {
      const listed = await ports.directories.list(query.get("path"));
      return "kind" in listed ? listed : reply(200, { ...listed, recent: recentOf(ports.workspace) });
    },
  }),
  route({
    method: "GET",
    path: "/settings",
    summary: "Settings, and where the plain files are that a person may want to edit.",
    answers: { status: 200, schema: settingsSchema },
    run: async () => reply(200, await settingsBody(ports)),
  }),
  jsonRoute({
    method: "PATCH",
    path: "/settings",
    summary: "Changes settings; null puts one back to its default.",
    body: z.record(z.string(), z.unknown()),
    answers: { status: 200, schema: settingsSchema },
    run: async ({ body }) => (await ports.settings.change(body)) ?? reply(200, await settingsBody(ports)),
  }),
  bytesRoute({
    method: "POST",
    path: "/blobs",
    summary:
      "Uploads a file as raw bytes; attach it to a message by the hash that is answered. A picture may be kept smaller, " +
      "upright, or as another type than it came.",
    bytesMax: limits.blobBytesMax,
    answers: { status: 201, schema: z.object({ blob: z.string(), mediaType: z.string(), size: z.number() }) },
    run: async ({ body, headers }) => {
      const type = headers.get("content-type")?.split(";", 1)[0]?.trim().toLowerCase() ?? "application/octet-stream";
      if (!mediaType.test(type)) return fault("type-refused", "The media type of the file is not a media type.");
      if (body.length === 0) return fault("bad-request", "The file is empty.", "Nothing was kept.");
      const file = await fitForProviders({ bytes: body, mediaType: type }, ports.images);
      return isFault(file) ? file : okOr(await ports.blobs.put(file.bytes, file.mediaType), 201);
    },
  }),
  route({
    method: "GET",
    path: "/blobs/:hash",
    summary: "The bytes of a file.",
    answers: { status: 200, type: "application/octet-stream" },
    run: async ({ params }) => blobResponse(ports.blobs, params.hash ?? ""),
  }),
];

interface UploadedFile {
  readonly bytes: Uint8Array;
  readonly mediaType: string;
}

/**
 * What is called a picture goes to providers as one, and a picture that they refuse would spoil every later request of its tab.
 * A drawing in SVG is text, and reaches them as such.
 */
async function fitForProviders(file: UploadedFile, images: ImageOperations): Promise<UploadedFile | Fault> {
  if (!file.mediaType.startsWith("image/") || file.mediaType.startsWith("image/svg")) return file;
  const fitted = await fitImage(file.bytes, images);
  if (fitted.kind === "fitted") return fitted;
  return fault("type-refused", `The file ${fitted.words}`, "Nothing was kept.");
}

async function blobResponse(blobs: BlobStore, name: string) {
  const hash = parseBlobHash(name);
  if (hash === null) return badId("file");
  const found = await blobs.get(hash);
  if (found === null) return fault("unknown-blob", "There is no such file.");
  const type = shownTypes.includes(found.mediaType) ? found.mediaType : "application/octet-stream";
  const headers = {
    ...dataHeaders,
    "content-type": type,
    "content-disposition": type === found.mediaType ? "inline" : "attachment",
    // Named by the hash of its bytes, so it never changes.
    "cache-control": "private, max-age=31536000, immutable",
  };
  return new Response(new Uint8Array(found.bytes), { status: 200, headers });
}

function recentOf(workspace: Workspace): readonly string[] {
  const byUse = workspace.list().toSorted((a, b) => b.updatedAt - a.updatedAt);
  return [...new Set(byUse.map(({ cwd }) => cwd))].slice(0, recentMax);
}

async function settingsBody({ settings, sandbox }: PlacePorts) {
  const found = (await sandbox?.find()) ?? { available: false, reason: "This server has none." };
  const told = found.available ? { available: true } : { available: false, reason: found.reason };
  return { ...settings.body(), sandbox: told };
}
