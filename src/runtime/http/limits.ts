/** http-backend page, section 3, and the bounds of this folder. Sizes in bytes, times in ms. */
export const httpLimits = {
  jsonBytes: 2 * 1024 * 1024,
  loginBytes: 4 * 1024,
  headerBytes: 16 * 1024,
  addressBytes: 8 * 1024,
  headerMs: 10_000,
  bodyIdleMs: 30_000,
  keepAliveMs: 65_000,
  /** How often Node looks for slow header senders; a sender is cut at most this late. */
  checkMs: 2_000,
  connections: 256,
  requestsAtWork: 64,
  streams: 32,
  streamsPerKey: 16,
  /** A frame holds a whole unsent text: 1 Mi UTF-16 units, up to three bytes each, beside 2 MiB of JSON as over HTTP. */
  frameBytes: 5 * 1024 * 1024,
  /** A message up of a voice line: a frame of the microphone, or a text in up to three bytes a unit. */
  lineFrameBytes: 16 * 1024,
  /** Speech that a page leaves unread: far more than is ever made ahead (two phrases of 30 s at 48 kHz). Beyond it its line is closed. */
  lineBufferBytes: 16 * 1024 * 1024,
  /** Voice lines at once; one of them has the microphone. */
  lines: 16,
  jsonDepth: 64,
  heartbeatMs: 15_000,
  /** A reader that leaves this much unread makes its streams wait; the runtime's own buffers then bound them. */
  socketBufferBytes: 1024 * 1024,
  loginTries: 5,
  loginWindowMs: 60_000,
  /** SV-04: what a call gets before the server closes. */
  drainMs: 5_000,
  flushMs: 20,
  closeMs: 1_000,
  staticFiles: 1024,
} as const;

/** The same names with numbers that a test may shrink. */
export type HttpLimits = { readonly [K in keyof typeof httpLimits]: number };
