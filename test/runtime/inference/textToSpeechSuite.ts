import { expect, it } from 'vitest';
import type { SpeakRequest, SpokenPhrase, TextToSpeech } from '../../../src/runtime/inference/textToSpeech.ts';
import { peak } from '../../helpers/audio.ts';

const { signal } = new AbortController();

/** What everything behind the speaking port promises. */
export function textToSpeechSuite(subject: () => TextToSpeech): void {
  async function said(request: SpeakRequest): Promise<SpokenPhrase[]> {
    const phrases: SpokenPhrase[] = [];
    for await (const phrase of subject().speak(request, { signal })) phrases.push(phrase);
    return phrases;
  }
  const first = (request: SpeakRequest, by = signal) => subject().speak(request, { signal: by }).next();
  const length = (phrases: readonly SpokenPhrase[]) => phrases.reduce((sum, { samples }) => sum + samples.length, 0);

  it('names its model and rate; its voices are each one of a kind', async () => {
    const { modelId, sampleRate } = await subject().ready({ signal });
    expect(modelId).not.toBe('');
    expect(sampleRate).toBeGreaterThanOrEqual(8_000);
    const ids = subject()
      .voices()
      .map(({ voiceId }) => voiceId);
    expect(ids.length).toBeGreaterThan(0);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('VO-63: speaks phrase by phrase, each with its place in the text; samples in range that begin and end softly', async () => {
    const text = 'One moment. I look it up for you.';
    const { sampleRate } = await subject().ready({ signal });
    const phrases = await said({ text });
    expect(phrases.map(({ phrase }) => phrase)).toEqual(phrases.map((_, i) => i));
    let at = 0;
    for (const one of phrases) {
      const [from, to] = one.textRange;
      expect(from).toBeGreaterThanOrEqual(at);
      expect(to).toBeGreaterThan(from);
      at = to;
      expect(one.sampleRate).toBe(sampleRate);
      expect(one.samples.every((x) => x >= -1 && x <= 1)).toBe(true);
      expect(peak(one.samples)).toBeGreaterThan(0.05);
      // No click where it is joined to another sound.
      expect(Math.max(Math.abs(one.samples[0] ?? 1), Math.abs(one.samples.at(-1) ?? 1))).toBeLessThan(0.01);
    }
    expect(at).toBe(text.length);
    expect(length(phrases) / sampleRate).toBeGreaterThan(0.3);
  });

  it('speaks slower and faster, and with each voice by its name', async () => {
    const text = 'Good morning.';
    expect(length(await said({ text, speed: 2 }))).toBeLessThan(length(await said({ text, speed: 0.5 })) * 0.6);
    const [voice] = subject().voices();
    expect(length(await said({ text, voiceId: voice?.voiceId, language: voice?.language }))).toBeGreaterThan(1_000);
  });

  it('VO-64: a voice or a language that is not there is an error, never another voice; signs alone are unspeakable', async () => {
    await expect(first({ text: 'Hello.', voiceId: 'nobody' })).rejects.toMatchObject({ code: 'VOICE_UNKNOWN' });
    await expect(first({ text: 'Saluton.', language: 'eo' })).rejects.toMatchObject({
      code: 'TTS_UNAVAILABLE',
      data: { reason: 'language' },
    });
    for (const nothing of ['!!!', '☃ …']) await expect(first({ text: nothing })).rejects.toMatchObject({ code: 'TEXT_UNSPEAKABLE' });
  });

  it('what was given up is CANCELLED, whoever leaves early costs nobody anything, and the next text is spoken', async () => {
    const abort = new AbortController();
    abort.abort();
    await expect(first({ text: 'Hello.' }, abort.signal)).rejects.toMatchObject({ code: 'CANCELLED' });
    for await (const _ of subject().speak({ text: 'One. Two. Three. Four.' }, { signal })) break;
    expect(length(await said({ text: 'Good morning.' }))).toBeGreaterThan(1_000);
  });
}
