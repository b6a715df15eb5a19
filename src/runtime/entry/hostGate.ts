import { MicAnswer, type MicAsk } from '../../shared/contract/hostLink.ts';
import { AppError } from '../../shared/errors/appError.ts';
import { type Deferred, deferred } from '../../shared/util/deferred.ts';
import type { MicrophoneGate } from '../voice/ports.ts';
import type { Host } from './runtimeChild.ts';

/** More questions than these at once are a fault of ours. */
const maxWaiting = 8;

/** The microphone as main grants it: main asks the system where there is something to ask, and opens it to the page. */
export function createHostGate(host: Host): MicrophoneGate {
  const waiting = new Map<number, Deferred<void>>();
  let asked = 0;
  const post = (ask: MicAsk) => host.post(ask);
  host.onBody((body) => {
    const answer = MicAnswer.safeParse(body);
    if (!answer.success) return;
    const { n, refusal } = answer.data;
    const one = waiting.get(n);
    waiting.delete(n);
    if (refusal === null) one?.resolve();
    else one?.reject(refused(refusal));
  });
  return {
    grant() {
      if (waiting.size >= maxWaiting) return Promise.reject(new AppError('VOICE_BUSY'));
      asked += 1;
      const answer = deferred<void>();
      waiting.set(asked, answer);
      post({ k: 'mic.grant', n: asked });
      return answer.promise;
    },
    release: () => post({ k: 'mic.release' }),
    setMuted: (muted) => post({ k: 'mic.mute', muted }),
  };
}

function refused(refusal: NonNullable<MicAnswer['refusal']>): AppError {
  return new AppError(refusal === 'muted' ? 'MIC_MUTED' : refusal === 'denied' ? 'MIC_DENIED' : 'CANCELLED');
}
