import { downloadLimits } from '../limits.ts';

/** Speed of one transfer as a person sees it (DL-18): the average of 5 s, and 0 once no byte came for 2 s. */
export type Speed = {
  add(bytes: number, nowMs: number): void;
  /** Bytes per second. */
  at(nowMs: number): number;
  reset(): void;
};

const slotMs = 250;

/** Bytes are summed in slots of 250 ms, so that the memory of it is bounded at any speed. Times are monotonic ms. */
export function createSpeed(): Speed {
  let slots: { at: number; bytes: number }[] = [];
  let firstAt: number | null = null;
  let lastAt = 0;
  const forget = (nowMs: number) => {
    slots = slots.filter((slot) => slot.at + slotMs > nowMs - downloadLimits.speedWindowMs);
  };
  return {
    add(bytes, nowMs) {
      if (bytes <= 0) return;
      // After a pause the average starts anew: old silence says nothing about the line now.
      if (firstAt === null || nowMs - lastAt >= downloadLimits.speedWindowMs) firstAt = nowMs;
      lastAt = nowMs;
      const newest = slots.at(-1);
      if (newest !== undefined && nowMs - newest.at < slotMs) newest.bytes += bytes;
      else slots.push({ at: nowMs, bytes });
      forget(nowMs);
    },
    at(nowMs) {
      if (firstAt === null || nowMs - lastAt >= downloadLimits.speedZeroAfterMs) return 0;
      forget(nowMs);
      const bytes = slots.reduce((sum, slot) => sum + slot.bytes, 0);
      const from = Math.max(firstAt, nowMs - downloadLimits.speedWindowMs);
      return (bytes * 1000) / Math.max(nowMs - from, slotMs);
    },
    reset() {
      slots = [];
      firstAt = null;
    },
  };
}

/** Time to the end, ms; `null` while nothing moves or the size is not known. */
export function etaMs(received: number, total: number | null, bytesPerSec: number): number | null {
  if (total === null || bytesPerSec <= 0) return null;
  return (Math.max(0, total - received) * 1000) / bytesPerSec;
}
