import { readFile, writeFile } from 'node:fs/promises';
import { transcribeSeconds } from '../../../shared/contract/speech.ts';
import { resample } from '../../../shared/util/resampler.ts';
import { joinSamples } from '../../../shared/util/samples.ts';
import type { RuntimeClient } from '../../http/client.ts';
import { cutAtQuiet } from '../../speech/cuts.ts';
import { fromPcm16, toPcm16 } from '../../speech/pcm.ts';
import { readWav, writeWav } from '../../speech/wav.ts';
import type { Command } from './args.ts';
import { type Io, stoppable, UsageError } from './io.ts';

const RATE = 16_000;

/** `sotto transcribe FILE`: the words in a sound file, line by line as they are understood. Ctrl-C stops. */
export async function transcribeCommand(command: Extract<Command, { name: 'transcribe' }>, client: RuntimeClient, io: Io): Promise<number> {
  const { json } = command.common;
  const bytes = await readFile(command.file).catch(() => {
    throw new UsageError('The file could not be read.');
  });
  const { samples, sampleRate, repaired } = readWav(bytes);
  if (repaired > 0) io.err(`Warning: ${repaired} samples are no numbers and were taken as silence.\n`);
  const sound = resample(samples, sampleRate, RATE);
  return stoppable(io, async (signal) => {
    const segments = [];
    for (const { start, end } of cutAtQuiet(sound, RATE, transcribeSeconds * 0.6, transcribeSeconds)) {
      // What a cut leaves over may be too short to be anything; a short file is not.
      if (start > 0 && end - start < RATE / 10) continue;
      const pcm = Buffer.from(toPcm16(sound.subarray(start, end))).toString('base64');
      const heard = await client.speech.transcribe({ pcm }, { signal });
      const fromMs = Math.round((1000 * start) / RATE);
      for (const segment of heard.segments) {
        segments.push({ ...segment, startMs: segment.startMs + fromMs, endMs: segment.endMs + fromMs });
        if (!json && segment.text !== '') io.out(`${segment.text}\n`);
      }
    }
    const text = segments.flatMap((segment) => (segment.text === '' ? [] : [segment.text])).join(' ');
    if (json) io.out(`${JSON.stringify({ text, durationMs: Math.round((1000 * samples.length) / sampleRate), segments })}\n`);
    else if (text === '') io.err('No speech was heard.\n');
    return 0;
  });
}

/** `sotto say TEXT --out FILE`: a text as a sound file. Ctrl-C stops; nothing is written then. */
export async function sayCommand(command: Extract<Command, { name: 'say' }>, client: RuntimeClient, io: Io): Promise<number> {
  return stoppable(io, async (signal) => {
    const parts: Float32Array[] = [];
    let rate = RATE;
    const { text, voiceId, speed } = command;
    for await (const phrase of await client.speech.say({ text, speed, ...(voiceId === undefined ? {} : { voiceId }) }, { signal })) {
      rate = phrase.sampleRate;
      // Phrases come without silence around them; a fifth of a second stands between.
      if (parts.length > 0) parts.push(new Float32Array(Math.round(rate / 5)));
      parts.push(fromPcm16(Buffer.from(phrase.pcm, 'base64')));
    }
    const whole = joinSamples(parts);
    await writeFile(command.out, writeWav(whole, rate)).catch(() => {
      throw new UsageError('The file could not be written.');
    });
    const seconds = whole.length / rate;
    io.out(
      command.common.json
        ? `${JSON.stringify({ seconds, sampleRate: rate })}\n`
        : `${seconds.toFixed(1)} seconds of speech are in the file.\n`,
    );
    return 0;
  });
}
