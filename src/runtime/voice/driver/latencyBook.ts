import { type LatencyRecord, type LatencyStage, slowerThanUsual, summarise } from '../../../shared/domain/voiceLatency.ts';
import { voiceLimits as limits } from '../limits.ts';

/** Turns that stand for "now" beside the baseline of those before. */
const recentTurns = 5;

/** The latency records of this runtime, newest last; bounded (VO-76). */
export function createLatencyBook() {
  let records: LatencyRecord[] = [];
  let told = false;
  return {
    /** @returns the stage that made talking slower than usual, once until it is as usual again (VO-77). */
    add(record: LatencyRecord): LatencyStage | null {
      records = [...records, record].slice(-limits.latencyRecords);
      const slower = slowerThanUsual(records.slice(0, -recentTurns), records.slice(-recentTurns), limits);
      const isNews = slower !== null && !told;
      told = slower !== null;
      return isNews ? slower : null;
    },
    /** Newest first. */
    read(count: number): { records: LatencyRecord[]; summary: ReturnType<typeof summarise> } {
      const newest = records.slice(-count).reverse();
      return { records: newest, summary: summarise(newest) };
    },
  };
}
