import { expect, it } from 'vitest';
import type { PartialTranscript, SpeechToText } from '../../../src/runtime/inference/speechToText.ts';
import { deferred } from '../../../src/shared/util/deferred.ts';
import { noise, offset, pieces, silence } from '../../helpers/audio.ts';
import { verifies } from '../../helpers/verifies.ts';

type Sound = Float32Array<ArrayBuffer>;
const { signal } = new AbortController();

/** What everything behind the recognition port promises. */
export function speechToTextSuite(subject: () => { speechToText: SpeechToText; speech: Sound }): void {
  const port = () => subject().speechToText;
  const open = (onPartial: (partial: PartialTranscript) => void = () => {}, by = signal) =>
    port().open({ signal: by, onPartial, languages: ['en'], hints: ['Sotto'] });

  it('names its model and the languages that it knows', async () => {
    const { modelId, languages } = await port().ready({ signal });
    expect(modelId).not.toBe('');
    expect(languages.length).toBeGreaterThan(0);
  });

  it('VO-57: gives text, language, length and how sure it is, and makes up no times of words', async () => {
    verifies('VO-57');
    const { speech } = subject();
    const { languages } = await port().ready({ signal });
    const found = await port().transcribe(speech, { signal, speech: true });
    expect(found.text).not.toBe('');
    expect(found).toMatchObject({ words: null, durationMs: Math.round(speech.length / 16) });
    expect(languages).toContain(found.language);
    expect(['ok', 'unsure']).toContain(found.verdict);
    expect(found.averageLogProb).toBeLessThanOrEqual(0);
    expect(found.noSpeechProb >= 0 && found.noSpeechProb <= 1).toBe(true);
  });

  it('VO-59: silence and faint noise are no words; under 0.1 s is AUDIO_TOO_SHORT, 0.1 s is not; what is no number is INVALID_AUDIO', async () => {
    for (const sound of [silence(3_000), noise(-60, 3_000), offset(silence(3_000), 0.2)])
      expect(await port().transcribe(sound, { signal, speech: false })).toMatchObject({ text: '', verdict: 'no-speech' });
    for (const samples of [0, 1, 1_599])
      await expect(port().transcribe(new Float32Array(samples), { signal, speech: false })).rejects.toMatchObject({
        code: 'AUDIO_TOO_SHORT',
      });
    await expect(port().transcribe(new Float32Array(1_600), { signal, speech: false })).resolves.toMatchObject({ text: '' });
    const broken = subject().speech.slice();
    broken[100] = Number.NaN;
    await expect(port().transcribe(broken, { signal, speech: true })).rejects.toMatchObject({ code: 'INVALID_AUDIO' });
  });

  it('VO-54: an utterance in uneven pieces, with readings on the way, ends as the whole sound does', async () => {
    verifies('VO-54');
    const { speech } = subject();
    const whole = await port().transcribe(speech, { signal, speech: true });
    const partials: PartialTranscript[] = [];
    const first = deferred<void>();
    const live = open((partial) => {
      partials.push(partial);
      first.resolve();
    });
    const early = Math.floor(speech.length * 0.8);
    for (const piece of pieces(speech.slice(0, early), 512, 1, 700)) live.feed(piece);
    await first.promise;
    for (const piece of pieces(speech.slice(early), 512)) live.feed(piece);
    expect((await live.finish({ speech: true })).text).toBe(whole.text);
    const told = partials.length;
    for (const { text, stable } of partials) expect(text.startsWith(stable)).toBe(true);
    // After its end nothing is read any more.
    live.feed(speech);
    await expect(live.finish({ speech: true })).rejects.toMatchObject({ code: 'CANCELLED' });
    expect(partials).toHaveLength(told);
  });

  it('too little of an utterance is AUDIO_TOO_SHORT; one that was given up or whose caller is gone is CANCELLED', async () => {
    const short = open();
    short.feed(new Float32Array(1_599));
    await expect(short.finish({ speech: false })).rejects.toMatchObject({ code: 'AUDIO_TOO_SHORT' });
    const closed = open();
    closed.feed(subject().speech);
    closed.close();
    closed.close();
    await expect(closed.finish({ speech: true })).rejects.toMatchObject({ code: 'CANCELLED' });
    const abort = new AbortController();
    const gone = open(() => {}, abort.signal);
    gone.feed(subject().speech);
    abort.abort();
    await expect(gone.finish({ speech: true })).rejects.toMatchObject({ code: 'CANCELLED' });
    await expect(port().transcribe(subject().speech, { signal: abort.signal, speech: true })).rejects.toMatchObject({ code: 'CANCELLED' });
  });

  it('two at once get each their own words', async () => {
    const [said, nothing] = await Promise.all([
      port().transcribe(subject().speech, { signal, speech: true }),
      port().transcribe(silence(1_000), { signal, speech: false }),
    ]);
    expect([said.text === '', nothing.text]).toEqual([false, '']);
  });
}
