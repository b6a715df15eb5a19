const mb = 1024 * 1024;

/** models page 9.5. Bytes and ms. */
export const downloadLimits = {
  filesAtOnce: 3,
  filesPerHost: 2,
  connectMs: 15_000,
  firstByteMs: 30_000,
  snapshotMs: 250,
  rowUpdateMs: 2_000,
  backoffFirstMs: 1_000,
  backoffMaxMs: 60_000,
  backoffSpread: 0.2,
  fastTries: 8,
  slowRetryMs: 5 * 60_000,
  giveUpAfterMs: 24 * 60 * 60_000,
  /** 429 and 503 with a longer Retry-After ask the person. */
  retryAfterAsksMs: 15 * 60_000,
  /** Progress after which the tries count from 0 again (DL-16). */
  triesResetBytes: 5 * mb,
  diskMargin: 1024 * mb,
  diskFloor: 512 * mb,
  diskLookEveryBytes: 256 * mb,
  diskLookEveryMs: 30_000,
  /** DL-17. */
  silentMs: 30_000,
  slowBytesPerSecond: 1024,
  slowMs: 60_000,
  /** A wall clock that ran this much further than the monotonic one means: the machine slept. */
  sleepMs: 5_000,
  speedWindowMs: 5_000,
  speedZeroAfterMs: 2_000,
  redirects: 10,
  /** Fresh links that a source may give without one new byte before the answer counts as a failure (DL-08). */
  expiredLinksInARow: 3,
  finishedShown: 32,
  /** What one write to disk and one step of the hash take together: ~0.5 ms of SHA-256 per step. */
  writeBytes: 256 * 1024,
  hashReadBytes: 1 * mb,
  firstLineCharacters: 120,
  packageStallMs: 60_000,
  /** A package client that fails is tried this often before the job fails: its own retries are behind it already. */
  packageTries: 3,
  packageLookMs: 500,
  packageLogBytes: 64 * 1024,
  archiveMembers: 20_000,
  archiveBytes: 4096 * mb,
  archiveRatio: 100,
} as const;
