// @vitest-environment node
import { describe, expect, it } from 'vitest';
import { choices, hardware, type Media, pickDevice } from '../../../src/renderer/audio/devices.ts';
import type { PlaybackMessage } from '../../../src/renderer/audio/messages.ts';
import { openPlayback } from '../../../src/renderer/audio/playback.ts';
import { createPlaybackCore, type PlaybackEvent } from '../../../src/renderer/audio/playbackCore.ts';
import { tone } from '../../helpers/audio.ts';
import { createFakeClock } from '../../helpers/fakeClock.ts';
import { verifies } from '../../helpers/verifies.ts';
import { toCore } from '../fakeMedia.ts';

// The page's side of the loudspeaker over the real worklet code.

async function setUp() {
  const clock = createFakeClock();
  const events: PlaybackEvent[] = [];
  const lost: string[] = [];
  const outputs = ['Speakers'];
  const chosen: string[] = [];
  const tones: number[] = [];
  const target = new EventTarget();
  const media = {
    enumerateDevices: async () => outputs.map((label) => ({ deviceId: `id ${label}`, label, groupId: label, kind: 'audiooutput' })),
    addEventListener: target.addEventListener.bind(target),
    removeEventListener: target.removeEventListener.bind(target),
  };
  let tell: (message: PlaybackMessage) => void = () => {};
  const core = createPlaybackCore(48_000, 128, (event) => tell(event));
  let frame = 0;
  const playback = await openPlayback({
    media: media as object as Media,
    clock,
    async openNode(onMessage) {
      tell = onMessage;
      return {
        rateHz: 48_000,
        send: toCore(core),
        resume: async () => {},
        playTone: (pcm) => tones.push(pcm.length),
        setOutput: async (id) => {
          chosen.push(id);
          if (id === 'id Broken') throw new Error('NotFoundError');
        },
        close: async () => {},
      };
    },
    onEvent: (event) => events.push(event),
    onLost: ({ code, data }) => lost.push(`${code} ${String(data['kind'])}`),
    onError: (error) => {
      throw error;
    },
  });
  return {
    playback,
    clock,
    events,
    lost,
    outputs,
    chosen,
    tones,
    changed: () => target.dispatchEvent(new Event('devicechange')),
    run: (ms: number) => {
      for (let i = 0; i < ms / (128 / 48); i += 1) {
        core.process(new Float32Array(128), frame);
        frame += 128;
      }
    },
    say: (phrase: number, ms: number, generation = 1, last = true) =>
      playback.play({ generation, phrase, last, range: { from: 0, to: 5 }, rateHz: 24_000, pcm: tone(440, ms, 24_000) }),
    kinds: () => events.map(({ type }) => type),
  };
}

const settled = async () => {
  for (let i = 0; i < 20; i += 1) await Promise.resolve();
};

describe('the loudspeaker of the page', () => {
  it('VO-65: sound is queued and nothing moves for 3 s: lost, told once, and the answer counts as spoken', async () => {
    verifies('VO-65');
    const one = await setUp();
    one.say(1, 4_000);
    one.run(200);
    one.clock.advance(2_999);
    expect(one.lost).toEqual([]);
    one.clock.advance(1);
    expect(one.lost).toEqual(['DEVICE_LOST output']);
    expect(one.events.at(-1)).toMatchObject({ type: 'drained', generation: 1 });
    // The rest of that answer is captions.
    one.say(2, 500);
    one.clock.advance(60_000);
    expect(one.lost.length).toBe(1);
    // The next answer is tried again.
    one.say(1, 100, 2);
    one.playback.finish(2);
    one.run(300);
    expect(one.events.at(-1)).toMatchObject({ type: 'drained', generation: 2 });
    expect(one.lost.length).toBe(1);
  });

  it('is not lost while it is paused, when it waits for us, or when all has sounded', async () => {
    const one = await setUp();
    one.say(1, 4_000);
    one.run(200);
    one.playback.pause();
    one.run(50);
    one.clock.advance(600_000);
    one.playback.resume();
    one.run(3_900);
    one.clock.advance(10_000);
    one.say(2, 300, 1, false);
    one.run(500);
    expect(one.kinds()).toContain('underrun');
    one.clock.advance(600_000);
    expect(one.lost).toEqual([]);
    one.say(2, 300);
    one.playback.finish(1);
    one.run(500);
    one.clock.advance(600_000);
    expect(one.lost).toEqual([]);
    expect(one.kinds().at(-1)).toBe('drained');
  });

  it('the last loudspeaker is unplugged while it speaks', async () => {
    const one = await setUp();
    one.say(1, 4_000);
    one.run(200);
    one.outputs.length = 0;
    one.changed();
    await settled();
    expect(one.lost).toEqual(['DEVICE_LOST output']);
    expect(one.kinds().at(-1)).toBe('drained');
    one.say(1, 100, 2);
    expect(one.lost.length).toBe(2);
    one.outputs.push('Back');
    one.changed();
    await settled();
    one.say(1, 100, 3);
    one.playback.finish(3);
    one.run(200);
    expect(one.lost.length).toBe(2);
    expect(one.events.at(-1)).toMatchObject({ type: 'drained', generation: 3 });
  });

  it('a stop is answered also by a loudspeaker that is dead, or was never used', async () => {
    const one = await setUp();
    const idle = one.playback.stop(1);
    one.run(3);
    expect(await idle).toMatchObject({ type: 'stopped', heard: null });
    one.say(1, 1_000, 2);
    one.run(200);
    const alive = one.playback.stop(2);
    one.run(3);
    expect(await alive).toMatchObject({ heard: { generation: 2, phrase: 1 } });
    one.say(1, 1_000, 3);
    const dead = one.playback.stop(3);
    one.clock.advance(3_000);
    expect(await dead).toEqual({ frame: 0, heard: null });
    const closing = one.playback.stop(4);
    await one.playback.close();
    expect(await closing).toEqual({ frame: 0, heard: null });
  });

  it('a chosen loudspeaker is found by its name; one that is gone leaves the system’s own', async () => {
    verifies('VO-65');
    const one = await setUp();
    one.outputs.push('Headset', 'Broken');
    await one.playback.setOutput('Headset');
    await expect(one.playback.setOutput('Gone')).rejects.toMatchObject({ code: 'DEVICE_LOST', data: { kind: 'output' } });
    await expect(one.playback.setOutput('Broken')).rejects.toMatchObject({ code: 'DEVICE_LOST' });
    await one.playback.setOutput(null);
    expect(one.chosen).toEqual(['id Headset', '', 'id Broken', '']);
  });
});

describe('choosing a device', () => {
  const device = (id: string, name: string) => ({ id, name, group: name.replace('Default - ', '') });
  const list = [
    device('default', 'Default - Desk'),
    device('communications', 'Communications - Desk'),
    device('1', 'Desk'),
    device('2', 'USB'),
  ];

  it('VO-04: by its name, for ids change; the system’s own if it is not there', () => {
    expect(pickDevice(list, 'USB')?.id).toBe('2');
    expect(pickDevice(list, 'Gone')?.id).toBe('default');
    expect(pickDevice(list, null)?.id).toBe('default');
    expect(pickDevice([device('9', 'Only')], null)?.id).toBe('9');
    expect(pickDevice([], 'USB')).toBeNull();
    expect(choices(list).map(({ name }) => name)).toEqual(['Desk', 'USB']);
  });

  it('"default" is another device when another hardware stands behind it', () => {
    expect(hardware(device('default', 'Default - Desk'))).not.toBe(hardware(device('default', 'Default - USB')));
    expect(hardware(null)).toBe('');
  });
});
