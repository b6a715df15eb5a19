import { audio } from '../../../shared/domain/audio.ts';

/** Sound around speech that the recogniser needs: what is cut tighter costs words (speech facts, section 3). */
const aroundMs = 1_000;
/** Without any speech so much is kept, for a quiet word that the activity model missed: shorter than one piece of the recogniser. */
const quietMs = 14_000;
const frames = (ms: number) => Math.ceil((ms * audio.rateHz) / 1_000 / audio.frameSamples);

type Samples = Float32Array<ArrayBuffer>;

/**
 * What of an utterance goes to the recogniser. Long silence stays out, before speech and between: it costs time, and a model that is told
 * that somebody speaks makes words of it.
 *
 * @param feed  gets frames in order.
 */
export function createSieve(feed: (samples: Samples) => void) {
  let waiting: Samples[] = [];
  let spoke = false;
  return {
    /** @param pauseMs  since the last voiced frame, 0 while somebody speaks; null while nobody has spoken. */
    judge(samples: Samples, pauseMs: number | null): void {
      if (pauseMs !== null && pauseMs <= aroundMs) {
        for (const one of waiting) feed(one);
        waiting = [];
        spoke = true;
        feed(samples);
        return;
      }
      waiting.push(samples);
      if (waiting.length > frames(spoke ? aroundMs : quietMs)) waiting.shift();
    },
    /** The beginning of speech was just judged: only what lies close before it belongs to it. */
    speechBegins(): void {
      waiting = waiting.slice(-frames(aroundMs));
    },
    /** It is over. What nobody spoke in is given too, if there is nothing else. */
    end(): void {
      if (!spoke) for (const one of waiting) feed(one);
      waiting = [];
    },
  };
}
