import { expect, it } from 'vitest';
import { setUpVoice } from './harness.ts';

it('a spoken question is answered in sound, and the phases follow', async () => {
  await using me = setUpVoice();
  const page = await me.armed();
  expect(me.view()).toMatchObject({ phase: 'standby', line: page.id(), device: 'Test microphone', soundArrived: true });
  me.agent.answers('It is three ', 'o’clock in the afternoon.');
  await me.ask(page, 'what time is it');
  expect(me.agent.sent).toMatchObject([{ text: 'what time is it', askedSession: null }]);
  expect(me.speak.texts().join(' ')).toContain('three');
  expect(page.chunks.length).toBeGreaterThan(0);
  await me.wait(200);
  expect(me.view()).toMatchObject({ phase: 'standby', caption: { text: 'what time is it', final: true } });
  expect(me.view().latency).toMatchObject({ words: 4, models: { asr: 'fake-asr', tts: 'fake-tts', language: 'fake-llm' } });
  expect(me.steps.map(({ state }) => state.phase).filter((phase, i, all) => phase !== all[i - 1])).toEqual([
    'arming',
    'standby',
    'listening',
    'hearing',
    'committing',
    'thinking',
    'speaking',
    'standby',
  ]);
});
