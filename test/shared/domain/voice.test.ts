import { describe, expect, it } from 'vitest';
import { ListeningBy, listeningForm, TalkKeyState, VOICE_PHASES, voiceWord } from '../../../src/shared/domain/voice.ts';

describe('the word a person sees (VO-107)', () => {
  it('has one for every state, muted or not, with sound or without', () => {
    const words = Object.fromEntries(
      VOICE_PHASES.map((phase) => [
        phase,
        [false, true]
          .map((muted) => [true, false].map((soundArrived) => voiceWord({ phase, muted, soundArrived }).word).join(' '))
          .join(' · '),
      ]),
    );
    expect(words).toEqual({
      off: 'off off · off off',
      failed: 'trouble trouble · trouble trouble',
      arming: 'opening opening · opening opening',
      standby: 'ready ready · muted muted',
      listening: 'listening opening · listening opening',
      hearing: 'listening listening · listening listening',
      pausing: 'listening listening · listening listening',
      committing: 'thinking thinking · thinking thinking',
      thinking: 'thinking thinking · thinking thinking',
      speaking: 'speaking speaking · speaking speaking',
      held: 'paused paused · paused paused',
    });
  });

  it('never says listening before sound arrived', () => {
    expect(voiceWord({ phase: 'listening', muted: false, soundArrived: false }).word).toBe('opening');
  });

  it('puts the mute sign beside thinking and speaking, where muted is no word of its own', () => {
    const signs = VOICE_PHASES.filter((phase) => voiceWord({ phase, muted: true, soundArrived: true }).muteSign);
    expect(signs).toEqual(['thinking', 'speaking']);
  });

  it('says how it listens, the key first', () => {
    const forms = TalkKeyState.options.map((key) => ListeningBy.options.map((by) => listeningForm(key, by)));
    expect(forms).toEqual([
      ['hands-free', 'wake', 'follow-up', 'hands-free', 'hands-free'],
      ['held', 'held', 'held', 'held', 'held'],
      ['latched', 'latched', 'latched', 'latched', 'latched'],
    ]);
  });
});
