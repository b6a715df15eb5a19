import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { musicFolder, promptFolder, soundsFolder, textFile } from '../../build/support/testSounds.mjs';
import { decodeG722 } from './g722.ts';
import { foldedWords } from './wordErrors.ts';

// Recorded human speech and music from packages; licences in test/eval/README.md.

type Sound = Float32Array<ArrayBuffer>;

/** Something that a person said into a studio microphone. */
export type Recording = {
  readonly name: string;
  readonly text: string;
  /** 16 kHz mono, −1…1. Decoded each time. */
  sound(): Sound;
  readonly seconds: number;
};

function found(path: string): string {
  const whole = join(soundsFolder(), path);
  if (!existsSync(whole)) throw new Error('the recorded speech is not there: run `npm run setup -- --test`');
  return whole;
}

const RATE = 16_000;

/**
 * Every recorded prompt whose text is known and whose words are what was said: no tones, no signs that are read as words. In the order of
 * the package, which is that of their names.
 *
 * @param options.minWords    after folding.
 * @param options.maxSeconds  the bare recogniser makes up a tail from 35 s on.
 */
export function recordings(options: { minWords?: number; maxSeconds?: number } = {}): Recording[] {
  const { minWords = 1, maxSeconds = 30 } = options;
  const list: Recording[] = [];
  for (const line of gunzipSync(readFileSync(found(textFile)))
    .toString('utf8')
    .split('\n')) {
    const [, name, text] = /^([\w/-]+): (.+)$/.exec(line) ?? [];
    if (name === undefined || text === undefined || /[[\]<>#*()]/.test(text) || foldedWords(text).length < minWords) continue;
    const path = join(soundsFolder(), promptFolder, `${name}.g722`);
    if (!existsSync(path)) continue;
    const bytes = readFileSync(path);
    const seconds = (bytes.length * 2) / RATE;
    if (seconds <= maxSeconds) list.push({ name, text, seconds, sound: () => decodeG722(bytes) });
  }
  return list;
}

/** Music as it is played to whoever waits: several pieces one after the other, as long as asked for. 16 kHz mono. */
export function music(ms: number): Sound {
  const out = new Float32Array(Math.round((ms * RATE) / 1_000));
  const files = readdirSync(found(musicFolder)).toSorted();
  // Of each piece the same share, so that a short stretch holds all of them.
  const share = Math.ceil(out.length / files.length);
  files.forEach((file, i) => {
    const piece = decodeG722(readFileSync(join(found(musicFolder), file)).subarray(0, Math.ceil(share / 2)));
    out.set(piece.subarray(0, Math.max(0, Math.min(share, out.length - i * share))), i * share);
  });
  return out;
}
