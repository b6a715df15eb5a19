import { describe, expect, it } from 'vitest';
import type { Jobs } from '../../../src/engine/entry/jobs.ts';
import { createLanes } from '../../../src/engine/entry/lanes.ts';

function setUp(broken: readonly string[] = []) {
  const done: string[] = [];
  const lanes = createLanes({
    laneOf: (method) => method.split('.')[0] ?? '',
    start(lane): Jobs {
      if (broken.includes(lane)) throw new Error('no thread');
      done.push(`start ${lane}`);
      return {
        call: (id, method) => void done.push(`${lane} ${id} ${method}`),
        cancel: (id) => void done.push(`${lane} cancel ${id}`),
        close: async () => void done.push(`${lane} closed`),
      };
    },
    refuse: (id, method) => void done.push(`refused ${id} ${method}`),
  });
  return { lanes, done };
}

describe('the workers of one engine', () => {
  it('start with their first call and get the calls of their name', () => {
    const { lanes, done } = setUp();
    lanes.call(1, 'asr.load', {});
    lanes.call(2, 'vad.frames', {});
    lanes.call(3, 'asr.transcribe', {});
    expect(done).toEqual(['start asr', 'asr 1 asr.load', 'start vad', 'vad 2 vad.frames', 'asr 3 asr.transcribe']);
  });

  it('a cancel reaches whoever has the call, and closing waits for all', async () => {
    const { lanes, done } = setUp();
    lanes.call(1, 'asr.load', {});
    lanes.call(2, 'tts.load', {});
    lanes.cancel(2);
    await lanes.close();
    expect(done.slice(4)).toEqual(['asr cancel 2', 'tts cancel 2', 'asr closed', 'tts closed']);
    lanes.call(3, 'vad.frames', {});
    expect(done.at(-1)).toBe('refused 3 vad.frames');
  });

  it('one that cannot start refuses its calls and leaves the others alone', () => {
    const { lanes, done } = setUp(['tts']);
    lanes.call(1, 'tts.load', {});
    lanes.call(2, 'asr.load', {});
    expect(done).toEqual(['refused 1 tts.load', 'start asr', 'asr 2 asr.load']);
  });
});
