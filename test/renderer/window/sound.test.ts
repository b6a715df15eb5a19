// @vitest-environment node
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { audio } from '../../../src/shared/domain/audio.ts';
import { alike, chirp, find, join, noise, peak, resample, rms, silence, tone, wav } from '../../helpers/audio.ts';
import { verifies } from '../../helpers/verifies.ts';
import type { Sound } from '../audio/harness/harnessMain.ts';
import { launchBrowser } from '../browser.ts';
import { buildPage } from '../buildPage.ts';
import { createFakeRuntime } from '../fakeRuntime.ts';
import { servePage } from '../pageServer.ts';

// The real worklets in a real browser, under the page's own policy: a fake microphone that plays a file, or exact samples from inside
// the page, and everything that goes to the loudspeaker, by its frame clock.

type Held = { microphone: ReturnType<Sound['microphone']>; loudspeaker: Awaited<ReturnType<Sound['loudspeaker']>> };
declare global {
  interface Window {
    held: Held;
  }
}

let folder: string;
let pageDir: string;
let browser: Browser;

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'sotto-sound-'));
  const microphone = path.join(folder, 'microphone.wav');
  await writeFile(microphone, wav(spoken(48_000), 48_000));
  [pageDir, browser] = await Promise.all([
    buildPage(path.join(folder, 'page'), path.resolve(import.meta.dirname, '../audio/harness')),
    launchBrowser([
      '--use-fake-ui-for-media-stream',
      '--use-fake-device-for-media-stream',
      `--use-file-for-fake-audio-capture=${microphone}%noloop`,
      '--autoplay-policy=no-user-gesture-required',
    ]),
  ]);
}, 120_000);

afterAll(async () => {
  await browser.close();
  await rm(folder, { recursive: true, force: true });
});

/** Two different "words" with quiet around them; the file begins to play before the first frame can be taken. */
const spoken = (rateHz: number) =>
  join(
    noise(-60, 1_500, rateHz),
    chirp(300, 2_000, 500, rateHz, 0.4),
    noise(-60, 300, rateHz),
    chirp(2_500, 500, 500, rateHz, 0.4),
    noise(-60, 500, rateHz),
  );

async function withPage(run: (page: Page) => Promise<void>): Promise<void> {
  await using server = await servePage(createFakeRuntime().router, pageDir);
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    page.setDefaultTimeout(20_000);
    const errors: string[] = [];
    page.on('pageerror', (error) => errors.push(String(error)));
    page.on('console', (message) => {
      if (message.type() === 'error') errors.push(message.text());
    });
    await page.goto(server.url);
    await page.waitForFunction(() => 'sound' in window);
    await run(page);
    // The policy of the page refused nothing, and nothing failed unseen.
    expect(errors.filter((line) => !line.includes('favicon') && !line.includes('404'))).toEqual([]);
  } finally {
    await context.close();
  }
}

const captured = async (page: Page) => {
  const frames = await page.evaluate(() => window.held.microphone.frames);
  return { frames, sound: join(...frames.map(({ samples }) => Float32Array.from(samples))) };
};

/** Opens the microphone on exact samples that the page plays itself. */
async function exact(page: Page, pcm: Float32Array, rateHz: number): Promise<void> {
  await page.evaluate(
    async ({ samples, rate }) => {
      const source = window.sound.playInto(samples, rate);
      const microphone = window.sound.microphone();
      window.held = { ...window.held, microphone };
      await microphone.open(null);
      Reflect.set(window, 'source', source);
    },
    { samples: [...pcm], rate: rateHz },
  );
}

describe('the microphone', { timeout: 60_000 }, () => {
  it('what a file plays is what is captured, window by window, in frames of 512 without a hole', async () => {
    await withPage(async (page) => {
      await page.evaluate(async () => {
        const microphone = window.sound.microphone();
        window.held = { ...window.held, microphone };
        await microphone.open(null);
        microphone.begin();
      });
      await page.waitForFunction(() => window.held.microphone.frames.length >= 100, undefined, { polling: 50 });
      const { frames, sound } = await captured(page);
      expect(frames.map(({ seq }) => seq)).toEqual(frames.map((_, i) => i));
      expect(frames.every(({ samples, gap }) => samples.length === audio.frameSamples && !gap)).toBe(true);
      // Chromium's file microphone slips by 10 ms now and then, so each window is looked for by itself.
      const truth = resample(spoken(48_000), 48_000, 16_000);
      const begin = find(truth.slice(1_520 * 16, 1_620 * 16), sound);
      for (const startMs of [1_520, 1_600, 1_800, 2_320, 2_500, 2_680]) {
        const window = truth.slice(startMs * 16, startMs * 16 + 1_600);
        const expected = begin.at + (startMs - 1_520) * 16;
        const found = find(window, sound, expected - 1_600, expected + 1_600);
        expect(found.likeness, `${startMs} ms`).toBeGreaterThan(0.95);
      }
    });
  });

  it('no first word is lost: the key comes 0 to 300 ms after the word began, and the word is there from its first sample', async () => {
    verifies('VO-03');
    for (const late of [0, 100, 200, 300])
      await withPage(async (page) => {
        const word = chirp(400, 2_500, 400, 16_000, 0.5);
        const quietMs = 800;
        await exact(page, join(noise(-55, quietMs), word, noise(-55, 800)), 16_000);
        await page.evaluate(async (pressAfterMs) => {
          const source = Reflect.get(window, 'source') as { play: () => Promise<void> };
          const playing = source.play();
          // A page that is busy notices the key late, and says when it was pressed.
          const pressed = performance.now() + pressAfterMs;
          await new Promise((resolve) => setTimeout(resolve, pressAfterMs + 60));
          window.held.microphone.begin(pressed);
          await playing;
          window.held.microphone.end();
        }, quietMs + late);
        await page.waitForFunction(() => window.held.microphone.ends.length === 1, undefined, { polling: 20 });
        const { sound } = await captured(page);
        // A busy machine lets the browser slip by some 10 ms inside, so both ends are looked for by themselves.
        const first = find(word.slice(0, 640), sound, 0, 16_000);
        const last = find(word.slice(-640), sound, first.at, first.at + 8_000);
        expect(first.likeness, `${late} ms late`).toBeGreaterThan(0.9);
        expect(last.likeness, `${late} ms late`).toBeGreaterThan(0.9);
        expect(Math.abs(last.at - first.at - (word.length - 640))).toBeLessThan(1_600);
      });
  });

  it('nothing is sent before the key, and the tail after it', async () => {
    await withPage(async (page) => {
      await exact(page, tone(440, 4_000, 16_000, 0.3), 16_000);
      await page.evaluate(() => void (Reflect.get(window, 'source') as { play: () => Promise<void> }).play());
      await page.waitForFunction(() => window.held.microphone.levels() > 20);
      expect((await captured(page)).frames.length).toBe(0);
      await page.evaluate(() => {
        window.held.microphone.begin();
        window.held.microphone.end(250);
      });
      await page.waitForFunction(() => window.held.microphone.ends.length === 1);
      const { frames } = await captured(page);
      // 400 ms before, 250 ms after, each up to a frame more.
      expect(frames.length).toBeGreaterThanOrEqual(20);
      expect(frames.length).toBeLessThanOrEqual(23);
      const now = await page.evaluate(() => window.held.microphone.levels());
      await page.waitForFunction((then) => window.held.microphone.levels() > then + 10, now);
      expect((await captured(page)).frames.length).toBe(frames.length);
    });
  });

  it('"listening" is claimed when sound arrives, not when the device opens; zeros alone are told once, and sound heals it', async () => {
    await withPage(async (page) => {
      await exact(page, join(silence(2_500), tone(440, 1_000, 16_000, 0.2)), 16_000);
      await page.evaluate(() => void (Reflect.get(window, 'source') as { play: () => Promise<void> }).play());
      await page.waitForFunction(() => window.held.microphone.phases.at(-1) === 'live', undefined, { polling: 20 });
      const held = await page.evaluate(() => ({ phases: window.held.microphone.phases, notices: window.held.microphone.notices }));
      expect(held.phases.filter((phase, i) => phase !== held.phases[i - 1])).toEqual(['opening', 'silent', 'live']);
      expect(held.notices).toEqual([{ code: 'MIC_SILENT' }]);
    });
  });

  it('a mute stops the track, and a tone that goes on reaches no buffer; opening is refused until it is lifted', async () => {
    await withPage(async (page) => {
      await exact(page, tone(440, 6_000, 16_000, 0.5), 16_000);
      await page.evaluate(() => {
        void (Reflect.get(window, 'source') as { play: () => Promise<void> }).play();
        window.held.microphone.begin();
      });
      await page.waitForFunction(() => window.held.microphone.frames.length > 10);
      const after = await page.evaluate(async () => {
        const { microphone } = window.held;
        const [track] = (await navigator.mediaDevices.getUserMedia({ audio: true })).getAudioTracks();
        microphone.setMuted(true);
        const then = {
          frames: microphone.frames.length,
          levels: microphone.levels(),
          ends: [...microphone.ends],
          track: track?.readyState,
        };
        microphone.begin();
        const refused = await microphone.tryOpen(null);
        // Forty quanta of a context that runs beside it: what was on its way would have come.
        const clock = new AudioContext();
        await clock.resume();
        await new Promise<void>((resolve) => {
          const look = () => (clock.currentTime > 0.5 ? resolve() : requestAnimationFrame(look));
          look();
        });
        await clock.close();
        const now = { frames: microphone.frames.length, levels: microphone.levels() };
        microphone.setMuted(false);
        return { then, now, refused, phase: microphone.get().phase };
      });
      expect(after.then).toMatchObject({ ends: ['muted'], track: 'ended' });
      expect(after.now).toEqual({ frames: after.then.frames, levels: after.then.levels });
      expect(after.refused).toMatchObject({ code: 'MIC_MUTED' });
      expect(after.phase).toBe('closed');
    });
  });

  it('a microphone that is unplugged in the middle of a sentence: what was said is kept, and the next one is found', async () => {
    await withPage(async (page) => {
      await exact(page, chirp(200, 2_000, 6_000, 16_000, 0.5), 16_000);
      await page.evaluate(() => {
        void (Reflect.get(window, 'source') as { play: () => Promise<void> }).play();
        window.held.microphone.begin(performance.now());
      });
      await page.waitForFunction(() => window.held.microphone.frames.length > 20);
      await page.evaluate(async () => {
        const stream = await navigator.mediaDevices.getUserMedia({ audio: true });
        const other = stream.clone();
        navigator.mediaDevices.getUserMedia = async () => other;
        stream.getAudioTracks()[0]?.dispatchEvent(new Event('ended'));
      });
      await page.waitForFunction(() => window.held.microphone.phases.at(-1) === 'live', undefined, { polling: 20 });
      const held = await page.evaluate(() => ({ ends: window.held.microphone.ends, notices: window.held.microphone.notices }));
      expect(held).toEqual({ ends: ['deviceChanged'], notices: [{ code: 'VOICE_DEVICE_CHANGED' }] });
      const { frames } = await captured(page);
      expect(frames.map(({ seq }) => seq)).toEqual(frames.map((_, i) => i));
      expect(frames.length).toBeGreaterThan(20);
    });
  });

  it('a refused and a missing microphone are told apart', async () => {
    for (const [switches, code] of [
      // Without a person who could answer, the browser's question is answered with no.
      [['--use-fake-device-for-media-stream'], 'MIC_DENIED'],
      [[], 'MIC_MISSING'],
    ] as const) {
      const other = await launchBrowser(switches);
      try {
        await using server = await servePage(createFakeRuntime().router, pageDir);
        const page = await other.newPage();
        await page.goto(server.url);
        await page.waitForFunction(() => 'sound' in window);
        const tried = await page.evaluate(async () => {
          const microphone = window.sound.microphone();
          const failure = await microphone.tryOpen(null);
          return { failure, state: microphone.get().phase };
        });
        expect(tried).toMatchObject({ failure: { code }, state: 'failed' });
      } finally {
        await other.close();
      }
    }
  });

  it('devices have names, and a choice is one of them', async () => {
    await withPage(async (page) => {
      const found = await page.evaluate(async () => {
        const microphone = window.sound.microphone();
        await microphone.open(null);
        const devices = await window.sound.devices();
        const names = window.sound.choices(devices.inputs).map(({ name }) => name);
        const wanted = names.at(-1) ?? '';
        await microphone.open(wanted);
        const state = microphone.get();
        microphone.close();
        return { devices, names, wanted, opened: 'device' in state ? state.device : '', after: microphone.get().phase };
      });
      expect(found.devices.outputs.length).toBeGreaterThan(0);
      expect(found.names.length).toBeGreaterThan(0);
      expect(found.opened).toBe(found.wanted);
      expect(found.after).toBe('closed');
    });
  });
});

describe('the loudspeaker', { timeout: 60_000 }, () => {
  const open = (page: Page) =>
    page.evaluate(async () => {
      window.held = { ...window.held, loudspeaker: await window.sound.loudspeaker() };
      return window.held.loudspeaker.rateHz;
    });
  const say = (page: Page, phrase: number, pcm: Float32Array, generation = 1) =>
    page.evaluate(
      ({ number, samples, of }) =>
        window.held.loudspeaker.say(
          { generation: of, phrase: number, last: true, range: { from: number * 10, to: number * 10 + 9 }, rateHz: 24_000 },
          samples,
        ),
      { number: phrase, samples: [...pcm], of: generation },
    );
  const state = async (page: Page) => {
    const { events, lost, sink } = await page.evaluate(() => {
      const { loudspeaker } = window.held;
      return { events: loudspeaker.events, lost: loudspeaker.lost, sink: loudspeaker.sink() };
    });
    // By its frames and not by its pieces: a recorder that was busy shows as a hole, not as a shift.
    const from = sink[0]?.frame ?? 0;
    const sound = new Float32Array((sink.at(-1)?.frame ?? 0) + 128 - from);
    for (const { frame, samples } of sink) sound.set(samples, frame - from);
    return { events, lost, from, sound };
  };
  const until = (page: Page, type: string) =>
    page.waitForFunction((wanted) => window.held.loudspeaker.events.some((event) => event.type === wanted), type, { polling: 20 });

  it('what was queued sounds, without a gap, and the marks come in order with their frames', async () => {
    verifies('VO-65');
    await withPage(async (page) => {
      const rate = await open(page);
      const phrases = [chirp(300, 900, 400, 24_000), chirp(900, 2_000, 300, 24_000), chirp(2_000, 400, 350, 24_000)];
      for (const [i, pcm] of phrases.entries()) await say(page, i + 1, pcm);
      await page.evaluate(() => window.held.loudspeaker.finish(1));
      await until(page, 'drained');
      const { events, lost, sound, from } = await state(page);
      const done = events.filter(({ type, done: all }) => type === 'played' && all === true);
      expect(done.map(({ phrase, ms }) => [phrase, Math.round(ms as number)])).toEqual([
        [1, 400],
        [2, 300],
        [3, 350],
      ]);
      expect(done.map(({ range }) => range)).toEqual([10, 20, 30].map((at) => ({ from: at, to: at + 9 })));
      expect(lost).toEqual([]);
      // The frame of each mark is where that phrase ends in what the loudspeaker got.
      for (const [i, pcm] of phrases.entries()) {
        const wanted = resample(pcm, 24_000, rate);
        const end = (done[i]?.['frame'] as number) + 1 - from;
        expect(alike(sound.subarray(end - wanted.length + 200, end), wanted.subarray(200)), `phrase ${i + 1}`).toBeGreaterThan(0.999);
      }
    });
  });

  it('a stop silences the loudspeaker within one quantum of its own clock, in the middle of a word', async () => {
    await withPage(async (page) => {
      await open(page);
      await say(page, 7, tone(440, 5_000, 24_000, 0.8));
      await page.waitForFunction(() => window.held.loudspeaker.events.some(({ type }) => type === 'played'));
      const stopped = await page.evaluate(() => window.held.loudspeaker.stop(1));
      expect(stopped.heard).toMatchObject({ generation: 1, phrase: 7, range: { from: 70, to: 79 } });
      // What comes late of the stopped answer stays silent; the next answer sounds.
      await say(page, 8, tone(440, 300, 24_000, 0.8));
      await say(page, 1, tone(660, 300, 24_000, 0.8), 2);
      await page.evaluate(() => window.held.loudspeaker.finish(2));
      await until(page, 'drained');
      const { sound, from, events } = await state(page);
      const at = stopped.frame - from;
      const next = events.find(({ type, generation }) => type === 'played' && generation === 2);
      const begins = (next?.['frame'] as number) - from;
      // One quantum before the silence it still sounded in full; then only zeros until the next answer.
      expect(peak(sound.subarray(at - 384, at - 128))).toBeGreaterThan(0.7);
      expect(peak(sound.subarray(at, begins - 14_400))).toBe(0);
      expect(rms(sound.subarray(begins - 2_000, begins))).toBeGreaterThan(0.3);
      expect(events.filter(({ type, phrase }) => type === 'played' && phrase === 8)).toEqual([]);
    });
  });

  it('a pause keeps the place; a loudspeaker that is not there is told', async () => {
    await withPage(async (page) => {
      await open(page);
      await say(page, 1, tone(440, 1_000, 24_000, 0.5));
      await page.waitForFunction(() => window.held.loudspeaker.events.some(({ type }) => type === 'played'));
      await page.evaluate(() => window.held.loudspeaker.pause());
      await until(page, 'paused');
      expect(await page.evaluate(() => window.held.loudspeaker.tryOutput('No such loudspeaker'))).toMatchObject({
        code: 'DEVICE_LOST',
        data: { kind: 'output' },
      });
      expect(await page.evaluate(() => window.held.loudspeaker.tryOutput(null))).toBeNull();
      await page.evaluate(() => {
        window.held.loudspeaker.resume();
        window.held.loudspeaker.finish(1);
      });
      await until(page, 'drained');
      const { events } = await state(page);
      const done = events.filter(({ type, done: all }) => type === 'played' && all === true);
      expect(done.map(({ ms }) => Math.round(ms as number))).toEqual([1_000]);
    });
  });

  it('without any loudspeaker nothing is played into the void: it is told, and the answer counts as spoken', async () => {
    const bare = await launchBrowser(['--autoplay-policy=no-user-gesture-required']);
    try {
      await using server = await servePage(createFakeRuntime().router, pageDir);
      const page = await bare.newPage();
      await page.goto(server.url);
      await page.waitForFunction(() => 'sound' in window);
      await open(page);
      await say(page, 1, tone(440, 1_000, 24_000, 0.5));
      await until(page, 'drained');
      expect((await state(page)).lost).toEqual(['DEVICE_LOST']);
      expect((await state(page)).events.filter(({ type }) => type === 'played')).toEqual([]);
    } finally {
      await bare.close();
    }
  });
});
