import type { SessionId } from '../../../shared/domain/ids.ts';
import type { VoiceView } from '../../../shared/domain/voiceView.ts';
import { createLiveValue, type LiveValue } from '../../../shared/util/liveValue.ts';
import { createThrottle } from '../../../shared/util/throttle.ts';
import type { Clock } from '../../platform/ports.ts';
import type { VoiceState } from '../turn/state.ts';

/** VO-88: a page is told at most this often; a change of the phase comes at once. */
const everyMs = 100;

/** What the view shows beside the reducer's state. */
export type Shown = Pick<
  VoiceView,
  'soundArrived' | 'device' | 'line' | 'turnId' | 'caption' | 'reply' | 'stage' | 'fault' | 'notice' | 'activity' | 'latency'
> & { sessionId: SessionId | null };

export function viewOf(state: VoiceState, shown: Shown): VoiceView {
  const { phase, guarded, mode, muted, key, by } = state;
  return { phase, guarded, mode, muted, key, by, ...shown };
}

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
