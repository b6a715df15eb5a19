import { describe, expect, it } from 'vitest';
import { sortVoices, talkFitness } from '../../../src/shared/domain/voiceCatalogue.ts';
import { verifies } from '../../helpers/verifies.ts';
import { speakingVoice } from '../../renderer/fakeVoices.ts';

describe('the voice catalogue', () => {
  it("VO-96: the person's language first, then by gender, accent, grade and name", () => {
    verifies('VO-96');
    const voice = (voiceId: string, language: string, gender: 'female' | 'male' | 'unknown', locale: string, note?: string) => {
      const { note: _, ...rest } = speakingVoice({ voiceId, name: voiceId, language, gender, locale });
      return note === undefined ? rest : { ...rest, note };
    };
    const voices = [
      voice('adam', 'en', 'male', 'en-US', 'F+'),
      voice('x', 'en', 'unknown', 'en-US'),
      voice('emma', 'en', 'female', 'en-GB', 'B-'),
      voice('thorsten', 'de', 'male', 'de-DE'),
      voice('bella', 'en', 'female', 'en-US', 'A-'),
      voice('heart', 'en', 'female', 'en-US', 'A'),
      voice('nova', 'en', 'female', 'en-US', 'C'),
      voice('sarah', 'en', 'female', 'en-US', 'C+'),
      voice('joe', 'en', 'male', 'en-US'),
    ];
    const order = (language: string) => sortVoices(voices, language).map(({ voiceId }) => voiceId);
    const english = ['emma', 'heart', 'bella', 'sarah', 'nova', 'adam', 'joe', 'x'];
    expect(order('en')).toEqual([...english, 'thorsten']);
    expect(order('de')).toEqual(['thorsten', ...english]);
    expect(order('fr')).toEqual(['thorsten', ...english]);
  });

  it('VO-62: at half of real time a voice may talk unasked, up to 0.7 it is offered, beyond that it only reads aloud', () => {
    const slow = { talk: { maxFactor: 0.5 } };
    expect([0.2, 0.5, 0.51, 0.7, 0.71, 1.8].map((factor) => talkFitness(slow, factor))).toEqual([
      'standard',
      'standard',
      'slower',
      'slower',
      'tooSlow',
      'tooSlow',
    ]);
    // Not measured yet, it does not go first; a voice that is fast everywhere needs no trial for that.
    expect(talkFitness(slow, undefined)).toBe('slower');
    expect(talkFitness({}, undefined)).toBe('standard');
  });
});
