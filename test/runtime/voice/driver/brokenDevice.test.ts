import { expect, it } from 'vitest';
import { createSoundWatch } from '../../../../src/renderer/audio/soundWatch.ts';
import { audio } from '../../../../src/shared/domain/audio.ts';
import { verifies } from '../../../helpers/verifies.ts';
import { setUpVoice, spoken } from './harness.ts';

// The bug: a page that shows "listening" for ever before a dead microphone.
it('BC-22: a device that gives no sample for 3 s is named within 5 s, everything is idle again, and the next try works', async () => {
  verifies('BC-22');
  await using me = setUpVoice();
  const page = await me.armed({ opens: 'opened', device: 'Headset' });
  const watch = createSoundWatch();
  const pressedMs = me.clock.monotonicMs();
  page.press();
  await me.wait(audio.noFrameMs);
  // The page's own watch, as it is after that time without a frame.
  if (watch.nothing() === 'silent') page.mic('silent');
  await me.settle();
  expect(me.clock.monotonicMs() - pressedMs).toBeLessThanOrEqual(5_000);
  expect(me.view()).toMatchObject({ phase: 'standby', soundArrived: false, notice: { code: 'MIC_SILENT', data: { device: 'Headset' } } });
  expect(me.agent.sent).toEqual([]);
  expect(watch.frame(false)).toBe('sound');
  page.mic('live');
  me.agent.answers('Three.');
  await me.ask(page, 'what time is it');
  await me.wait(500);
  expect(me.agent.sent).toMatchObject([{ text: 'what time is it' }]);
});

it('BC-22: a rate that changes in mid-word ends the utterance with what was heard, says so once, and the next try works', async () => {
  verifies('BC-22');
  await using me = setUpVoice();
  const page = await me.armed();
  me.agent.answers('Three.');
  me.listen.hears('what time is it');
  page.press();
  await me.settle();
  page.say(spoken());
  await me.settle();
  // Another rate is another device to the page: it opens it anew.
  page.mic('changed');
  page.mic('live');
  await me.wait(500);
  page.release();
  await me.wait(500);
  expect(me.agent.sent).toMatchObject([{ text: 'what time is it' }]);
  expect(me.notices()).toEqual(['VOICE_DEVICE_CHANGED']);
  me.agent.answers('Four.');
  await me.ask(page, 'and now');
  await me.wait(500);
  expect(me.agent.sent.map(({ text }) => text)).toEqual(['what time is it', 'and now']);
});
