import { type AppError, isAppError, toAppError } from '../../../shared/errors/appError.ts';
import { detach } from '../../../shared/util/detach.ts';
import type { SpeechToText } from '../../inference/speechToText.ts';
import type { TextToSpeech } from '../../inference/textToSpeech.ts';
import type { Vad, VadModel, VadStream } from '../../inference/vad.ts';
import type { Logger } from '../../platform/ports.ts';

/** What serves while voice is armed. A null one is not there: push-to-talk goes on without it (VO-19, VO-64). */
export type Held = {
  readonly activity: { readonly stream: VadStream; readonly model: VadModel } | null;
  readonly listen: { readonly modelId: string; readonly languages: readonly string[] };
  /** Loaded after the others: nobody waits for the voice before the first question was asked. */
  readonly speak: { readonly modelId: string } | null;
};

export type Leases = {
  /** Loads what listens, speaks and notices speech; ends in `ready` or `failed` of this number, unless it was released before. */
  take(lease: number, options: { withoutActivity: boolean; speaks: boolean }): void;
  /** Gives them back: what still loads is no longer waited for. Another number than the present one is nothing. */
  release(lease: number): void;
  /** What is held; null while nothing is. */
  held(): Held | null;
};

/**
 * The voice roles of the runtime. Giving back ends our use; when the models leave memory is the engines' affair.
 *
 * @param on.missing  VAD_UNAVAILABLE or TTS_UNAVAILABLE of a role that may be missing.
 */
export function createLeases(deps: {
  vad: Vad;
  speechToText: SpeechToText;
  textToSpeech: TextToSpeech;
  log: Logger;
  on: { ready(lease: number, held: Held): void; missing(error: AppError): void; failed(lease: number, error: AppError): void };
}): Leases {
  const { vad, speechToText, textToSpeech, log, on } = deps;
  let present: { lease: number; stop: AbortController; held: Held | null } | null = null;

  const activityUnless = async (may: boolean, work: Promise<Held['activity']>): Promise<Held['activity'] | AppError> => {
    try {
      return await work;
    } catch (error) {
      if (may && isAppError(error, 'VAD_UNAVAILABLE')) return error;
      throw error;
    }
  };
  const loadVoice = async (mine: NonNullable<typeof present>) => {
    const { signal } = mine.stop;
    try {
      const speak = await textToSpeech.ready({ signal });
      if (mine.held !== null) mine.held = { ...mine.held, speak };
    } catch (error) {
      if (signal.aborted || present !== mine) return;
      // Of another fault the first answer tells, which loads it again.
      if (isAppError(error, 'TTS_UNAVAILABLE')) on.missing(error);
      else log.warn('voice.speak_not_loaded', { code: toAppError(error).code });
    }
  };
  const openActivity = async (signal: AbortSignal) => {
    const stream = await vad.open({ signal });
    return { stream, model: stream.model };
  };
  const close = ({ activity }: Held) => {
    if (activity !== null) detach(activity.stream.close(), log, 'voice.activity_close');
  };
  const release = (lease: number) => {
    if (present?.lease !== lease) return;
    const { stop, held } = present;
    present = null;
    stop.abort();
    if (held !== null) close(held);
  };
  return {
    take(lease, { withoutActivity, speaks }) {
      if (present !== null) release(present.lease);
      const stop = new AbortController();
      const mine = { lease, stop, held: null as Held | null };
      present = mine;
      const { signal } = stop;
      const activity = activityUnless(withoutActivity, openActivity(signal));
      Promise.all([activity, speechToText.ready({ signal })]).then(
        ([heard, listen]) => {
          const held: Held = { activity: isAppError(heard) ? null : heard, listen, speak: null };
          if (present !== mine) return close(held);
          mine.held = held;
          if (isAppError(heard)) on.missing(heard);
          on.ready(lease, held);
          if (speaks) detach(loadVoice(mine), log, 'voice.load_speak');
        },
        (error: unknown) => {
          // One that failed does not keep the others loading, nor what came of them open.
          stop.abort();
          activity.then(
            (one) => {
              if (one !== null && !isAppError(one)) detach(one.stream.close(), log, 'voice.activity_close');
            },
            () => {},
          );
          if (present !== mine) return;
          present = null;
          on.failed(lease, toAppError(error));
        },
      );
    },
    release,
    held: () => present?.held ?? null,
  };
}
