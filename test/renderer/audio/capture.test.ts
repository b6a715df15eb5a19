// @vitest-environment node
import { describe, expect, it } from 'vitest';
import { type Capture, createCapture, type EndCause } from '../../../src/renderer/audio/capture.ts';
import { type CaptureCore, createCaptureCore } from '../../../src/renderer/audio/captureCore.ts';
import type { CaptureNode } from '../../../src/renderer/audio/captureLine.ts';
import type { CaptureMessage } from '../../../src/renderer/audio/messages.ts';
import type { AudioFrame } from '../../../src/shared/domain/audio.ts';
import { type AppError, isAppError } from '../../../src/shared/errors/appError.ts';
import { pieces, silence, tone } from '../../helpers/audio.ts';
import { createFakeClock } from '../../helpers/fakeClock.ts';
import { createFakeMedia } from '../fakeMedia.ts';

// The page's side of the microphone over the real worklet code, with devices that come and go as a test says.

function setUp(options: { media?: 'none' } = {}) {
  const clock = createFakeClock();
  const system = createFakeMedia();
  const frames: AudioFrame[] = [];
  const ends: EndCause[] = [];
  const notices: AppError[] = [];
  const nodes: { core: CaptureCore; closed: boolean }[] = [];
  const loading = { worklet: Promise.resolve() };
  const capture: Capture = createCapture({
    media: options.media === 'none' ? undefined : system.media,
    clock,
    async openNode(_stream, onMessage: (message: CaptureMessage) => void): Promise<CaptureNode> {
      await loading.worklet;
      const core = createCaptureCore(16_000, onMessage);
      const held = { core, closed: false };
      nodes.push(held);
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
    onFrame: (frame) => frames.push(frame),
    onEnded: (cause) => ends.push(cause),
    onLevel: () => {},
    onNotice: (error) => notices.push(error),
    onError: (error) => {
      throw error;
    },
  });
  const phases: string[] = [];
  capture.subscribe(() => {
    if (phases.at(-1) !== capture.get().phase) phases.push(capture.get().phase);
  });
  return {
    ...system,
    capture,
    clock,
    frames,
    ends,
    notices,
    nodes,
    loading,
    phases,
    feed: (pcm: Float32Array, which = nodes.length - 1) => {
      for (const piece of pieces(pcm, 128)) nodes[which]?.core.process(piece, 128);
    },
    codes: () => notices.map(({ code }) => code),
  };
}

const settled = async () => {
  for (let i = 0; i < 20; i += 1) await Promise.resolve();
};
const codeOf = async (promise: Promise<unknown>) =>
  promise.then(
    () => 'opened',
    (error: unknown) => (isAppError(error) ? error.code : error),
  );

describe('the microphone of the page', () => {
  it('what the system says becomes a code that a person can act on', async () => {
    for (const [name, code] of [
      ['NotAllowedError', 'MIC_DENIED'],
      ['SecurityError', 'MIC_DENIED'],
      ['NotFoundError', 'MIC_MISSING'],
      ['OverconstrainedError', 'MIC_MISSING'],
      ['NotReadableError', 'MIC_UNREADABLE'],
      ['AbortError', 'MIC_UNREADABLE'],
    ] as const) {
      const one = setUp();
      one.refuseWith(name);
      expect(await codeOf(one.capture.open(null)), name).toBe(code);
      expect(one.capture.get()).toMatchObject({ phase: 'failed', error: { code } });
      one.refuseWith(null);
      expect(await codeOf(one.capture.open(null))).toBe('opened');
    }
    expect(await codeOf(setUp({ media: 'none' }).capture.open(null))).toBe('UNSUPPORTED');
  });

  it('VO-07: an open device is not yet listening; the first sample that is not zero is', async () => {
    const one = setUp();
    await one.capture.open('Headset');
    one.feed(silence(500));
    expect(one.capture.get()).toEqual({ phase: 'opening', device: 'Headset' });
    one.feed(tone(440, 64));
    expect(one.capture.get()).toEqual({ phase: 'live', device: 'Headset' });
    expect(one.notices).toEqual([]);
  });

  it('VO-06: 1.5 s of zeros or 3 s without any frame are told once, and healed by sound', async () => {
    const one = setUp();
    await one.capture.open(null);
    one.feed(silence(1_400));
    expect(one.phases).toEqual(['opening']);
    one.feed(silence(4_000));
    expect(one.codes()).toEqual(['MIC_SILENT']);
    one.feed(tone(440, 200));
    expect(one.phases).toEqual(['opening', 'silent', 'live']);
    one.clock.advance(2_999);
    expect(one.codes()).toEqual(['MIC_SILENT']);
    one.clock.advance(1);
    one.clock.advance(10_000);
    expect(one.codes()).toEqual(['MIC_SILENT', 'MIC_SILENT']);
    expect(one.capture.get().phase).toBe('silent');
    one.feed(tone(440, 200));
    expect(one.capture.get().phase).toBe('live');
    // BC-22: a device that never gives a single frame.
    const dead = setUp();
    await dead.capture.open(null);
    dead.clock.advance(3_000);
    expect(dead.codes()).toEqual(['MIC_SILENT']);
    expect(dead.phases).toEqual(['opening', 'silent']);
  });

  it('VO-09: a mute stops the track and drops what is held; it also reaches a microphone that is just being opened', async () => {
    const one = setUp();
    await one.capture.open(null);
    one.capture.begin();
    one.feed(tone(440, 300));
    const before = one.frames.length;
    one.capture.setMuted(true);
    expect(one.tracks.map(({ readyState }) => readyState)).toEqual(['ended']);
    expect(one.nodes[0]).toMatchObject({ closed: true });
    one.feed(tone(440, 2_000));
    expect(one.frames.length).toBe(before);
    expect(one.nodes[0]?.core.counts().held).toBe(0);
    expect(one.ends).toEqual(['muted']);
    expect(await codeOf(one.capture.open(null))).toBe('MIC_MUTED');
    expect(one.tracks.length).toBe(1);
    one.capture.close();
    expect(one.capture.get().phase).toBe('muted');
    one.capture.setMuted(false);
    expect(one.capture.get().phase).toBe('closed');

    const two = setUp();
    const letGo = two.hold();
    const opening = codeOf(two.capture.open(null));
    await settled();
    two.capture.setMuted(true);
    letGo();
    expect(await opening).toBe('CANCELLED');
    expect(two.tracks.map(({ readyState }) => readyState)).toEqual(['ended']);
    expect(two.nodes.every(({ closed }) => closed)).toBe(true);
    expect(two.capture.get().phase).toBe('muted');

    // While the worklet loads the track is there already: it is stopped at once, not when the worklet came.
    const three = setUp();
    let loaded = () => {};
    three.loading.worklet = new Promise((resolve) => {
      loaded = resolve;
    });
    const late = codeOf(three.capture.open(null));
    await settled();
    three.capture.setMuted(true);
    expect(three.tracks.map(({ readyState }) => readyState)).toEqual(['ended']);
    loaded();
    expect(await late).toBe('CANCELLED');
    expect(three.nodes.map(({ closed }) => closed)).toEqual([true]);
    expect(three.capture.get().phase).toBe('muted');
  });

  it('VO-10: unplugged in the middle of a sentence, what was said is kept to its last sample, and the next device is taken', async () => {
    const one = setUp();
    await one.capture.open('Headset');
    one.capture.begin();
    one.feed(tone(440, 700));
    one.inputs.splice(1, 1);
    one.tracks[0]?.pull();
    await settled();
    expect(one.frames.length).toBe(Math.ceil(11_200 / 512));
    expect(one.ends).toEqual(['deviceChanged']);
    expect(one.codes()).toEqual(['VOICE_DEVICE_CHANGED']);
    expect(one.notices[0]?.data).toEqual({ device: 'Default - Desk' });
    one.feed(tone(440, 64));
    expect(one.phases).toEqual(['opening', 'live', 'reopening', 'opening', 'live']);
    // Nobody asked the new one to send.
    one.feed(tone(440, 640));
    expect(one.frames.length).toBe(Math.ceil(11_200 / 512));
  });

  it('VO-10: with no device left it is tried three times, 2 s apart, and then it is lost; the next try works', async () => {
    const one = setUp();
    await one.capture.open(null);
    one.inputs.length = 0;
    one.tracks[0]?.pull();
    await settled();
    expect(one.capture.get().phase).toBe('reopening');
    one.clock.advance(2_000);
    await settled();
    expect(one.notices).toEqual([]);
    one.clock.advance(2_000);
    await settled();
    expect(one.codes()).toEqual(['DEVICE_LOST']);
    expect(one.capture.get()).toMatchObject({ phase: 'failed', error: { code: 'DEVICE_LOST', data: { kind: 'input' } } });
    one.clock.advance(60_000);
    expect(one.codes()).toEqual(['DEVICE_LOST']);
    one.inputs.push('New');
    expect(await codeOf(one.capture.open(null))).toBe('opened');
  });

  it('VO-10: the system’s own microphone became another one, and the chosen one came back', async () => {
    const one = setUp();
    await one.capture.open(null);
    one.inputs.reverse();
    one.changed();
    await settled();
    await settled();
    expect(one.codes()).toEqual(['VOICE_DEVICE_CHANGED']);
    expect(one.capture.get()).toMatchObject({ device: 'Default - Headset' });
    // A change that does not touch ours is none.
    one.inputs.push('Third');
    one.changed();
    await settled();
    expect(one.tracks.length).toBe(2);
    const two = setUp();
    two.inputs.splice(1, 1);
    await two.capture.open('Headset');
    expect(two.capture.get()).toMatchObject({ device: 'Default - Desk' });
    two.inputs.push('Headset');
    two.changed();
    await settled();
    await settled();
    expect(two.capture.get()).toMatchObject({ device: 'Headset' });
  });

  it('a key that comes while the microphone opens, or is noticed late, loses nothing', async () => {
    const one = setUp();
    const opening = one.capture.open(null);
    one.capture.begin();
    await opening;
    one.feed(tone(440, 320));
    expect(one.frames.length).toBe(10);
    const two = setUp();
    await two.capture.open(null);
    two.feed(tone(440, 1_500));
    two.capture.begin(two.clock.monotonicMs() - 300);
    // 400 ms before the key, which was 300 ms ago.
    expect(two.frames[0]?.captureMs).toBe(800);
    expect(two.frames.length).toBe(21);
    two.capture.end();
    two.feed(tone(440, 500));
    expect(two.ends).toEqual(['ended']);
  });

  it('closed or muted while a lost device is being waited for, it stays closed', async () => {
    for (const act of ['close', 'mute'] as const) {
      const one = setUp();
      await one.capture.open(null);
      one.inputs.length = 0;
      one.tracks[0]?.pull();
      await settled();
      if (act === 'close') one.capture.close();
      else one.capture.setMuted(true);
      one.inputs.push('Back');
      one.clock.advance(10_000);
      await settled();
      expect(one.tracks.length, act).toBe(1);
      expect(one.notices, act).toEqual([]);
      expect(one.capture.get().phase).toBe(act === 'close' ? 'closed' : 'muted');
    }
  });
});
