import type { VoiceView } from '../../../shared/domain/voiceView.ts';
import { createLiveValue, type LiveValue } from '../../../shared/util/liveValue.ts';
import { createThrottle } from '../../../shared/util/throttle.ts';
import type { Clock } from '../../platform/ports.ts';

/** VO-88: a page is told at most this often; a change of the phase comes at once. */
const everyMs = 100;

/** The live value of all pages. */
export function createView(clock: Clock, read: () => VoiceView): { value: LiveValue<VoiceView>; refresh(): VoiceView; close(): void } {
  const value = createLiveValue(read());
  const throttle = createThrottle<VoiceView>(clock, everyMs, (view) => value.set(view));
  /** What comes at once: whatever a person sees as another state. */
  const urgent = ({ phase, muted, key, soundArrived, line, fault, notice }: VoiceView) =>
    [phase, muted, key, soundArrived, line, fault?.code, notice?.id].join('|');
  let last = urgent(value.get());
  let lastJson = JSON.stringify(value.get());
  return {
    value,
    refresh() {
      const view = read();
      const json = JSON.stringify(view);
      if (json === lastJson) return view;
      lastJson = json;
      throttle.push(view);
      if (urgent(view) !== last) throttle.flush();
      last = urgent(view);
      return view;
    },
    close() {
      throttle.cancel();
      value.close();
    },
  };
}
