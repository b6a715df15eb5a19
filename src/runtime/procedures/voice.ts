import { implement } from '@orpc/server';
import { contract } from '../../shared/contract/index.ts';
import type { MicrophoneTest, Voice } from '../voice/ports.ts';

export const voiceProcedures = (s: { voice: Voice; microphoneTest: MicrophoneTest }) => {
  const os = implement(contract.voice);
  return os.router({
    phase: os.phase.handler(({ signal }) => s.voice.view.watch(signal)),
    arm: os.arm.handler(({ input }) => s.voice.arm(input)),
    disarm: os.disarm.handler(() => s.voice.disarm()),
    mute: os.mute.handler(({ input }) => s.voice.setMuted(input.muted)),
    cancel: os.cancel.handler(() => s.voice.cancel()),
    testMicrophone: os.testMicrophone.handler(({ signal }) => s.microphoneTest.hold(signal)),
    latency: os.latency.handler(({ input }) => s.voice.latency(input.limit)),
  });
};
