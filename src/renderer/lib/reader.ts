import { createStore, type StoreApi } from 'zustand/vanilla';
import type { Settings } from '../../shared/contract/settings.ts';
import type { MessageId } from '../../shared/domain/ids.ts';
import { summaryCharacters, type VoicePhase } from '../../shared/domain/voice.ts';
import type { VoiceView } from '../../shared/domain/voiceView.ts';
import type { Clock } from '../../shared/util/clock.ts';
import type { Sound } from '../audio/sound.ts';
import type { Audition } from './audition.ts';
import type { Api } from './connection.ts';
import type { Live } from './live.ts';

/** "Read it in full" (UX-44): an answer that talk had named and not read, from its first word to its last. */
export type Reader = {
  readonly reading: StoreApi<MessageId | null>;
  /** @param text  the answer as it was written. */
  read(id: MessageId, text: string): void;
  stop(): void;
  close(): void;
};

/** While somebody talks, or an answer is being said, nothing else sounds (VO-108). */
const free: readonly VoicePhase[] = ['off', 'standby', 'failed'];

/**
 * Whether talk leaves something of this answer out: code and tables, and lists that are long (VO-67).
 *
 * @param text  Markdown.
 */
export function isReadInPart(text: string): boolean {
  const rows = text.match(/^ *(?:[-*+]|\d+[.)]) +\S.*$/gm) ?? [];
  return /^ *(?:```|~~~)/m.test(text) || /^ *\|.*\| *$/m.test(text) || rows.join('').length > summaryCharacters;
}

export function createReader(deps: {
  api: Api;
  clock: Clock;
  sound?: Sound | undefined;
  live: { voice: StoreApi<Live<VoiceView>>; settings: StoreApi<Live<Settings>> };
  onFail: (thrown: unknown) => void;
}): Reader {
  const { api, clock, live } = deps;
  const reading = createStore<MessageId | null>(() => null);
  let audition: Audition | null = null;
  let wish = 0;
  const load = async (): Promise<Audition> => {
    const { createAudition } = await import('./audition.ts');
    audition ??= createAudition({
      api,
      clock,
      openSound: async () => deps.sound ?? (await import('../audio/browserSound.ts')).browserSound,
      onError: () => undefined,
    });
    return audition;
  };
  const stop = () => {
    wish += 1;
    audition?.close();
    reading.setState(null, true);
  };
  const unwatch = live.voice.subscribe(({ value }) => {
    if (reading.getState() !== null && value !== null && !free.includes(value.phase)) stop();
  });
  const read = async (id: MessageId, text: string): Promise<void> => {
    stop();
    const mine = wish;
    reading.setState(id, true);
    const settings = live.settings.getState().value;
    const reader = await load();
    if (mine !== wish) return;
    const unfollow = reader.state.subscribe(({ phase, error }) => {
      if (mine === wish && phase !== 'still') return;
      unfollow();
      if (mine !== wish) return;
      stop();
      if (error !== null) deps.onFail(error);
    });
    await reader.play(
      { voiceId: settings?.voiceId ?? null, text, speed: settings?.voiceSpeed ?? 1, written: true },
      settings?.loudspeaker ?? null,
    );
  };
  return {
    reading,
    read(id, text) {
      read(id, text).catch((thrown: unknown) => {
        stop();
        deps.onFail(thrown);
      });
    },
    stop,
    close() {
      unwatch();
      stop();
    },
  };
}
