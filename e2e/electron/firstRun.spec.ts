import { rows } from '../helpers/database.ts';
import { firstRun, forgetFirstRun } from '../helpers/firstRun.ts';
import { test as base, expect, proves } from '../helpers/test.ts';
import { tapSound, transcribeOutside, voice, wordErrorRate } from '../helpers/voice.ts';
import { newest } from '../helpers/voiceFlows.ts';
import { questions, type VoiceWorld, voiceData, voiceWorld } from '../helpers/voiceTest.ts';

const test = base.extend<object, { world: VoiceWorld }>({
  world: [({}, use) => voiceWorld(use), { scope: 'worker', timeout: 240_000 }],
  data: ({ world }, use, info) =>
    voiceData(
      world,
      async (data) => {
        forgetFirstRun(data);
        await use(data);
      },
      info,
    ),
});

test(
  'from the first window to the first spoken answer, which is the first message of the chat',
  proves('UX-157'),
  async ({ sotto: { page, app }, data, world }) => {
    test.setTimeout(360_000);
    const first = firstRun(page);
    await first.at('privacy');
    await tapSound(page);
    await page.reload();
    await first.at('privacy');
    await first.button('Go on').click();

    await first.at('microphone');
    const v = voice(page);
    await v.microphone.room(0.0005);
    await first.button('Turn on the microphone').click();
    await first.button('Record').click();
    await v.microphone.say(world.said.japan);
    await first.button('Stop').click();
    await expect(page.getByText('Room noise')).toBeVisible();
    await first.button('Go on').click();

    await first.at('machine');
    await expect(page.getByText('Here, and checked')).toHaveCount(4);
    await first.button('Go on').click();

    await expect(first.heading('You can talk now.')).toBeVisible();
    const talk = page.getByRole('button', { name: 'Talk', exact: true });
    await expect(page.getByText('Ready', { exact: true })).toBeVisible({ timeout: 120_000 });
    const before = await v.sink.here();
    await talk.hover();
    await page.mouse.down();
    await expect(page.getByText('Listening', { exact: true })).toBeVisible();
    await v.microphone.say(world.said.japan);
    await page.mouse.up();
    await expect(page.getByText(/to first sound · on this machine · 0 bytes sent/)).toBeVisible({ timeout: 120_000 });
    await expect(page.getByRole('table', { name: 'Time from your last word to the first sound' })).toBeVisible();
    const asked = newest(data, 'user');
    const answer = newest(data, 'assistant');
    expect(wordErrorRate(questions.japan, asked), asked).toBeLessThanOrEqual(0.25);
    const heard = await transcribeOutside(await v.sink.since(before));
    expect(wordErrorRate(answer, heard), `${answer} / ${heard}`).toBeLessThanOrEqual(0.35);
    await page.screenshot({ path: 'out/e2e/first-talk.png' });

    await first.button('Go to chat').click();
    await expect(page.getByRole('article', { name: /^Message by You/ })).toContainText(asked);
    await expect(page.getByRole('article', { name: /^Message by Sotto/ })).toContainText(answer);
    expect(rows(data, 'SELECT * FROM sessions')).toHaveLength(1);
    // The next start opens the chat at once.
    const window = await app.browserWindow(page);
    await window.evaluate((w) => w.webContents.reload());
    await expect(page.getByRole('textbox', { name: 'Message' })).toBeVisible();
  },
);
