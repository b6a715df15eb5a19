import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { phrasesOf } from '../../../../src/runtime/speech/phrases/phraser.ts';
import { AppError } from '../../../../src/shared/errors/appError.ts';
import { verifies } from '../../../helpers/verifies.ts';
import { speakerHarness } from './scriptedVoice.ts';

const five = 'One is here. Two is here. Three is here. Four is here. Five is here.';

describe('an answer that is spoken while it is written', () => {
  it('VO-61: speaks the first phrase while the rest is not there yet', async () => {
    const t = speakerHarness();
    t.begin(7);
    t.speaker.push('It is Paris. And the');
    await t.settle();
    expect(t.chunks).toMatchObject([{ generation: 7, phrase: 0, last: true, range: { from: 0, to: 12 }, rateHz: 1_000 }]);
    expect(t.captions).toEqual([{ phrase: 0, from: 0, to: 12, text: 'It is Paris.' }]);
    expect(t.marks).toEqual(['firstPhrase', 'firstAudioMade']);
    expect(t.finished).toEqual([]);
    t.speaker.push(' rest.');
    t.speaker.end();
    await t.playAll();
    expect(t.voice.texts()).toEqual(['It is Paris.', 'And the rest.']);
    expect(t.finished).toEqual([7]);
    expect(t.marks).toEqual(['firstPhrase', 'firstAudioMade']);
    expect(t.speaker.heardUnits()).toBe('It is Paris. And the rest.'.length);
  });

  it('asks for the chosen voice, language and speed, and for the spoken form', async () => {
    const t = speakerHarness();
    t.speaker.begin(1, { voiceId: 'joe', language: 'de-DE', speed: 1.5 });
    t.speaker.push('Es kostet **5 €**.');
    t.speaker.end();
    await t.settle();
    expect(t.voice.calls.map(({ request }) => request)).toEqual([
      { text: 'Es kostet fünf Euro.', voiceId: 'joe', language: 'de-DE', speed: 1.5 },
    ]);
    expect(t.captions[0]).toEqual({ phrase: 0, from: 0, to: 18, text: 'Es kostet fünf Euro.' });
  });

  it('cuts the first phrase after 350 ms and later ones after 700 ms, between words', async () => {
    const t = speakerHarness();
    t.begin();
    t.speaker.push('Well there are many thi');
    await t.clock.advanceAsync(349);
    expect(t.captions).toEqual([]);
    await t.clock.advanceAsync(1);
    expect(t.voice.texts()).toEqual(['Well there are many']);
    t.speaker.push('ngs to say ab');
    await t.clock.advanceAsync(699);
    expect(t.voice.texts()).toHaveLength(1);
    await t.clock.advanceAsync(1);
    expect(t.voice.texts()).toEqual(['Well there are many', 'things to say']);
    t.speaker.push('out it.');
    t.speaker.end();
    await t.playAll();
    expect(t.voice.texts().join(' ')).toBe('Well there are many things to say about it.');
    expect(t.clock.pending).toBe(0);
  });

  it('leaves a phrase whole while there is enough to say before it', async () => {
    const t = speakerHarness();
    t.begin();
    t.speaker.push('One is here. Two is here. Three is being');
    await t.clock.advanceAsync(5_000);
    expect(t.voice.texts()).toEqual(['One is here.', 'Two is here.']);
    // The last but one is over: now somebody would wait.
    t.play();
    await t.settle();
    expect(t.voice.texts()).toEqual(['One is here.', 'Two is here.', 'Three is']);
  });

  it('VO-63: makes the next phrase while one plays, and never more than two ahead of it', async () => {
    const t = speakerHarness();
    t.begin();
    t.speaker.push(five);
    t.speaker.end();
    await t.settle();
    expect(t.voice.texts()).toHaveLength(3);
    t.play(0.5);
    await t.settle();
    expect(t.voice.texts()).toHaveLength(3);
    t.play();
    await t.settle();
    expect(t.voice.texts()).toHaveLength(4);
    expect(t.finished).toEqual([]);
    t.play();
    await t.settle();
    expect(t.voice.texts()).toHaveLength(5);
    expect(t.finished).toEqual([1]);
    expect(t.chunks.map(({ phrase }) => phrase)).toEqual([0, 1, 2, 3, 4]);
  });

  it('keeps one phrase one, though the voice cuts it into several', async () => {
    const t = speakerHarness({
      piecesOf: (text) => phrasesOf(text, 'en').map(({ start, end }) => [start, end] as const),
    });
    const written = 'Meet me there on 3/5/2026, or call the number 555-123-4567, and it costs $1,234.50';
    t.begin();
    t.speaker.push(written);
    t.speaker.end();
    await t.playAll();
    expect(t.chunks.length).toBeGreaterThan(t.captions.length);
    for (const [phrase, caption] of t.captions.entries()) {
      const pieces = t.chunks.filter((chunk) => chunk.phrase === phrase);
      expect(pieces.map(({ last }) => last)).toEqual([...pieces.slice(1).map(() => false), true]);
      let from = caption.from;
      for (const { range } of pieces) {
        expect(range.from).toBe(from);
        from = range.to;
      }
      expect(from).toBe(caption.to);
    }
    expect(t.speaker.heardUnits()).toBe(written.length);
  });

  it('ends a phrase whose last piece cannot be spoken', async () => {
    const t = speakerHarness({ piecesOf: (text) => (text.startsWith('Hello') ? [[0, 5]] : []) });
    t.begin();
    t.speaker.push('Hello 世界 there. Nothing of it.');
    t.speaker.end();
    await t.playAll();
    expect(t.chunks.map(({ phrase, last, range, pcm }) => ({ phrase, last, range, samples: pcm.length }))).toEqual([
      { phrase: 0, last: false, range: { from: 0, to: 5 }, samples: 50 },
      { phrase: 0, last: true, range: { from: 5, to: 15 }, samples: 0 },
    ]);
    expect(t.captions.map(({ text }) => text)).toEqual(['Hello 世界 there.', 'Nothing of it.']);
    expect(t.finished).toEqual([1]);
    expect(t.failures).toEqual([]);
    expect(t.speaker.heardUnits()).toBe('Hello 世界 there. Nothing of it.'.length);
  });

  it('finishes without sound when there is nothing to say', async () => {
    const t = speakerHarness();
    t.begin(3);
    t.speaker.push('🙂 --- ');
    t.speaker.end();
    await t.settle();
    expect([t.finished, t.chunks, t.captions, t.marks, t.failures]).toEqual([[3], [], [], [], []]);
    t.begin(4);
    t.speaker.end();
    expect(t.finished).toEqual([3, 4]);
  });
});

describe('where a phrase ends', () => {
  const spokenOf = async (text: string, language = 'en') => {
    const t = speakerHarness();
    t.begin(1, language);
    t.speaker.push(text);
    t.speaker.end();
    await t.playAll();
    return t.voice.texts();
  };

  it('VO-60: at a stop, a line break, a comma from four words on, the token limit and the time limit, never inside what belongs together', async () => {
    verifies('VO-60');
    expect(await spokenOf('One. Two! Three? Four; five: six… Seven')).toEqual([
      'One.',
      'Two!',
      'Three?',
      'Four;',
      'five:',
      'six...',
      'Seven',
    ]);
    expect(await spokenOf('一。二！三？四；五：六', 'zh')).toEqual(['一。', '二!', '三?', '四;', '五:', '六']);
    expect(await spokenOf('A line\nand another')).toEqual(['A line', 'and another']);
    expect(await spokenOf('Yes, it is so, as we know by now, all of it')).toEqual(['Yes, it is so,', 'as we know by now,', 'all of it']);
    expect(await spokenOf('Pi is 3.14159. Ask Dr. Who, J. R. Smith or a.b@c.example')).toHaveLength(2);
    const long = await spokenOf(Array.from({ length: 70 }, (_, i) => (i % 2 === 0 ? 'many' : 'words')).join(' '));
    expect(long.length).toBeGreaterThan(1);
    expect(long.join(' ').split(' ')).toHaveLength(70);
    const t = speakerHarness();
    t.begin();
    t.speaker.push('Nothing ends this ti');
    await t.clock.advanceAsync(350);
    t.speaker.push('me or that one');
    await t.clock.advanceAsync(700);
    expect(t.voice.texts()).toEqual(['Nothing ends this', 'time or that']);
  });

  it('VO-61: the first one sooner, none above 200 characters, none of signs alone, and none of words that were taken back', async () => {
    verifies('VO-61');
    const t = speakerHarness();
    t.begin();
    const words = 'x'.repeat(450);
    t.speaker.push('Well now');
    await t.clock.advanceAsync(350);
    expect(t.voice.texts()).toEqual(['Well']);
    t.speaker.push(` -- ... ${words} ... and so on`);
    t.speaker.end();
    await t.playAll();
    expect(t.voice.texts().every((text) => text.length <= 200 && /[\p{L}\p{N}]/u.test(text))).toBe(true);
    expect(
      t.voice
        .texts()
        .join('')
        .replaceAll(/[^a-z]/gi, ''),
    ).toBe(`Wellnow${words}andsoon`);
    // A draft that the model takes back: what depends on it is not said.
    const u = speakerHarness();
    u.begin();
    u.voice.shut();
    u.speaker.push('The wrong one. And its rest. Unfini');
    await u.settle();
    u.speaker.restart();
    u.voice.open();
    u.speaker.push('The right one.');
    u.speaker.end();
    await u.playAll();
    expect(u.captions.map(({ text, from, to }) => [text, from, to])).toEqual([['The right one.', 0, 14]]);
    expect(u.chunks.map(({ range }) => range)).toEqual([{ from: 0, to: 14 }]);
    expect(u.speaker.heardUnits()).toBe(14);
    expect(u.finished).toEqual([1]);
  });

  it('lets what the loudspeaker has sound to its end when the answer begins anew, and counts in the new text', async () => {
    const t = speakerHarness();
    t.begin();
    t.speaker.push('The wrong one. ');
    await t.settle();
    t.speaker.restart();
    t.speaker.push('Good. Here is the right one.');
    t.speaker.end();
    await t.settle();
    expect(t.chunks.map(({ phrase, range }) => [phrase, range.from])).toEqual([
      [0, 0],
      [1, 0],
      [2, 6],
    ]);
    t.play();
    expect(t.speaker.heardUnits()).toBe(0);
    t.play();
    expect(t.speaker.heardUnits()).toBe('Good.'.length);
  });
});

describe('what stops, waits or fails', () => {
  it('VO-74: nothing of a stopped answer ever comes, also when its sound is made late', async () => {
    const t = speakerHarness();
    t.voice.shut();
    t.begin(1);
    t.speaker.push(five);
    t.speaker.end();
    await t.settle();
    t.speaker.stop();
    expect(t.voice.calls[0]?.signal.aborted).toBe(true);
    t.begin(2);
    t.speaker.push('New one.');
    t.voice.open();
    t.speaker.end();
    await t.playAll();
    expect(t.chunks.map(({ generation }) => generation)).toEqual([2]);
    expect(t.captions.map(({ text }) => text)).toEqual(['New one.']);
    expect(t.finished).toEqual([2]);
    expect(t.failures).toEqual([]);
    expect(t.clock.pending).toBe(0);
  });

  it('holds what is made, within the same bound, and forgets it at a stop', async () => {
    const t = speakerHarness();
    t.speaker.hold();
    t.begin(1);
    t.speaker.push(five);
    t.speaker.end();
    await t.settle();
    expect([t.chunks, t.captions, t.voice.texts().length]).toEqual([[], [], 3]);
    t.speaker.stop();
    t.begin(2);
    t.speaker.push('Kept.');
    t.speaker.end();
    await t.settle();
    expect([t.chunks, t.finished]).toEqual([[], []]);
    t.speaker.release();
    expect(t.chunks.map(({ generation }) => generation)).toEqual([2]);
    expect(t.finished).toEqual([2]);
  });

  it('VO-64: a language without a voice is captions with a notice, and no other voice is asked', async () => {
    verifies('VO-64');
    const t = speakerHarness();
    const error = new AppError('TTS_UNAVAILABLE', { reason: 'language' });
    t.voice.fail(error);
    t.begin(1, 'nl');
    t.speaker.push('Het is Parijs. Dat ');
    await t.settle();
    expect(t.failures).toEqual([error]);
    t.speaker.push('is alles.');
    t.speaker.end();
    await t.settle();
    expect(t.captions.map(({ text }) => text)).toEqual(['Het is Parijs.', 'Dat is alles.']);
    expect(t.voice.calls).toHaveLength(1);
    expect([t.chunks, t.finished, t.failures]).toEqual([[], [1], [error]]);
    expect(t.speaker.heardUnits()).toBe('Het is Parijs. Dat is alles.'.length);
  });

  it.each(['VOICE_UNKNOWN', 'ENGINE_CRASHED', 'ENGINE_BREAKER_OPEN'] as const)(
    '%s in the middle: the rest is captions, and the next answer is spoken',
    async (code) => {
      const t = speakerHarness();
      t.begin(1);
      t.speaker.push('One is here. ');
      await t.settle();
      t.voice.fail(new AppError(code));
      t.speaker.push('Two is here. Three is here.');
      t.speaker.end();
      await t.settle();
      expect(t.failures.map((error) => error.code)).toEqual([code]);
      expect(t.chunks).toHaveLength(1);
      expect(t.captions.map(({ phrase, text }) => [phrase, text])).toEqual([
        [0, 'One is here.'],
        [1, 'Two is here.'],
        [2, 'Three is here.'],
      ]);
      expect(t.finished).toEqual([1]);
      // The first one sounds still.
      t.play(0.5);
      expect(t.speaker.heardUnits()).toBeLessThan('One is here.'.length);
      t.play();
      expect(t.speaker.heardUnits()).toBe('One is here. Two is here. Three is here.'.length);
      t.voice.fail(null);
      t.begin(2);
      t.speaker.push('Again.');
      t.speaker.end();
      await t.settle();
      expect(t.chunks.at(-1)).toMatchObject({ generation: 2, phrase: 0, last: true });
      expect(t.failures).toHaveLength(1);
    },
  );

  it('ends a phrase that breaks off in its middle', async () => {
    const t = speakerHarness({
      piecesOf: (text) => [
        [0, 5],
        [5, text.length],
      ],
    });
    t.begin(1);
    t.speaker.push('Hello my dear friend. More.');
    await Promise.resolve();
    await Promise.resolve();
    while (t.chunks.length === 0) await Promise.resolve();
    t.voice.fail(new AppError('ENGINE_CRASHED', { engineKey: 'speech' }));
    t.speaker.end();
    await t.settle();
    expect(t.chunks.at(-1)).toMatchObject({ phrase: 0, last: true, range: { to: 21 } });
    expect(t.captions.map(({ text }) => text)).toEqual(['Hello my dear friend.', 'More.']);
  });

  it('VO-65: without a loudspeaker the rest is captions at once, and counts as heard', async () => {
    const t = speakerHarness();
    t.begin(1);
    t.speaker.push('One is here. Two is here. ');
    await t.settle();
    t.voice.shut();
    t.speaker.push('Three is here. Four is here.');
    await t.settle();
    t.speaker.quiet();
    t.speaker.end();
    t.voice.open();
    await t.settle();
    expect(t.captions.map(({ text }) => text)).toEqual(['One is here.', 'Two is here.', 'Three is here.', 'Four is here.']);
    expect(t.chunks).toHaveLength(2);
    expect([t.finished, t.failures]).toEqual([[1], []]);
    expect(t.speaker.heardUnits()).toBe('One is here. Two is here. Three is here. Four is here.'.length);
  });
});

describe('how much was heard (VO-81)', () => {
  it('follows the loudspeaker by whole words, and does not go back', async () => {
    const t = speakerHarness();
    const written = 'Alpha beta gamma. Delta epsilon.';
    t.begin();
    t.speaker.push(written);
    t.speaker.end();
    await t.settle();
    expect(t.speaker.heardUnits()).toBe(0);
    t.play(8 / 17);
    expect(written.slice(0, t.speaker.heardUnits())).toBe('Alpha');
    t.play(10 / 17);
    expect(written.slice(0, t.speaker.heardUnits())).toBe('Alpha beta');
    t.play(2 / 17);
    expect(written.slice(0, t.speaker.heardUnits())).toBe('Alpha beta');
    t.play();
    expect(written.slice(0, t.speaker.heardUnits())).toBe('Alpha beta gamma.');
    t.speaker.stop();
    // The page answers a stop with what had been heard by then.
    t.play(0.5);
    expect(written.slice(0, t.speaker.heardUnits())).toBe('Alpha beta gamma. Delta');
    t.speaker.played({ phrase: 99, from: 0, to: 5, ms: 10 }, true);
    expect(written.slice(0, t.speaker.heardUnits())).toBe('Alpha beta gamma. Delta');
  });

  it('counts a figure when it was said to its end', async () => {
    const t = speakerHarness();
    t.begin();
    t.speaker.push('$1,234 is much.');
    t.speaker.end();
    await t.settle();
    t.play(0.4);
    expect(t.speaker.heardUnits()).toBe(0);
    t.play(0.9);
    expect(t.speaker.heardUnits()).toBeGreaterThanOrEqual('$1,234'.length);
  });

  it('never falls, never leaves the text, and is all of it at the end', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.lorem({ mode: 'sentences', maxCount: 6 }),
        fc.array(fc.double({ min: 0, max: 1, noNaN: true })),
        async (text, shares) => {
          const t = speakerHarness({ piecesOf: (spoken) => phrasesOf(spoken, 'en').map(({ start, end }) => [start, end] as const) });
          t.begin();
          t.speaker.push(text);
          t.speaker.end();
          await t.settle();
          let before = 0;
          for (const share of shares) {
            t.play(share);
            await t.settle();
            const units = t.speaker.heardUnits();
            expect(units).toBeGreaterThanOrEqual(before);
            before = units;
          }
          await t.playAll();
          expect(t.speaker.heardUnits()).toBe(text.length);
          expect(t.voice.texts().join(' ').match(/\w+/g)).toEqual(text.match(/\w+/g));
        },
      ),
      { numRuns: 40 },
    );
  });
});
