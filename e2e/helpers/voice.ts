import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { expect, type Page } from '@playwright/test';
import { transcriberFolder } from '../../build/support/transcriber.mjs';
import { fromPcm16, toPcm16 } from '../../src/runtime/speech/pcm.ts';
import { readWav } from '../../src/runtime/speech/wav.ts';
import type { VoiceWord } from '../../src/shared/domain/voice.ts';
import { resample } from '../../src/shared/util/resampler.ts';
import { foldedErrors } from '../../test/helpers/wordErrors.ts';
import { putSoundUnderTest, type SoundUnderTest } from './voicePage.ts';

export type Sound = { readonly pcm: Float32Array; readonly rateHz: number };

export const readSound = (file: string): Sound => {
  const { samples, sampleRate } = readWav(readFileSync(file));
  return { pcm: samples, rateHz: sampleRate };
};

const base64 = (pcm: Float32Array) => Buffer.from(toPcm16(pcm)).toString('base64');

/** Share of words that differ, figures folded into words (VO-109). */
export function wordErrorRate(said: string, heard: string): number {
  const { errors, words } = foldedErrors(said, heard);
  return errors / Math.max(1, words);
}

/** What an engine outside the app makes of a sound (build/support/transcriber.mjs). */
export async function transcribeOutside({ pcm, rateHz }: Sound): Promise<string> {
  const child = spawn('python3', ['e2e/helpers/transcribe.py'], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, PYTHONPATH: transcriberFolder() },
  });
  let said = '';
  child.stdout.on('data', (bytes: Buffer) => {
    said += bytes.toString();
  });
  child.stdin.end(Buffer.from(toPcm16(resample(pcm, rateHz, 16_000))));
  const code = await new Promise((resolve) => child.once('close', resolve));
  if (code !== 0) throw new Error(`the transcriber ended with ${String(code)}: run \`npm run setup -- --test\``);
  return said.trim();
}

/**
 * Puts the sound under test into a page and loads it anew.
 *
 * @param exactMicrophone  false leaves the browser's own microphone; the loudspeaker is tapped either way.
 */
export async function tapSound(page: Page, exactMicrophone = true): Promise<void> {
  // The tap's worklet is no file of the page, which its policy would refuse.
  const session = await page.context().newCDPSession(page);
  await session.send('Page.setBypassCSP', { enabled: true });
  await page.addInitScript(putSoundUnderTest, exactMicrophone);
}

/** Where the sink stood at a press: take and frame of its clock. */
export type Mark = { readonly take: number; readonly frame: number };

/** Voice as a person uses it, and the two ends of its sound. */
export function voice(page: Page) {
  const bar = page.getByRole('region', { name: 'Voice', exact: true });
  const under = async <T, A>(deed: (under: SoundUnderTest, argument: A) => T | Promise<T>, argument: A): Promise<T> => {
    const handle = await page.evaluateHandle(() => Reflect.get(window, 'soundUnderTest') as SoundUnderTest);
    return handle.evaluate<T, A>(deed as never, argument);
  };
  const takes = () => under(({ speaker }) => speaker.takes(), null);
  const word = (is: VoiceWord | RegExp, timeout = 60_000) => expect(bar).toHaveAttribute('data-word', is, { timeout });
  /**
   * Waits until voice may be talked to. Models are loaded for that; a busy machine may need longer than voice waits (15 s), and then what
   * a person does is to try again.
   */
  const ready = () =>
    expect(async () => {
      const late = bar.getByRole('alert').filter({ hasText: 'did not answer in time' });
      if (await late.isVisible()) await late.getByRole('button').click();
      await word('ready', 20_000);
    }).toPass({ timeout: 150_000 });
  const talk = page.getByRole('button', { name: 'Talk', exact: true });
  return {
    bar,
    talk,
    turnOn: bar.getByRole('button', { name: 'Turn voice on' }),
    turnOff: bar.getByRole('button', { name: 'Turn off' }),
    stop: bar.getByRole('button', { name: 'Stop' }),
    own: bar.getByLabel('What you say'),
    reply: bar.getByLabel('What Sotto says'),
    latency: bar.getByRole('button', { name: /to first sound/ }),
    word,
    /** Turns voice on and waits until it may be talked to. */
    async arm(): Promise<void> {
      await bar.getByRole('button', { name: 'Turn voice on' }).first().click();
      await ready();
    },
    ready,
    async holdTalk(): Promise<void> {
      await talk.hover();
      await page.mouse.down();
    },
    async releaseTalk(): Promise<void> {
      await page.mouse.up();
    },
    async holdChord(): Promise<void> {
      for (const key of ['Control', 'Alt', 'Space']) await page.keyboard.down(key);
    },
    async releaseChord(): Promise<void> {
      for (const key of ['Space', 'Alt', 'Control']) await page.keyboard.up(key);
    },
    microphone: {
      /** Says it into the microphone and waits for its end. */
      say: ({ pcm, rateHz }: Sound, gain = 1) =>
        under(({ microphone }, [text, rate, by]) => microphone.play(text, rate, by), [base64(pcm), rateHz, gain] as const),
      async pressOver({ pcm, rateHz }: Sound, offsetMs: number, holdMs: number): Promise<{ beganMs: number; pcm: Float32Array }> {
        const { beganMs, frames } = await under(
          ({ microphone }, [text, rate, offset, hold]) => microphone.pressOver(text, rate, offset, hold),
          [base64(pcm), rateHz, offsetMs, holdMs] as const,
        );
        return { beganMs, pcm: fromPcm16(Buffer.from(frames, 'base64')) };
      },
      hush: () => under(({ microphone }) => microphone.hush(), null),
      room: (level: number) => under(({ microphone }, to) => microphone.setRoom(to), level),
      unplug: (back: string | null) => under(({ microphone }, next) => microphone.unplug(next), back),
      live: () => under(({ microphone }) => microphone.live(), null),
      opened: () => under(({ microphone }) => microphone.opened, null),
      answers: (answer: SoundUnderTest['microphone']['answer']) =>
        under(({ microphone }, to) => {
          microphone.answer = to;
        }, answer),
    },
    /** Frames of sound that the page gave to the runtime so far. */
    sent: () => under(({ sent }) => sent.count(), null),
    outputs: (names: readonly string[]) => under(({ speaker }, to) => speaker.setOutputs(to), names),
    sink: {
      takes,
      /** Where the sink stands now. */
      async here(): Promise<Mark> {
        const all = await takes();
        return { take: all.length - 1, frame: all.at(-1)?.frames ?? 0 };
      },
      /** Where it stood at the last press of a key or pointer. */
      lastPress: (): Promise<Mark> => under(({ speaker }) => speaker.presses.at(-1) ?? { take: -1, frame: 0 }, null),
      /** Everything that sounded from a mark on. */
      async since(mark: Mark): Promise<Sound> {
        const take = Math.max(0, mark.take);
        const text = await under(({ speaker }, [index, from]) => speaker.read(index, from), [take, mark.frame] as const);
        const rateHz = (await takes())[take]?.rateHz ?? 48_000;
        return { pcm: fromPcm16(Buffer.from(text, 'base64')), rateHz };
      },
      /** Waits until the sink's own clock is so far behind a mark. */
      async passed(mark: Mark, ms: number): Promise<void> {
        await expect
          .poll(
            async () => {
              const take = (await takes())[mark.take];
              return take === undefined ? 0 : ((take.frames - mark.frame) / take.rateHz) * 1_000;
            },
            { timeout: 60_000 },
          )
          .toBeGreaterThanOrEqual(ms);
      },
      /** How long after a mark the last sound was, in ms of the sink's clock; 0 for none. */
      async lastSoundAfter(mark: Mark): Promise<number> {
        const last = await under(({ speaker }, [index, from]) => speaker.lastSound(index, from), [mark.take, mark.frame] as const);
        const rateHz = (await takes())[mark.take]?.rateHz ?? 48_000;
        return last < 0 ? 0 : ((last - mark.frame) / rateHz) * 1_000;
      },
    },
  };
}

/** Every file below a folder that holds sound, or could: by its first bytes, or float or 16-bit samples by their size and name. */
export async function soundFiles(folder: string): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = path.join(entry.parentPath, entry.name);
    // Models are what they were; their hashes are the registry's matter. The browser keeps compiled shaders and scripts.
    if (/\.(gguf|onnx|pack)$/.test(entry.name) || /[/\\]\w*( |)Cache[/\\]/.test(file)) continue;
    const { size } = await stat(file);
    const head = readFileSync(file).subarray(0, 16).toString('latin1');
    const isSound = /^(RIFF|OggS|fLaC|ID3|\x1aE\xdf\xa3)/.test(head) || /\.(wav|pcm|raw|webm|ogg|opus|flac|mp3|f32)$/i.test(entry.name);
    // A second of sound at 16 kHz in 16 bits is 32,000 bytes; nothing but a database may be so large without a known name.
    const isKnown = head.startsWith('SQLite format 3') || /\.db(\.part)?-(wal|shm)$|\.log$|\.json$|\.md$/.test(entry.name);
    if (isSound || (!isKnown && size > 16_000)) found.push(path.relative(folder, file));
  }
  return found;
}
