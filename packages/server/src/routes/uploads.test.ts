import { createHash } from "node:crypto";
import { pageSchema } from "@varve/protocol/schema";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { asToken, type House, openHouse } from "../testing/house.ts";
import { bombPng, hollowPng, jpeg, movingGif, png, turnedJpeg, webp, widePng } from "../testing/pictures.ts";

let house: House;
/** The package that converts is there. */
let able: boolean;

beforeAll(async () => {
  house = await openHouse({ script: [{ reply: { blocks: [{ type: "text", text: "fine" }] }, times: "always" }] });
  able = (await house.parts.operations.images.check(png, { pixelsMax: 1 })) !== "absent";
});
afterAll(() => house[Symbol.asyncDispose]());

const hashOf = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

function upload(body: Uint8Array, type: string, at: House = house) {
  const headers = { ...asToken(at.parts.token, "POST", "").headers, "content-type": type };
  return at.memory({ method: "POST", path: "/api/blobs", headers, body });
}

/** The kept picture: what was answered, and its bytes. */
async function kept(bytes: Uint8Array, type: string) {
  const reply = await upload(bytes, type);
  expect(reply.status, reply.text).toBe(201);
  const answer = Object(reply.json);
  const blob = String(Reflect.get(answer, "blob"));
  const found = await house.parts.doors.app.request(`http://127.0.0.1:4477/api/blobs/${blob}`, {
    headers: { host: "127.0.0.1:4477", authorization: `Bearer ${house.parts.token}` },
  });
  const held = Buffer.from(await found.arrayBuffer());
  expect(answer).toEqual({ blob: hashOf(held), mediaType: found.headers.get("content-type"), size: held.length });
  return { bytes: held, mediaType: String(Reflect.get(answer, "mediaType")) };
}

/** Of a PNG, and of a JPEG with one plain frame. */
function sizeOf(picture: Buffer): readonly number[] {
  if (picture.subarray(1, 4).toString("latin1") === "PNG") return [picture.readUInt32BE(16), picture.readUInt32BE(20)];
  const frame = picture.indexOf(Buffer.from("ffc0", "hex"));
  return [picture.readUInt16BE(frame + 7), picture.readUInt16BE(frame + 5)];
}

describe("uploaded pictures", () => {
  test.each([
    ["image/png", png],
    ["image/jpeg", jpeg],
    ["image/webp", webp],
  ])("[HTTP-104] %s that every provider takes is kept as it came", async (type, bytes) => {
    expect(await kept(bytes, type)).toEqual({ bytes, mediaType: type });
  });

  test.for([
    { name: "on its side, with Exif", bytes: turnedJpeg, type: "image/jpeg", becomes: "image/jpeg", size: [1, 2] },
    { name: "that moves", bytes: movingGif, type: "image/gif", becomes: "image/png", size: [2, 2] },
    { name: "that is too wide", bytes: widePng, type: "image/png", becomes: "image/png", size: [2_000, 1] },
    { name: "under the name of another", bytes: movingGif, type: "image/webp", becomes: "image/png", size: [2, 2] },
  ])("[HTTP-104] a picture $name is kept as one that providers take", async ({ bytes, type, becomes, size }, at) => {
    at.skip(!able, "sharp is not installed");
    const picture = await kept(bytes, type);
    expect(picture.mediaType).toBe(becomes);
    expect(sizeOf(picture.bytes)).toEqual(size);
    expect(picture.bytes.includes("Exif")).toBe(false);
    expect(await kept(bytes, type)).toEqual(picture);
    // What came is not held beside it.
    expect((await house.call("GET", `/api/blobs/${hashOf(bytes)}`)).status).toBe(404);
  });

  test("[HTTP-104] a picture keeps its bytes, whatever other picture it is called", async () => {
    const other = Buffer.concat([png, Buffer.from("called a JPEG")]);
    expect(await kept(other, "image/jpeg")).toEqual({ bytes: other, mediaType: "image/png" });
  });

  test.each([
    { name: "eight bytes of a PNG", bytes: png.subarray(0, 8), type: "image/png", words: /damaged/ },
    { name: "half a PNG", bytes: png.subarray(0, 60), type: "image/png", words: /damaged/ },
    { name: "a text", bytes: Buffer.from("no picture"), type: "image/png", words: /The file is not an image/ },
    { name: "a page", bytes: Buffer.from("<script>1</script>"), type: "image/gif", words: /not an image/ },
    { name: "an icon", bytes: Buffer.from("\0\0\x01\0\x01\0"), type: "image/x-icon", words: /Convert it to PNG/ },
    { name: "a bomb", bytes: bombPng, type: "image/png", words: /60000 × 60000 pixels; at most 64 million/ },
  ])("[HTTP-105] $name is refused in words and not kept", async ({ bytes, type, words }) => {
    const reply = await upload(bytes, type);
    expect(reply).toMatchObject({
      status: 415,
      json: { error: { code: "type-refused", message: expect.stringMatching(words), hint: "Nothing was kept." } },
    });
    expect((await house.call("GET", `/api/blobs/${hashOf(bytes)}`)).status).toBe(404);
  });

  test("[HTTP-105] so is one whose head and end are sound and whose pixels are not", async (at) => {
    at.skip(!able, "sharp is not installed");
    expect(await upload(hollowPng, "image/png")).toMatchObject({ status: 415 });
  });

  test.each([
    ["text/plain", Buffer.from("words")],
    ["application/pdf", Buffer.from("%PDF-1.7")],
    ["image/svg+xml", Buffer.from("<svg/>")],
    ["application/octet-stream", movingGif],
    ["text/html", png.subarray(0, 8)],
  ])("[HTTP-105] %s is no picture and is kept as it came", async (type, bytes) => {
    const reply = await upload(bytes, type);
    expect(reply).toMatchObject({ status: 201, json: { blob: hashOf(bytes), mediaType: type, size: bytes.length } });
  });
});

test("[HTTP-106] a file that is attached is what it was kept as, whatever the message calls it", async () => {
  const text = Buffer.from("a text that is called a picture");
  await upload(text, "text/plain");
  const { id } = await house.tab();
  const attachments = [{ blob: hashOf(text), mediaType: "image/png", name: "a.png" }];
  const sent = await house.call("POST", `/api/tabs/${id}/messages`, { id: "m-called", text: "look", attachments });
  expect(sent.status, sent.text).toBe(202);
  const page = pageSchema.parse((await house.call("GET", `/api/tabs/${id}/chunks`)).json);
  const row = page.chunks.find((found) => found.id === "m-called");
  expect(row).toMatchObject({ data: { attachments: [{ ...attachments[0], mediaType: "text/plain" }] } });
});
