import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chooseVoice } from '../../../src/shared/domain/voiceChoice.ts';
import { verifies } from '../../helpers/verifies.ts';

const voice = (voiceId: string, language = 'en') => ({ voiceId, language });
const voices = [voice('heart'), voice('joe'), voice('thorsten', 'de')];
const choose = (change: Partial<Parameters<typeof chooseVoice>[0]> = {}) =>
  chooseVoice({ chat: null, everything: null, voices, standard: [voice('joe'), voice('thorsten', 'de')], ...change });

describe('VO-97: which voice speaks', () => {
  it.each([
    ['the one of this chat, before that for everything', { chat: 'heart', everything: 'joe' }, { voiceId: 'heart', by: 'chat' }],
    ['the one for everything', { everything: 'heart' }, { voiceId: 'heart', by: 'everything' }],
    ["the pack's own", {}, { voiceId: 'joe', by: 'pack' }],
    ["the pack's own for the language", { language: 'de' }, { voiceId: 'thorsten', by: 'pack' }],
    ['none where nothing speaks the language', { language: 'fr' }, { voiceId: null, by: 'none' }],
    ['none where nothing is installed', { voices: [], standard: [] }, { voiceId: null, by: 'none' }],
  ] as const)('%s', (_, change, wanted) => {
    verifies('VO-97');
    expect(choose(change)).toMatchObject({ ...wanted, problem: null });
  });

  it('a chosen voice that is gone is not replaced: nobody speaks, and the next of the order is offered', () => {
    verifies('VO-97', 'VO-64');
    expect(choose({ everything: 'emma' })).toEqual({ voiceId: null, by: 'everything', problem: 'gone', next: 'joe' });
    expect(choose({ chat: 'emma', everything: 'heart' })).toEqual({ voiceId: null, by: 'chat', problem: 'gone', next: 'heart' });
    expect(choose({ chat: 'emma', everything: 'bella' })).toMatchObject({ voiceId: null, next: 'joe' });
    expect(choose({ everything: 'emma', standard: [] })).toMatchObject({ voiceId: null, next: null });
  });

  it('a chosen voice does not speak another language with a wrong accent', () => {
    verifies('VO-64');
    expect(choose({ everything: 'heart', language: 'de' })).toEqual({
      voiceId: null,
      by: 'everything',
      problem: 'language',
      next: 'thorsten',
    });
  });

  it('whatever is chosen and installed: who speaks is there, speaks the language, and is never another than the one that was chosen', () => {
    const id = fc.constantFrom('heart', 'joe', 'thorsten', 'gone');
    fc.assert(
      fc.property(
        fc.option(id),
        fc.option(id),
        fc.subarray(voices),
        fc.constantFrom('en', 'de', 'fr', undefined),
        (chat, everything, here, language) => {
          const { voiceId, by, problem, next } = chooseVoice({ chat, everything, voices: here, standard: here, language });
          const fits = (one: string | null) =>
            one === null || here.some((v) => v.voiceId === one && (language === undefined || v.language === language));
          expect(fits(voiceId)).toBe(true);
          expect(fits(next)).toBe(true);
          if (chat !== null) expect([chat, null]).toContain(voiceId);
          else if (everything !== null) expect([everything, null]).toContain(voiceId);
          expect(voiceId === null).toBe(problem !== null || by === 'none');
        },
      ),
    );
  });
});
