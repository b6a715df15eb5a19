import { newId } from '../../src/shared/domain/ids.ts';
import type { VoiceView } from '../../src/shared/domain/voiceView.ts';
import { AppError } from '../../src/shared/errors/appError.ts';
import { downloadJob, type FakeRuntime, ready } from '../../test/renderer/fakeRuntime.ts';
import { spokenTurn, voiceOff } from '../../test/renderer/fakeVoice.ts';
import { allInstalled, installedOf, shipped, starterOf } from '../../test/renderer/starterModels.ts';
import type { Scene, Stage } from './scenes.ts';

type Step = 'privacy' | 'microphone' | 'machine' | 'talk';

function at(runtime: FakeRuntime, step: Step): void {
  runtime.setCatalogue(shipped);
  runtime.settings.set({ ...runtime.settings.get(), firstRun: step });
}

/** Jobs of three starters on their way; the smallest is here. */
function onTheWay(runtime: FakeRuntime): void {
  runtime.setInstalled([installedOf(starterOf('activity'))]);
  const job = (slot: Parameters<typeof starterOf>[0], change: Parameters<typeof downloadJob>[0]) => {
    const { id, file } = starterOf(slot);
    return downloadJob({ jobId: newId('job', 1_700_000_000_000), modelId: id, total: file.bytes, host: 'npm', ...change });
  };
  runtime.downloads.set({
    jobs: [
      job('listen', { phase: 'verifying', received: starterOf('listen').file.bytes, bytesPerSec: 0, etaMs: null }),
      job('speak', { received: 41_800_000, bytesPerSec: 6_200_000, etaMs: 3_400, host: 'pip' }),
      job('language', { received: 12_400_000, bytesPerSec: 5_100_000, etaMs: 16_800, host: 'pip' }),
    ],
  });
}

/** Chromium's own beeping device; the page's clock stands still unless it is moved. */
async function turnOn({ page }: Stage): Promise<void> {
  await page.getByRole('button', { name: 'Turn on the microphone' }).click();
  await page.getByRole('meter').first().waitFor();
  const record = page.getByRole('button', { name: 'Record', exact: true });
  for (let i = 0; i < 40 && !(await record.isEnabled()); i += 1) await pass(page, 150);
}

/** Lets real sound and the page's clock go on. */
async function pass(page: Stage['page'], ms: number): Promise<void> {
  await page.waitForTimeout(ms);
  await page.clock.runFor(ms);
}

const answer = [
  'Weather is what the sky does today.',
  'Climate is what it usually does, over thirty years or more.',
  'A cold day says little about climate; a hundred of them do.',
];
const turnId = newId('turn', 1_700_000_000_000);

function spoken(change: Partial<VoiceView>): Partial<VoiceView> {
  let from = 0;
  const phrases = answer.map((text, phrase) => {
    const one = { phrase, from, to: from + text.length, text };
    from += text.length + 1;
    return one;
  });
  const question = 'What is the difference between weather and climate?';
  return {
    ...voiceOff,
    phase: 'speaking',
    device: 'Headset',
    soundArrived: true,
    turnId,
    caption: { utterance: 1, text: question, stable: question, final: true },
    reply: { generation: 1, turnId, phrases },
    ...change,
  };
}

const talkScene = (name: string, change: Partial<VoiceView> | null, seen: string | RegExp): Scene => ({
  name,
  async play({ page, runtime, open }) {
    at(runtime, 'talk');
    runtime.setInstalled(allInstalled);
    await open();
    await page.getByText('You can talk now.').waitFor();
    if (change !== null) runtime.voice.show(change);
    await page.getByText(seen).first().waitFor();
    await page.clock.runFor(300);
  },
});

export const firstRunScenes: readonly Scene[] = [
  {
    name: 'first-privacy',
    async play({ page, runtime, open }) {
      at(runtime, 'privacy');
      await open();
      await page.getByRole('switch', { name: 'Look for updates?' }).click();
      await page.getByText('Yes').waitFor();
    },
  },
  {
    name: 'first-microphone',
    async play({ page, runtime, open }) {
      at(runtime, 'microphone');
      await open();
      await page.getByRole('button', { name: 'Turn on the microphone' }).waitFor();
    },
  },
  {
    name: 'first-microphone-on',
    async play(stage) {
      at(stage.runtime, 'microphone');
      await stage.open();
      await turnOn(stage);
    },
  },
  {
    name: 'first-microphone-heard',
    async play(stage) {
      at(stage.runtime, 'microphone');
      await stage.open();
      await turnOn(stage);
      await stage.page.getByRole('button', { name: 'Record', exact: true }).click();
      await pass(stage.page, 2_500);
      await stage.page.getByRole('button', { name: 'Stop' }).click();
      await stage.page.getByText('Room noise').waitFor();
      await stage.page.waitForTimeout(200);
    },
  },
  {
    name: 'first-microphone-denied',
    async play({ page, runtime, open }) {
      at(runtime, 'microphone');
      runtime.failNext('voice.testMicrophone', new AppError('MIC_DENIED'));
      await open();
      await page.getByRole('button', { name: 'Turn on the microphone' }).click();
      await page.getByText('Sotto may not use the microphone.').waitFor();
    },
  },
  {
    name: 'first-machine',
    async play({ page, runtime, open }) {
      at(runtime, 'machine');
      await open();
      await page.getByRole('button', { name: /^Get all/ }).waitFor();
    },
  },
  {
    name: 'first-machine-getting',
    async play({ page, runtime, open }) {
      at(runtime, 'machine');
      onTheWay(runtime);
      await open();
      await page.getByText('Getting the bundle').waitFor();
      await page.getByTestId('bundle').scrollIntoViewIfNeeded();
    },
  },
  {
    name: 'first-machine-failed',
    async play({ page, runtime, open }) {
      at(runtime, 'machine');
      const { id, file } = starterOf('speak');
      const error = { code: 'PACKAGE_CLIENT_MISSING', data: { client: 'pip' } };
      runtime.setInstalled([installedOf(starterOf('activity')), installedOf(starterOf('listen'))]);
      runtime.downloads.set({
        jobs: [downloadJob({ modelId: id, total: file.bytes, received: 0, phase: 'failed', error, resumable: false })],
      });
      await open();
      await page.getByText('PACKAGE_CLIENT_MISSING').scrollIntoViewIfNeeded();
    },
  },
  {
    name: 'first-machine-offline',
    async play({ page, runtime, open }) {
      at(runtime, 'machine');
      runtime.setMachine({ offline: true, processor: null, disk: { freeBytes: 900_000_000, keptFreeBytes: 1_073_741_824 } });
      await open();
      await page.getByText('Sotto was started offline.').scrollIntoViewIfNeeded();
    },
  },
  {
    name: 'first-machine-ready',
    async play({ page, runtime, open }) {
      at(runtime, 'machine');
      runtime.setInstalled(allInstalled);
      await open();
      await page.getByText('Everything is here').waitFor();
    },
  },
  {
    name: 'first-talk-waiting',
    async play({ page, runtime, open }) {
      at(runtime, 'talk');
      onTheWay(runtime);
      await open();
      await page.getByText('Still missing').waitFor();
    },
  },
  talkScene('first-talk', null, 'Ask, for example:'),
  talkScene(
    'first-talk-listening',
    spoken({
      phase: 'hearing',
      key: 'down',
      reply: null,
      turnId: null,
      caption: {
        utterance: 1,
        text: 'What is the difference between whether and',
        stable: 'What is the difference between ',
        final: false,
      },
    }),
    'whether and',
  ),
  talkScene('first-talk-thinking', spoken({ phase: 'thinking', reply: null, stage: { kind: 'reading', fraction: 0.4 } }), 'Reading, 40'),
  talkScene('first-talk-speaking', spoken({}), 'thirty years'),
  talkScene('first-talk-done', spoken({ phase: 'standby', latency: spokenTurn(turnId) }), 'to first sound'),
  talkScene(
    'first-talk-slow',
    spoken({
      phase: 'standby',
      latency: spokenTurn(turnId, { firstToken: 2_900, firstPhrase: 3_100, firstAudioMade: 3_300, firstAudioPlayed: 3_330 }),
    }),
    'That was slow',
  ),
  talkScene('first-talk-fault', { phase: 'failed', fault: { code: 'MIC_MISSING', data: {} } }, 'There is no microphone.'),
  {
    name: 'first-type-only',
    async play({ page, runtime, open }) {
      at(runtime, 'talk');
      runtime.settings.set({ ...runtime.settings.get(), typeOnly: true });
      runtime.setInstalled([installedOf(starterOf('language'))]);
      await open();
      await page.getByText('You can type now.').waitFor();
    },
  },
];

async function openModels({ page, open }: Stage): Promise<void> {
  await open();
  await page.getByRole('button', { name: 'Models' }).click();
  await page.getByRole('heading', { name: 'Answers' }).waitFor();
}

export const modelsScenes: readonly Scene[] = [
  {
    name: 'models',
    async play(stage) {
      stage.runtime.setCatalogue(shipped);
      stage.runtime.setInstalled(allInstalled);
      stage.runtime.language.set({ ...ready, modelId: starterOf('language').id });
      stage.runtime.setLoaded([
        { key: 'language', memoryBytes: 231_000_000, modelIds: [starterOf('language').id] },
        { key: 'speech', memoryBytes: 388_000_000, modelIds: [starterOf('listen').id, starterOf('speak').id] },
      ]);
      await openModels(stage);
      await stage.page.getByText('231 MB').waitFor();
    },
  },
  {
    name: 'models-getting',
    async play(stage) {
      stage.runtime.setCatalogue(shipped);
      onTheWay(stage.runtime);
      await openModels(stage);
      await stage.page.getByText('from pip').first().waitFor();
    },
  },
  {
    name: 'models-failed',
    async play(stage) {
      stage.runtime.setCatalogue(shipped);
      const { id, file } = starterOf('listen');
      const error = { code: 'DOWNLOAD_HASH_MISMATCH', data: { file: file.name, expected: 'a', actual: 'b' } };
      stage.runtime.downloads.set({ jobs: [downloadJob({ modelId: id, total: file.bytes, received: 0, phase: 'failed', error })] });
      await openModels(stage);
      await stage.page.getByText('DOWNLOAD_HASH_MISMATCH').waitFor();
    },
  },
  {
    name: 'models-loading',
    async play({ page, runtime, open }) {
      runtime.hold('models.catalogue');
      await open();
      await page.getByRole('button', { name: 'Models' }).click();
      await page.clock.runFor(400);
    },
  },
];
