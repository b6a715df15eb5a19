import type { LatencyMark, LatencyRecord } from '../../shared/domain/voiceLatency.ts';

/** The stopwatch of one spoken turn. It only computes: whoever marks brings the time. */
export type TurnWatch = {
  /** The first time of a mark counts. @param atMs  monotonic. */
  mark(name: Exclude<LatencyMark, 'speechEnd'>, atMs: number): void;
  bargeIn(onsetMs: number): void;
  /** Nothing sounds any more after the barge-in. */
  silent(atMs: number): void;
  record(facts: Pick<LatencyRecord, 'turnId' | 'models' | 'device' | 'speculated' | 'words'>): LatencyRecord;
};

/**
 * @param lastVoicedMs  monotonic time of the last voiced frame: all marks count from it (VO-76). A mark before it, as of a reply that was
 *                      begun in a pause which turned out to be the end, counts as 0.
 */
export function createTurnWatch(lastVoicedMs: number): TurnWatch {
  const marks: LatencyRecord['marks'] = { speechEnd: 0 };
  let barge: { onsetMs: number; silentMs: number | null } | null = null;
  const since = (atMs: number) => Math.max(0, atMs - lastVoicedMs);
  return {
    mark(name, atMs) {
      marks[name] ??= since(atMs);
    },
    bargeIn(onsetMs) {
      barge ??= { onsetMs: since(onsetMs), silentMs: null };
    },
    silent(atMs) {
      if (barge !== null && barge.silentMs === null) barge = { ...barge, silentMs: Math.max(barge.onsetMs, since(atMs)) };
    },
    record: (facts) => ({ ...facts, marks: { ...marks }, bargeIn: barge }),
  };
}
