import { createVoice } from '../../../../src/runtime/voice/createVoice.ts';
import type { VoiceDeps, VoiceStepSeen } from '../../../../src/runtime/voice/ports.ts';
import type { VoicePhase } from '../../../../src/shared/domain/voice.ts';
import { join, silence, tone } from '../../../helpers/audio.ts';
import { createFakeClock } from '../../../helpers/fakeClock.ts';
import { createTestLog, type LogLine } from '../../../helpers/testRuntime.ts';
import { fakeChoices, fakeConversation, fakeGate, fakeSpeechToText, fakeTextToSpeech, fakeVad } from '../../../helpers/voiceFakes.ts';
import { createLinePage, type LinePageOptions } from '../../../helpers/voiceLine.ts';

/** Lets everything that waits for no time happen. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 12; i += 1) await new Promise<void>((resolve) => setImmediate(resolve));
}

/** Loud enough to be speech, with room sound around it. */
export const spoken = (ms = 640) => join(room(320), tone(220, ms), room(320));
export const room = (ms: number) => silence(ms).map((_, i) => (i % 2 === 0 ? 0.0005 : -0.0005));

type Options = Partial<Pick<VoiceDeps, 'vad' | 'prewarm'>> & { choices?: Parameters<typeof fakeChoices>[0] };

/** The driver with scripted ends and a clock that the test turns. */
export function setUpVoice(options: Options = {}) {
  const clock = createFakeClock();
  const log: LogLine[] = [];
  const [vad, listen, speak, agent, gate] = [fakeVad(), fakeSpeechToText(), fakeTextToSpeech(), fakeConversation(), fakeGate()];
  const choices = fakeChoices(options.choices);
  const steps: VoiceStepSeen[] = [];
  const prewarmed = { times: 0 };
  const voice = createVoice({
    clock,
    log: createTestLog(log),
    vad: options.vad ?? vad.vad,
    speechToText: listen.speechToText,
    textToSpeech: speak.textToSpeech,
    conversation: agent.conversation,
    gate: gate.gate,
    choices,
    prewarm: () => void (prewarmed.times += 1),
    languageModel: () => 'fake-llm',
    onStep: (step) => void steps.push(step),
  });
  const me = {
    voice,
    clock,
    log,
    vad,
    listen,
    speak,
    agent,
    gate,
    choices,
    steps,
    prewarmed,
    settle,
    view: () => voice.view.get(),
    phase: (): VoicePhase => steps.at(-1)?.state.phase ?? 'off',
    notices: () => steps.flatMap(({ effects }) => effects.flatMap((effect) => (effect.do === 'notice' ? [effect.code] : []))),
    rows: () => steps.map(({ input }) => input.type),
    async page(pageOptions: LinePageOptions = {}) {
      const page = createLinePage(voice, pageOptions);
      await settle();
      return page;
    },
    async armed(pageOptions: LinePageOptions = {}) {
      const page = await me.page(pageOptions);
      await voice.arm({ line: page.id() });
      return page;
    },
    /** Time passes, and what it sets free happens. */
    async wait(ms: number) {
      await settle();
      await clock.advanceAsync(ms);
      await settle();
    },
    /** Holds the key, says something, lets go. */
    async ask(page: Awaited<ReturnType<typeof createLinePage>>, text: string, sound = spoken()) {
      listen.hears(text);
      page.press();
      await me.wait(0);
      page.say(sound);
      await me.wait(500);
      page.release();
      await me.wait(0);
    },
    async [Symbol.asyncDispose]() {
      await voice[Symbol.asyncDispose]();
    },
  };
  return me;
}
