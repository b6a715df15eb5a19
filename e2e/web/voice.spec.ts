import { proves } from '../helpers/test.ts';
import { soundFiles, tapSound, voice } from '../helpers/voice.ts';
import { clippedSound, noLoudspeaker, nothingArrives, notOpened, unplugged } from '../helpers/voiceFaults.ts';
import { interrupt, type Press, threeQuestions } from '../helpers/voiceFlows.ts';
import { firstWordsStay, muted, nothingIsMadeUp } from '../helpers/voiceQuiet.ts';
import { type VoiceWorld, voiceData, voiceWorld } from '../helpers/voiceTest.ts';
import { test as base, expect, signIn } from './serving.ts';

const test = base.extend<{ press: Press }, { world: VoiceWorld }>({
  world: [({}, use) => voiceWorld(use), { scope: 'worker', timeout: 240_000 }],
  data: ({ world }, use, info) => voiceData(world, use, info),
  page: async ({ page, server }, use) => {
    await page.context().grantPermissions(['microphone']);
    await tapSound(page);
    await signIn(page, server);
    await use(page);
  },
  /** The talk button, held by the pointer. */
  press: ({ page }, use) => use({ down: voice(page).holdTalk, up: voice(page).releaseTalk }),
});

test('three spoken questions are understood, answered and said aloud; a press into an answer silences it', async ({
  page,
  press,
  data,
  world,
}) => {
  test.setTimeout(360_000);
  await threeQuestions(page, press, data, world.said);
  await voice(page).arm();
  await interrupt(page, press, data, world.said);
});

test(
  'microphones and loudspeakers that fail have words and a next try',
  proves('VO-06'),
  async ({ page, press, data, world: { said } }) => {
    test.setTimeout(360_000);
    const scene = { page, press, data, said };
    await notOpened(scene);
    await nothingArrives(scene);
    await clippedSound(scene);
    await unplugged(scene);
    await noLoudspeaker(scene);
  },
);

test(
  'nothing is made up of silence, noise and music; no beginning is lost; nothing passes a mute',
  proves('RB-55'),
  async ({ page, press, data, world: { said } }) => {
    test.setTimeout(600_000);
    const scene = { page, press, data, said };
    await voice(page).arm();
    await firstWordsStay(scene);
    await nothingIsMadeUp(scene);
    await muted(scene);
    expect(await soundFiles(data)).toEqual([]);
  },
);
