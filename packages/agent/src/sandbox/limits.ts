/** Bounds of the sandbox, by name; the comment says what happens there. */
export const sandboxLimits = {
  /** The first look at whether a sandbox works here is given up after this; then there is none. */
  probeMs: 5_000,
  /** Connections through one proxy at a time; one more is closed. */
  proxyConnectionsMax: 128,
  /** A host that takes longer to answer a connection is given up. */
  proxyConnectMs: 20_000,
  /** A connection on which nothing moves for this long is closed. */
  proxyIdleMs: 300_000,
  /** Bytes of a request's head; a longer one is refused. */
  proxyHeadBytesMax: 32 * 1024,
  /** Other names of a hidden place that are hidden too; with more of them there is no sandbox. */
  namesMax: 200,
} as const;
