import { tapSound, voice } from '../helpers/voice.ts';
import { interrupt, type Press, threeQuestions } from '../helpers/voiceFlows.ts';
import { type VoiceWorld, voiceData, voiceWorld } from '../helpers/voiceTest.ts';
import { test as base, signIn } from './serving.ts';

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
