import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readWav, writeWav } from '../../../../src/runtime/speech/wav.ts';
import { voiceLimits } from '../../../../src/runtime/voice/limits.ts';
import { initialVoice } from '../../../../src/runtime/voice/turn/state.ts';
import { pieces } from '../../../helpers/audio.ts';
import { verifies } from '../../../helpers/verifies.ts';
import { readTimeline, replay, writeTimeline } from '../../../helpers/voiceTimeline.ts';
import { setUpVoice, spoken } from './harness.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sotto-timeline-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A recording is talked into a latched microphone in real steps, answered, and interrupted by the next press. */
async function talk(wav: Uint8Array, file: string) {
  await using me = setUpVoice();
  const page = await me.armed({ plays: 'by hand' });
  me.listen.hears('what time is it', { partials: [{ text: 'what time', stable: 'what' }] });
  page.press();
  await me.wait(100);
  page.release();
  const { samples } = readWav(wav);
  for (const piece of pieces(samples, 1_600)) {
    page.say(piece);
    await me.wait(100);
  }
  await me.wait(voiceLimits.silenceWithoutDetectorMs);
  me.agent.last().push({ kind: 'delta', text: 'It is three o’clock. ' });
  await me.wait(50);
  page.playPart(0.4);
  await me.wait(50);
  page.press();
  await me.wait(50);
  me.voice.cancel();
  await me.wait(500);
  writeTimeline(file, me.steps);
}

it('VO-29: a replayed recording writes its timeline, which is the same again, and the reducer alone gives the same', async () => {
  verifies('VO-29');
  const wav = writeWav(spoken(1_200), 16_000);
  const files = [join(folder, 'one.jsonl'), join(folder, 'two.jsonl')] as const;
  for (const file of files) await talk(wav, file);
  const [one, two] = [readTimeline(files[0]), readTimeline(files[1])];
  expect(two).toEqual(one);
  expect(one.map(({ input }) => input.type)).toEqual(
    expect.arrayContaining(['armed', 'keyDown', 'speechStart', 'partial', 'final', 'firstSound', 'cancel']),
  );
  // Nothing of the clock, the ports or the page is in the states: the list of inputs alone decides them.
  expect(replay(initialVoice(), one)).toEqual(one);
});
