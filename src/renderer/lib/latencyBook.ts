import { createStore, type StoreApi } from 'zustand/vanilla';
import type { LatencyRecord } from '../../shared/domain/voiceLatency.ts';
import type { VoiceView } from '../../shared/domain/voiceView.ts';
import type { Api } from './connection.ts';
import type { Live } from './live.ts';

/** The measured times of spoken turns, by turn (VO-76): those that this page saw, and on demand those from before. */
export type LatencyBook = {
  readonly records: StoreApi<ReadonlyMap<string, LatencyRecord>>;
  /** Reads those that the runtime keeps, once. */
  load(): void;
};

/** As many as the runtime keeps. */
const most = 200;

export function createLatencyBook(deps: { api: Api; live: StoreApi<Live<VoiceView>> }): LatencyBook {
  const records = createStore<ReadonlyMap<string, LatencyRecord>>(() => new Map());
  let loaded = false;
  const add = (more: readonly LatencyRecord[]) => {
    const all = [...records.getState(), ...more.map((record): [string, LatencyRecord] => [record.turnId, record])];
    records.setState(new Map(all.slice(-most)), true);
  };
  deps.live.subscribe(({ value }) => {
    const newest = value?.latency ?? null;
    if (newest !== null && records.getState().get(newest.turnId) !== newest) add([newest]);
  });
  return {
    records,
    load() {
      if (loaded) return;
      loaded = true;
      deps.api.voice.latency({ limit: most }).then(
        (found) => add([...found.records].reverse()),
        () => {
          // Asked for again with the next look; until then the times of old turns are not known.
          loaded = false;
        },
      );
    },
  };
}
