import { type CaptureCore, createCaptureCore } from '../../src/renderer/audio/captureCore.ts';
import type { PlaybackMessage } from '../../src/renderer/audio/messages.ts';
import { createPlaybackCore, type PlaybackCore } from '../../src/renderer/audio/playbackCore.ts';
import type { Sound } from '../../src/renderer/audio/sound.ts';
import { pieces } from '../helpers/audio.ts';
import { createFakeMedia, toCore } from './fakeMedia.ts';

/** Devices that come and go as a test says, over the real code of both worklets. */
export function createFakeSound() {
  const { media, ...devices } = createFakeMedia(['Speakers', 'Headset']);
  const microphones: { readonly core: CaptureCore; closed: boolean }[] = [];
  const loudspeakers: { readonly core: PlaybackCore; output: string; closed: boolean; readonly tones: number[]; frame: number }[] = [];
  let noOutput = false;
  const sound: Sound = {
    media,
    async openCaptureNode(_stream, onMessage) {
      const core = createCaptureCore(16_000, onMessage);
      const held = { core, closed: false };
      microphones.push(held);
      return {
        send(command) {
          if (command.type === 'begin') core.begin(command.preRollMs);
          else if (command.type === 'end') core.end(command.tailMs);
          else {
            core.close(command.keep);
            onMessage({ type: 'closed', counts: core.counts() });
          }
        },
        async close() {
          held.closed = true;
        },
      };
    },
    async openPlaybackNode(onMessage: (message: PlaybackMessage) => void) {
      if (noOutput) throw Object.assign(new Error('none'), { name: 'NotFoundError' });
      const core = createPlaybackCore(48_000, 128, onMessage);
      const held = { core, output: '', closed: false, tones: [] as number[], frame: 0 };
      loudspeakers.push(held);
      return {
        rateHz: 48_000,
        send: toCore(core),
        resume: async () => {},
        playTone: (pcm) => held.tones.push(pcm.length),
        setOutput: async (id) => {
          held.output = id;
        },
        close: async () => {
          held.closed = true;
        },
      };
    },
  };
  return {
    sound,
    ...devices,
    microphones,
    loudspeakers,
    takeOutput() {
      noOutput = true;
    },
    /** Sound at 16 kHz into the newest microphone, quantum by quantum. */
    hear(pcm: Float32Array) {
      for (const piece of pieces(pcm, 128)) microphones.at(-1)?.core.process(piece, 128);
    },
    /** Lets the newest loudspeaker take so much. @returns what it took, at 48 kHz. */
    play(ms: number): Float32Array {
      const speaker = loudspeakers.at(-1);
      const quanta = Math.ceil((ms * 48) / 128);
      const taken = new Float32Array(quanta * 128);
      for (let i = 0; i < quanta && speaker !== undefined; i += 1) {
        speaker.core.process(taken.subarray(i * 128, (i + 1) * 128), speaker.frame);
        speaker.frame += 128;
      }
      return taken;
    },
  };
}
