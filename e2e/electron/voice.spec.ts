import { test as base } from '../helpers/test.ts';
import { tapSound, voice } from '../helpers/voice.ts';
import { interrupt, type Press, threeQuestions } from '../helpers/voiceFlows.ts';
import { type VoiceWorld, voiceData, voiceWorld } from '../helpers/voiceTest.ts';

const test = base.extend<{ press: Press }, { world: VoiceWorld }>({
  world: [({}, use) => voiceWorld(use), { scope: 'worker', timeout: 240_000 }],
  data: ({ world }, use, info) => voiceData(world, use, info),
  sotto: async ({ open, data }, use) => {
    const sotto = await open(data);
    await tapSound(sotto.page);
    await sotto.page.reload();
    await use(sotto);
  },
  /** Ctrl Alt Space. */
  press: ({ sotto: { page } }, use) => use({ down: voice(page).holdChord, up: voice(page).releaseChord }),
});

test('three spoken questions are understood, answered and said aloud; a press into an answer silences it', async ({
  sotto: { page },
  press,
  data,
  world,
}) => {
  test.setTimeout(360_000);
  await threeQuestions(page, press, data, world.said);
  await voice(page).arm();
  await interrupt(page, press, data, world.said);
});
