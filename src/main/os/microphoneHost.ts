import { type MicAnswer, MicAsk } from '../../shared/contract/hostLink.ts';
import type { Session } from '../../shared/supervision/supervisor.ts';
import type { MainLog } from '../log.ts';
import type { MicrophonePolicy } from './microphone.ts';

/**
 * Opens and closes the microphone to the pages as the runtime of this session asks. With the session its lease ends; a mute stays until
 * the next runtime says otherwise.
 *
 * @param askSystem  whether the system lets this program have a microphone; it may ask its person.
 */
export function serveMicrophone(
  session: Session,
  { policy, askSystem, log }: { policy: MicrophonePolicy; askSystem: () => Promise<boolean>; log: MainLog },
): void {
  // What is asked while the system still asks its person makes the earlier question void.
  let newest = 0;

  async function grant(n: number): Promise<MicAnswer['refusal']> {
    newest += 1;
    const mine = newest;
    if (policy.isMuted()) return 'muted';
    let allowed = false;
    try {
      allowed = await askSystem();
    } catch (error) {
      log.error('microphone.askFailed', {}, error);
    }
    if (policy.isMuted()) return 'muted';
    if (mine !== newest) return 'released';
    if (!allowed) return 'denied';
    policy.grant();
    log.info('microphone.granted', { n });
    return null;
  }

  const release = () => {
    newest += 1;
    policy.release();
  };

  session.onBody((body) => {
    const ask = MicAsk.safeParse(body);
    if (!ask.success) return;
    switch (ask.data.k) {
      case 'mic.grant': {
        const { n } = ask.data;
        void grant(n).then((refusal) => session.post({ k: 'mic.granted', n, refusal } satisfies MicAnswer));
        return;
      }
      case 'mic.release':
        release();
        log.info('microphone.released');
        return;
      case 'mic.mute':
        policy.setMuted(ask.data.muted);
        log.info('microphone.muted', { muted: ask.data.muted });
    }
  });
  session.onEnd(release);
}
