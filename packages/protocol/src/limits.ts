/**
 * CONTRACT. Every queue, buffer and page that crosses the protocol has its bound here; the comment says what happens there.
 */
export const limits = {
  /** Rows in a page when none is asked for. */
  pageRowsDefault: 100,
  /** More is cut to this. */
  pageRowsMax: 500,
  /** A page ends before the row that would pass this (UTF-16 units of its JSON), yet always holds one row. */
  pageBytesMax: 256 * 1024,
  /** A row's data that is longer travels clipped, marked `clipped: true`; `GET /chunks/:seq` gives it whole. */
  rowTravelBytesMax: 128 * 1024,
  /** Waiting messages per tab; one more is refused with `queue-full`. */
  queueMax: 100,
  /** Characters of a message; a longer one is refused with `message-too-large`. */
  messageCharsMax: 256 * 1024,
  /** Bytes of any request body but a blob's; a longer one is refused with `body-too-large`. */
  bodyBytesMax: 2 * 1024 * 1024,
  /** Bytes of one uploaded blob. */
  blobBytesMax: 20 * 1024 * 1024,
  /** Attachments of one message. */
  attachmentsMax: 20,
  /** Characters of an open text block; then it is sealed and continued in a new one. Thinking is never split. */
  openTextCharsMax: 1024 * 1024,
  /** Live output of one tool sent as deltas; after it only the `output` register. */
  liveOutputCharsMax: 64 * 1024,
  /** The `output` register keeps this much of the end. */
  outputTailChars: 4 * 1024,
  /** The register is renewed at most this often. */
  outputIntervalMs: 250,
  /** A tool call that has run this long is shown as one that waiting messages wait for. */
  longCallMs: 3_000,
  /** Sealed rows kept in a client's window, and their JSON size; beyond either, rows at the far end are evicted. */
  windowRowsMax: 400,
  windowBytesMax: 4 * 1024 * 1024,
  /** Ops a tab's ring holds; a subscription that fell off gets a head. */
  ringOpsMax: 512,
  ringBytesMax: 1024 * 1024,
  /** Coalescing interval of a focused and of a background subscription. */
  focusedIntervalMs: 33,
  backgroundIntervalMs: 250,
  /** With more than this buffered a tick is skipped; above the second the connection is closed as slow. */
  socketBufferSkipBytes: 256 * 1024,
  socketBufferCloseBytes: 4 * 1024 * 1024,
  /** Data-frame heartbeat and the silence after which either side closes. */
  pingIntervalMs: 15_000,
  silenceMaxMs: 40_000,
  /** Tabs one connection may follow. */
  subscriptionsMax: 100,
  /** Bytes of one frame from a client; more closes the connection. */
  commandBytesMax: 1024 * 1024,
  /** Title of a tab. */
  titleCharsMax: 200,
} as const;
