import type { VoiceView } from '../../src/shared/domain/voiceView.ts';
import { spokenTurn } from '../../test/renderer/fakeVoice.ts';
import type { Scene, Stage } from './scenes.ts';

/** A page that may be talked to, on the microphone of a headset; `view` is what the runtime says then. */
async function armed(stage: Stage, view: Partial<VoiceView>): Promise<void> {
  stage.runtime.chat(
    'Boiler service',
    [['When was the boiler last serviced?', 'It was serviced on 3 May 2025, and is due again in May 2026.']],
    '2026-05-03T09:40:00.000Z',
  );
  await stage.open();
  if ((stage.page.viewportSize()?.width ?? 0) < 1024) await stage.page.getByRole('button', { name: 'Show the chats' }).click();
  await stage.page.getByRole('button', { name: 'Boiler service', exact: true }).click();
  const bar = stage.page.getByRole('region', { name: 'Voice', exact: true });
  await bar.getByRole('button', { name: 'Turn voice on' }).click();
  await bar.getByText('Ready').waitFor();
  stage.runtime.voice.show(view);
}

const caption = (text: string, stable: string, final = false) => ({ utterance: 1, text, stable, final });
const turn = spokenTurn('turn_1');

const reply = {
  generation: 1,
  turnId: null,
  phrases: [
    { phrase: 0, from: 0, to: 38, text: 'It was serviced on the third of May' },
    { phrase: 1, from: 38, to: 82, text: 'twenty twenty-five, by the people who put it in,' },
    { phrase: 2, from: 82, to: 140, text: 'and most makers ask for one service a year, so the next one is due soon.' },
  ],
};

/** A state of the bar, and the words that show that it stands there. */
const state = (name: string, shown: string | RegExp, view: Partial<VoiceView>, width?: number): Scene => ({
  name: `voice-${name}`,
  ...(width === undefined ? {} : { width }),
  async play(stage) {
    await armed(stage, view);
    await stage.page.getByText(shown).first().waitFor();
  },
});

const notice = (code: string, data: Record<string, string | number | null> = {}) => ({ notice: { id: 1, code, data } });

export const voiceScenes: readonly Scene[] = [
  state('off', 'Off', { phase: 'off', line: null }),
  state('opening', 'Opening microphone …', { phase: 'arming', soundArrived: false }),
  state('ready', 'Hold Ctrl Alt Space and talk.', {}),
  state('listening', 'Let go when you are done.', { phase: 'listening', key: 'down' }),
  state('listening-latched', 'Pause or tap again when you are done.', {
    phase: 'hearing',
    key: 'latched',
    caption: caption('When was the boiler last serviced and who', 'When was the boiler last '),
  }),
  state('listening-long', 'Let go when you are done.', {
    phase: 'hearing',
    key: 'down',
    caption: caption(
      `${'I would like to know when the boiler in the cellar was last looked at by somebody who understands it, and '.repeat(3)}whether`,
      'I would like to know when the boiler in the cellar was last looked at by somebody who understands it, and ',
    ),
  }),
  state('thinking', 'Reading', {
    phase: 'thinking',
    stage: { kind: 'reading', fraction: 0.42 },
    caption: caption('When was the boiler last serviced?', '', true),
  }),
  state('speaking', 'Speaking', { phase: 'speaking', reply }),
  state('speaking-muted', 'muted', { phase: 'speaking', reply, muted: true }),
  state('paused', 'I heard something.', { phase: 'held', reply }),
  state('muted', 'Muted', { phase: 'standby', muted: true }),
  state('latency', /to first sound/, { latency: turn }),
  {
    name: 'voice-waterfall',
    async play(stage) {
      await armed(stage, { latency: turn });
      await stage.page.getByRole('button', { name: /to first sound/ }).click();
      await stage.page.getByRole('table').waitFor();
    },
  },
  {
    name: 'voice-devices',
    async play(stage) {
      await armed(stage, {});
      await stage.page.getByRole('button', { name: /^Microphone: / }).click();
      await stage.page.getByText('Loudspeaker').waitFor();
    },
  },
  state('denied', 'Sotto may not use the microphone.', { phase: 'failed', fault: { code: 'MIC_DENIED', data: {} } }),
  state('missing-model', 'There is no voice to speak with.', {
    phase: 'failed',
    fault: { code: 'TTS_UNAVAILABLE', data: { reason: 'model-missing' } },
  }),
  state('engine-lost', /The model stopped while/, {
    phase: 'failed',
    fault: { code: 'ENGINE_CRASHED', data: { engineKey: 'speech', stage: 'voice' } },
  }),
  state('nothing-heard', /I heard nothing/, notice('NOTHING_HEARD', { device: 'Headset', level: -52 })),
  state('silent', 'No sound came from Headset.', notice('MIC_SILENT', { device: 'Headset' })),
  state('device-changed', /The microphone changed/, notice('VOICE_DEVICE_CHANGED', { device: 'Built-in microphone' })),
  state('narrow-listening', 'Let go when you are done.', { phase: 'hearing', key: 'down', caption: caption('When was the', 'When ') }, 420),
  state('smallest-notice', 'No sound came from Headset.', notice('MIC_SILENT', { device: 'Headset' }), 320),
];
