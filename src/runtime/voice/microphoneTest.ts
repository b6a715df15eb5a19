import type { VoicePhase } from '../../shared/domain/voice.ts';
import { AppError } from '../../shared/errors/appError.ts';
import type { MicrophoneGate, MicrophoneTest } from './ports.ts';

/**
 * The microphone without talking (VO-11): a page may open it while this holds the lease. One test at a time, and none while voice is on.
 *
 * @param deps.phase  of the voice: unless it is off or failed, the lease is its own.
 */
export function createMicrophoneTest(deps: { gate: Pick<MicrophoneGate, 'grant' | 'release'>; phase: () => VoicePhase }): MicrophoneTest {
  const { gate, phase } = deps;
  let held = false;
  const isFree = () => phase() === 'off' || phase() === 'failed';
  return {
    async *hold(signal) {
      if (held || !isFree()) throw new AppError('VOICE_BUSY');
      held = true;
      try {
        await gate.grant();
        yield { granted: true };
        if (signal?.aborted !== true)
          await new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve(), { once: true }));
      } finally {
        held = false;
        // Voice that was turned on meanwhile holds it now.
        if (isFree()) gate.release();
      }
    },
  };
}
