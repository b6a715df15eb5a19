import { afterAll, describe, expect, it } from 'vitest';
import { voiceLimits as limits } from '../../../../src/runtime/voice/limits.ts';
import { voiceRules } from '../../../../src/runtime/voice/turn/reduce.ts';
import { verifies } from '../../../helpers/verifies.ts';
import { voiceLife } from './life.ts';

const seen = new Set<number>();

/** Says which row took the last input. */
function tookRow(life: ReturnType<typeof voiceLife>, row: number): void {
  for (const each of life.rows) seen.add(each);
  expect(life.rows).toContain(row);
}

const interrupting = { interruptByVoice: { 'push-to-talk': true, 'hands-free': true, 'wake-word': true } };
const armed = (options?: Parameters<typeof voiceLife>[0]) => voiceLife(options).arm();

describe('arming', () => {
  it('row 1: arm takes leases, opens the microphone and waits for a limited time', () => {
    const life = voiceLife().send({ type: 'arm' });
    tookRow(life, 1);
    expect(life.phase).toBe('arming');
    expect(life.names()).toEqual(['takeLeases', 'startTimer', 'openMic']);
  });

  it('row 1: the dictation key arms for dictation only, and a later arm for talk takes more', () => {
    const life = voiceLife().down('dictate');
    tookRow(life, 1);
    expect(life.of('takeLeases')[0]?.for).toBe('dictate');
    life.up('dictate').send({ type: 'armed', lease: 1 });
    expect(life.phase).toBe('standby');
    expect(life.state.armedFor).toBe('dictation');
    life.send({ type: 'arm' });
    tookRow(life, 1);
    expect(life.names()).toEqual(['releaseLeases', 'takeLeases', 'startTimer']);
  });

  it('row 2: armed leads to rest, or to listening if the key still is down', () => {
    const life = armed();
    tookRow(life, 2);
    expect(life.phase).toBe('standby');
    const held = voiceLife().send({ type: 'arm' }).down().wait(2_000).send({ type: 'armed', lease: 1 });
    tookRow(held, 2);
    expect(held.phase).toBe('listening');
    held.up();
    expect(held.phase).toBe('committing');
  });

  it('row 3: what fails or takes too long is trouble, with nothing left open', () => {
    const failed = voiceLife().send({ type: 'arm' }, { type: 'armFailed', lease: 1, code: 'ASR_UNAVAILABLE' });
    tookRow(failed, 3);
    expect(failed.phase).toBe('failed');
    expect(failed.names()).toEqual(expect.arrayContaining(['releaseLeases', 'closeMic', 'notice']));
    const late = voiceLife().send({ type: 'arm' }).timer('arm');
    expect(late.notices()).toEqual(['ENGINE_TIMEOUT']);
  });

  it('row 4: disarm ends everything from anywhere', () => {
    const life = armed().answerSounds().send({ type: 'disarm' });
    tookRow(life, 4);
    expect(life.phase).toBe('off');
    expect(life.names()).toEqual(expect.arrayContaining(['cancelTurn', 'flushPlayback', 'storeHeard', 'releaseLeases', 'closeMic']));
  });

  it('rows 58 and 60: muted or not armed, arm and key say why', () => {
    const muted = voiceLife({ muted: true }).send({ type: 'arm' });
    tookRow(muted, 58);
    expect(muted.notices()).toEqual(['MIC_MUTED']);
    const off = voiceLife().down();
    tookRow(off, 60);
    expect(off.notices()).toEqual(['VOICE_NOT_ARMED']);
    const failed = voiceLife().send({ type: 'arm' }, { type: 'armFailed', lease: 1, code: 'MIC_DENIED' }).down();
    expect(failed.notices()).toEqual(['MIC_DENIED']);
    expect(armed().send({ type: 'muteOn' }).down().notices()).toEqual(['MIC_MUTED']);
  });

  it('row 61: a key let go before arming ends is forgotten', () => {
    const life = voiceLife().send({ type: 'arm' }).down();
    tookRow(life, 61);
    life.up();
    tookRow(life, 61);
    life.send({ type: 'armed', lease: 1 });
    expect(life.phase).toBe('standby');
  });

  it('row 52: leases that come after the wait ended are given back', () => {
    const life = voiceLife().send({ type: 'arm' }).timer('arm').send({ type: 'armed', lease: 1 });
    tookRow(life, 52);
    expect(life.last).toEqual([{ do: 'releaseLeases', lease: 1 }]);
  });
});

describe('the talk key (VO-30)', () => {
  it('row 5: down listens, with pre-roll, cue and the longest time', () => {
    const life = armed().down();
    tookRow(life, 5);
    expect(life.phase).toBe('listening');
    expect(life.of('openAsr')).toEqual([{ do: 'openAsr', utterance: 1, preRollMs: limits.preRollMs }]);
    expect(life.cues()).toEqual(['listening']);
    expect(life.names()).toContain('prewarm');
    expect(life.of('startTimer').map((timer) => timer.name)).toEqual(['longest']);
  });

  it('row 7: speech without a key is nothing', () => {
    const life = armed().speak();
    tookRow(life, 7);
    expect(life.last).toEqual([]);
  });

  it('rows 8, 16, 21: held, silence never ends the turn; key-up does, after the tail', () => {
    verifies('VO-25');
    const life = armed().down().speak();
    tookRow(life, 8);
    expect(life.phase).toBe('hearing');
    for (const pauseMs of [100, 3_000, 60_000]) {
      life.wait(pauseMs).pause(pauseMs);
      tookRow(life, 16);
      expect(life.phase).toBe('hearing');
      expect(life.state.timers.silence).toBeUndefined();
    }
    life.blip();
    expect(life.phase).toBe('hearing');
    life.up();
    tookRow(life, 21);
    expect(life.of('flushAsr')).toEqual([{ do: 'flushAsr', utterance: 1, tailMs: limits.tailMs }]);
    // The same in the mode that ends turns by silence.
    const handsFree = armed({ mode: 'hands-free' }).down().speak().wait(9_000).pause(5_000);
    expect(handsFree.phase).toBe('hearing');
    expect(handsFree.state.timers.silence).toBeUndefined();
  });

  it('row 9: a word too quiet for the VAD still is asked for', () => {
    const life = armed().down().wait(limits.holdMs).up();
    tookRow(life, 9);
    expect(life.phase).toBe('committing');
  });

  it('row 10: a tap latches, in listening and in hearing; one ms more is a hold', () => {
    const life = armed()
      .down()
      .wait(limits.holdMs - 1)
      .up();
    tookRow(life, 10);
    expect(life.state.key).toBe('latched');
    expect(life.phase).toBe('listening');
    expect(armed().down().speak().wait(50).up().state.key).toBe('latched');
    expect(armed().down().speak().wait(limits.holdMs).up().phase).toBe('committing');
  });

  it('row 11: the second tap ends what the first began', () => {
    const life = armed().tap().speak().wait(2_000).down();
    tookRow(life, 11);
    expect(life.phase).toBe('committing');
    life.up();
    expect(life.phase).toBe('committing');
    expect(life.final('hello').phase).toBe('thinking');
  });

  it('rows 15, 17, 20: latched, silence ends the turn', () => {
    const life = armed({ settings: { detector: true } })
      .tap()
      .speak()
      .wait(1_000)
      .pause(100);
    tookRow(life, 15);
    expect(life.names()).toContain('askEndOfTurn');
    expect(life.of('startTimer').at(-1)?.ms).toBe(700 - 100);
    life.wait(60).endOfTurn(0.9);
    tookRow(life, 17);
    expect(life.of('startTimer').at(-1)?.ms).toBe(300 - 160);
    life.wait(140).timer('silence');
    tookRow(life, 20);
    expect(life.phase).toBe('committing');
  });

  it('rows 18, 19, 70: other text or a longer pause asks again; speech goes on', () => {
    const life = armed().tap().speak().wait(500).pause().partial('let me');
    tookRow(life, 18);
    expect(life.names()).toEqual(['caption', 'askEndOfTurn']);
    life.pause(300);
    tookRow(life, 70);
    life.partial('let me', true);
    tookRow(life, 13);
    life.goOn();
    tookRow(life, 19);
    expect(life.phase).toBe('hearing');
    expect(life.state.timers.silence).toBeUndefined();
  });

  it('row 14: a blip goes back to latched listening, where everything still counts', () => {
    const life = armed().tap().speak().wait(100).pause().blip();
    tookRow(life, 14);
    expect(life.phase).toBe('listening');
    expect(life.state.key).toBe('latched');
    expect(life.names()).toEqual(expect.arrayContaining(['drop', 'closeAsr', 'openAsr']));
    expect(life.down().phase).toBe('committing');
  });

  it('rows 22 and 56: a stuck key ends at the longest time, and what was said counts', () => {
    const silent = armed().down().wait(limits.longestMs).timer('longest');
    tookRow(silent, 56);
    expect(silent.phase).toBe('committing');
    const talking = armed().down().speak().wait(limits.longestMs).timer('longest');
    tookRow(talking, 22);
    expect(talking.notices()).toEqual(['VOICE_TOO_LONG']);
    talking.up();
    tookRow(talking, 52);
    expect(talking.final('words').phase).toBe('thinking');
  });

  it('row 53: Esc drops what was said, in each state of talking; the key-up after it is nothing', () => {
    for (const begin of [
      () => armed().down(),
      () => armed().down().speak(),
      () => armed().tap().speak().wait(500).pause(),
      () => armed().down().speak().wait(500).up(),
    ]) {
      const life = begin().partial('my secret');
      life.cancel();
      tookRow(life, 53);
      expect(life.phase).toBe('standby');
      expect(life.names()).toEqual(expect.arrayContaining(['drop', 'closeAsr']));
      expect(JSON.stringify(life.state)).not.toContain('secret');
      life.up();
      expect(life.rows).toEqual([52]);
      life.final('my secret');
      expect(life.rows).toEqual([52]);
    }
  });

  it('row 54: the key takes over what began without it', () => {
    const life = armed({ mode: 'hands-free' }).speak().wait(500).pause().down();
    tookRow(life, 54);
    expect(life.phase).toBe('hearing');
    expect(life.state.timers.silence).toBeUndefined();
    const tapped = armed({ mode: 'hands-free' }).tap();
    tookRow(tapped, 54);
    expect(tapped.phase).toBe('listening');
    expect(tapped.state).toMatchObject({ key: 'none', by: 'hands-free', asrOpen: false });
  });

  it('row 55: a press while the turn is committed interrupts the answer to it', () => {
    const life = armed().down().speak().wait(500).up().wait(100).down();
    tookRow(life, 55);
    life.wait(100).up();
    tookRow(life, 55);
    life.wait(400).final('first words');
    tookRow(life, 37);
    // A tap of 100 ms, whenever it was looked at.
    expect(life.phase).toBe('listening');
    expect(life.state.key).toBe('latched');
    expect(life.of('cancelTurn')).toEqual([{ do: 'cancelTurn', turn: 1, reason: 'eot-revoked' }]);
    expect(life.state.join?.text).toBe('first words');
  });

  it('row 52: dictation and spoken notices are refused while somebody talks', () => {
    expect(armed().down().down('dictate').last).toEqual([{ do: 'refuse', code: 'VOICE_BUSY' }]);
    expect(armed().down().send({ type: 'say', text: 'news' }).last).toEqual([{ do: 'refuse', code: 'VOICE_BUSY' }]);
  });
});

describe('the end of an utterance', () => {
  it('row 13: partials are captions', () => {
    const life = armed().down().speak().partial('what time', true);
    tookRow(life, 13);
    expect(life.last).toEqual([{ do: 'caption', utterance: 1, text: 'what time', stable: true }]);
  });

  it('rows 23 and 24: an answer commits once; a speculation of the same words is promoted', () => {
    const plain = armed().ask('what time is it');
    tookRow(plain, 24);
    expect(plain.of('commit')).toEqual([{ do: 'commit', turn: 1, utterance: 1, text: 'what time is it', replaces: null, steer: null }]);
    const settings = { detector: true, speculation: true };
    const guess = armed({ settings }).tap().speak().wait(900).pause().partial('What time', true).endOfTurn(0.9);
    expect(guess.of('speculate')).toEqual([{ do: 'speculate', utterance: 1, text: 'What time' }]);
    guess.timer('silence').final('what time?');
    tookRow(guess, 23);
    expect(guess.names()).toContain('promote');
    const wrong = armed({ settings }).tap().speak().wait(900).pause().partial('What time', true).endOfTurn(0.9);
    wrong.timer('silence').final('what time is it');
    tookRow(wrong, 24);
    expect(wrong.names()).toContain('abortSpeculation');
    expect(wrong.names()).not.toContain('promote');
  });

  it('row 25: what the gate ignores makes no turn', () => {
    const life = armed().down().speak().wait(900).up().final('so they said', 'ignore');
    tookRow(life, 25);
    expect(life.phase).toBe('standby');
    expect(life.of('ignored')[0]?.reason).toBe('echo');
    expect(life.of('commit')).toEqual([]);
  });

  it('row 26: nothing heard is said, and never becomes a turn', () => {
    for (const [text, verdict] of [
      ['', 'answer'],
      ['  ', 'answer'],
      ['Thanks for watching.', 'nothing'],
    ] as const) {
      const life = armed().down().wait(900).up().final(text, verdict);
      tookRow(life, 26);
      expect(life.notices()).toEqual(['NOTHING_HEARD']);
      expect(life.phase).toBe('standby');
      expect(life.of('commit')).toEqual([]);
    }
    const ring = armed({ settings: { retryRing: true } })
      .down()
      .wait(900)
      .up()
      .final('');
    expect(ring.of('drop')[0]?.keep).toBe(true);
    expect(armed().down().wait(900).up().final('').of('drop')[0]?.keep).toBe(false);
  });

  it('row 27: a recogniser that fails or is late, and a silent microphone, end in rest with the reason', () => {
    const failed = armed().down().speak();
    failed.send({ type: 'asrFailed', utterance: failed.state.utterance, code: 'ASR_FAILED' });
    tookRow(failed, 27);
    expect(failed.notices()).toEqual(['ASR_FAILED']);
    expect(armed().down().wait(900).up().timer('flush').notices()).toEqual(['ENGINE_TIMEOUT']);
    const silent = armed().down().send({ type: 'micSilent' });
    expect(silent.notices()).toEqual(['MIC_SILENT']);
    expect(silent.phase).toBe('standby');
    expect(silent.down().phase).toBe('listening');
  });

  it('row 28: speech while committing belongs to what follows; a blip takes it back', () => {
    const settings = interrupting;
    const life = armed({ settings }).down().speak().wait(900).up();
    life.wait(100).goOn();
    // Inside the tail it is the end of the same utterance.
    tookRow(life, 52);
    life.wait(limits.tailMs).goOn();
    tookRow(life, 28);
    life.blip();
    tookRow(life, 28);
    life.speak();
    tookRow(life, 28);
    life.final('first');
    tookRow(life, 30);
    expect(life.phase).toBe('guarded');
  });
});

describe('thinking', () => {
  it('row 29: the first sound makes it speaking', () => {
    const life = armed().answerSounds();
    tookRow(life, 29);
    expect(life.phase).toBe('speaking');
    expect(life.of('mark')).toEqual([{ do: 'mark', name: 'firstAudioPlayed' }]);
  });

  it('push-to-talk hears nothing while it thinks and speaks (VO-106)', () => {
    const thinking = armed().ask().speak();
    expect(thinking.rows).toEqual([52]);
    const speaking = armed().answerSounds().speak();
    tookRow(speaking, 39);
    expect(speaking.last).toEqual([{ do: 'count', reason: 'no-interruption' }]);
  });

  it('rows 30 and 33: speech holds the sound until it is known whether it counts', () => {
    for (const go of ['backchannel', 'blip', 'guard'] as const) {
      const life = armed({ settings: interrupting }).ask().speak();
      tookRow(life, 30);
      expect(life.names()).toEqual(['holdSound', 'openAsr', 'startTimer']);
      if (go === 'guard') life.timer('guard');
      else life[go]();
      tookRow(life, 33);
      expect(life.phase).toBe('thinking');
      expect(life.names()).toContain('releaseSound');
      expect(life.state.asrOpen).toBe(true);
      life.pause();
      tookRow(life, 67);
      expect(life.state.asrOpen).toBe(false);
    }
  });

  it('row 31: words soon after the commit continue the same question', () => {
    const life = armed({ settings: interrupting }).ask('call').wait(500).speak().words('mother');
    tookRow(life, 31);
    expect(life.phase).toBe('hearing');
    expect(life.of('cancelTurn')[0]?.reason).toBe('eot-revoked');
    life.pause().timer('silence').final('mother');
    expect(life.of('commit')[0]).toMatchObject({ text: 'call mother', replaces: 1, turn: 2, utterance: 2 });
    // Nothing more came: what had been said is still asked.
    const alone = armed({ settings: interrupting }).ask('call').wait(500).speak().words('mother').pause().timer('silence');
    expect(alone.final('', 'nothing').of('commit')[0]).toMatchObject({ text: 'call', replaces: 1 });
  });

  it('row 32: later words interrupt; a running tool call is steered and never cancelled', () => {
    const life = armed({ settings: interrupting })
      .ask()
      .wait(limits.joinMs + 1)
      .speak()
      .words('no, wait');
    tookRow(life, 32);
    expect(life.of('cancelTurn')[0]?.reason).toBe('barge-in');
    expect(life.state.join).toBeNull();
    const tool = armed({ settings: interrupting }).ask().tool(true);
    tookRow(tool, 71);
    tool.wait(100).speak().words('also this');
    tookRow(tool, 32);
    expect(tool.of('cancelTurn')).toEqual([]);
    expect(tool.state.soundHeld).toBe(true);
    tool.pause().timer('silence').final('also this');
    expect(tool.of('commit')[0]).toMatchObject({ turn: 1, steer: 1 });
    expect(tool.state.soundHeld).toBe(false);
  });

  it('row 34: an answer without sound ends it; guarded words are heard on', () => {
    const life = armed().ask().replyDone(false);
    tookRow(life, 34);
    expect(life.phase).toBe('standby');
    const guarded = armed({ settings: interrupting }).ask().speak().replyDone(false);
    expect(guarded.phase).toBe('hearing');
    expect(guarded.state.soundHeld).toBe(false);
  });

  it('row 35: a failed answer is heard and said, and nothing of it sounds on', () => {
    const life = armed().answerSounds().replyFailed();
    tookRow(life, 35);
    expect(life.cues()).toEqual(['failed']);
    expect(life.names()).toEqual(expect.arrayContaining(['flushPlayback', 'storeHeard', 'notice']));
    expect(life.phase).toBe('standby');
    const held = armed({ settings: interrupting }).answerSounds().speak().replyFailed();
    expect(held.phase).toBe('hearing');
  });

  it('row 36: Esc and the stop word silence in thinking, speaking and held', () => {
    const states = [
      () => armed({ settings: interrupting }).ask(),
      () => armed({ settings: interrupting }).answerSounds(),
      () => armed({ settings: interrupting }).answerSounds().speak(),
    ];
    for (const state of states) {
      for (const input of [{ type: 'cancel', reason: 'user-cancel' }, { type: 'stopWord' }] as const) {
        const life = state().send(input);
        tookRow(life, 36);
        expect(life.phase).toBe('standby');
        expect(life.names()).toEqual(expect.arrayContaining(['cancelTurn', 'flushPlayback']));
      }
    }
  });

  it('row 37: the key takes the floor', () => {
    const life = armed().answerSounds().wait(5_000).down();
    tookRow(life, 37);
    expect(life.phase).toBe('listening');
    expect(life.names().slice(0, 3)).toEqual(['flushPlayback', 'storeHeard', 'cancelTurn']);
    expect(life.of('cancelTurn')[0]?.reason).toBe('barge-in');
    expect(armed({ settings: interrupting }).answerSounds().speak().down().phase).toBe('hearing');
  });
});

describe('speaking', () => {
  it('rows 38, 41, 42, 43: a cough pauses, and the voice goes on where it was', () => {
    const life = armed({ settings: interrupting }).answerSounds().speak();
    tookRow(life, 38);
    expect(life.phase).toBe('held');
    expect(life.names()[0]).toBe('pausePlayback');
    life.pause().blip();
    tookRow(life, 42);
    expect(life.phase).toBe('held');
    life.timer('wordWindow');
    tookRow(life, 43);
    expect(life.names()).toEqual(['resumePlayback', 'closeAsr']);
    life.speak().backchannel();
    tookRow(life, 41);
    expect(life.state.falseHolds).toBe(2);
    expect(life.names()).toContain('resumePlayback');
  });

  it('row 39: what the gate keeps out is counted only', () => {
    const life = armed({ settings: interrupting }).answerSounds().speak(false);
    tookRow(life, 39);
    expect(life.last).toEqual([{ do: 'count', reason: 'gate' }]);
  });

  it('row 40: words stop it, also those that come late', () => {
    const life = armed({ settings: interrupting }).answerSounds().wait(3_000).speak().words('stop that');
    tookRow(life, 40);
    expect(life.phase).toBe('hearing');
    expect(life.names()).toEqual(expect.arrayContaining(['flushPlayback', 'storeHeard', 'cancelTurn']));
  });

  it('row 44: speech that goes on without words is waited for once, then spoken over', () => {
    const life = armed({ settings: interrupting }).answerSounds().speak().timer('wordWindow');
    tookRow(life, 44);
    expect(life.of('startTimer')[0]?.ms).toBe(limits.wordWindowExtendedMs - limits.wordWindowMs);
    life.timer('wordWindow');
    tookRow(life, 44);
    expect(life.phase).toBe('speaking');
    expect(life.state.asrOpen).toBe(true);
    life.words('I said stop');
    tookRow(life, 40);
  });

  it('row 45: played to its end, it rests; with a turn still at work it thinks on', () => {
    const life = armed().answerSounds().replyDone(true);
    tookRow(life, 69);
    life.reply('drained');
    tookRow(life, 45);
    expect(life.phase).toBe('standby');
    expect(life.state.turn).toBeNull();
    const goesOn = armed().answerSounds().reply('drained');
    expect(goesOn.phase).toBe('thinking');
    expect(goesOn.reply('firstSound').phase).toBe('speaking');
    expect(armed().answerSounds().reply('drained').replyDone(false).phase).toBe('standby');
  });

  it('row 64: a question that is parked is said to its end, without cancelling', () => {
    const silent = armed().ask().parked(false);
    tookRow(silent, 64);
    expect(silent.phase).toBe('standby');
    const said = armed().answerSounds().parked(true);
    expect(said.phase).toBe('speaking');
    said.reply('drained');
    expect(said.phase).toBe('standby');
    expect(said.state.turn?.status).toBe('parked');
    said.send({ type: 'turnResumed', turn: 1 });
    tookRow(said, 65);
    expect(said.phase).toBe('thinking');
  });

  it('row 65: a turn that resumes while somebody talks waits with its sound', () => {
    const life = armed().ask().parked(false).down().send({ type: 'turnResumed', turn: 1 });
    expect(life.state.soundHeld).toBe(true);
    life.cancel();
    expect(life.phase).toBe('thinking');
    expect(life.names()).toContain('releaseSound');
  });

  it('row 66: read aloud is a reply without a turn', () => {
    const life = armed().send({ type: 'say', text: 'Good morning' });
    tookRow(life, 66);
    expect(life.phase).toBe('speaking');
    life.cancel();
    expect(life.of('cancelTurn')).toEqual([]);
    expect(life.names()).toContain('flushPlayback');
    expect(life.phase).toBe('standby');
  });
});

describe('what can happen at any time', () => {
  it('row 46: mute closes the microphone and drops what was said, everywhere', () => {
    const cases = [
      ['standby', 'standby', () => armed()],
      ['listening', 'standby', () => armed().down()],
      ['hearing', 'standby', () => armed().down().speak()],
      ['committing', 'standby', () => armed().down().wait(900).up()],
      ['thinking', 'thinking', () => armed().ask()],
      ['guarded', 'thinking', () => armed({ settings: interrupting }).ask().speak()],
      ['speaking', 'speaking', () => armed().answerSounds()],
      ['held', 'speaking', () => armed({ settings: interrupting }).answerSounds().speak()],
      ['arming', 'off', () => voiceLife().send({ type: 'arm' })],
    ] as const;
    for (const [from, to, begin] of cases) {
      const life = begin();
      expect(life.phase).toBe(from);
      life.send({ type: 'muteOn' });
      tookRow(life, 46);
      expect(life.phase).toBe(to);
      expect(life.names()).toContain('closeMic');
      expect(life.state).toMatchObject({ micOpen: false, asrOpen: false, soundHeld: false });
    }
  });

  it('row 47: unmute opens it again', () => {
    const life = armed().send({ type: 'muteOn' }, { type: 'muteOff' });
    tookRow(life, 47);
    expect(life.names()).toContain('openMic');
    const off = voiceLife({ muted: true }).send({ type: 'muteOff' });
    tookRow(off, 47);
    expect(off.state.micOpen).toBe(false);
  });

  it('row 48: a changed device commits what was heard and is reopened', () => {
    const life = armed().down().speak().send({ type: 'deviceChanged' });
    tookRow(life, 48);
    expect(life.phase).toBe('committing');
    expect(life.names()).toEqual(['notice', 'closeMic', 'openMic', 'stopTimer', 'flushAsr', 'startTimer']);
  });

  it('row 49: a lost speech engine is waited for, or is trouble; a reply plays on', () => {
    const restarting = armed().down().speak().send({ type: 'engineLost', code: 'ENGINE_CRASHED', final: false });
    tookRow(restarting, 49);
    expect(restarting.phase).toBe('arming');
    expect(restarting.names()).toEqual(expect.arrayContaining(['drop', 'releaseLeases', 'takeLeases']));
    restarting.send({ type: 'armed', lease: 2 });
    expect(restarting.phase).toBe('standby');
    expect(restarting.state.fault).toBeNull();
    expect(armed().send({ type: 'engineLost', code: 'ENGINE_BROKEN', final: true }).phase).toBe('failed');
    const speaking = armed().answerSounds().send({ type: 'engineLost', code: 'ENGINE_BROKEN', final: true });
    expect(speaking.phase).toBe('speaking');
    expect(speaking.down().notices()).toEqual(['ENGINE_BROKEN']);
    speaking.replyDone(true).reply('drained');
    expect(speaking.phase).toBe('failed');
  });

  it('row 50: too little memory or a closed window turns voice off; the turn goes on as text', () => {
    const life = armed()
      .answerSounds()
      .send({ type: 'memoryDisarm', figures: { needMb: 900, freeMb: 200 } });
    tookRow(life, 50);
    expect(life.phase).toBe('off');
    expect(life.of('cancelTurn')).toEqual([]);
    expect(life.of('notice')[0]?.figures).toEqual({ needMb: 900, freeMb: 200 });
    expect(armed().send({ type: 'pageGone' }).phase).toBe('off');
  });

  it('row 51: a mode is taken at rest', () => {
    const life = armed().send({ type: 'mode', mode: 'hands-free' });
    tookRow(life, 51);
    expect(life.phase).toBe('listening');
    const later = armed().down().send({ type: 'mode', mode: 'hands-free' });
    expect(later.state.mode).toBe('push-to-talk');
    later.cancel();
    expect(later.state.mode).toBe('hands-free');
    expect(later.phase).toBe('listening');
    expect(voiceLife().send({ type: 'mode', mode: 'wake-word' }).state.mode).toBe('wake-word');
  });

  it('row 59: a lost device is trouble, after what was heard and what is said', () => {
    const idle = armed().send({ type: 'deviceLost' });
    tookRow(idle, 59);
    expect(idle.phase).toBe('failed');
    const talking = armed().down().speak().send({ type: 'deviceLost' });
    expect(talking.phase).toBe('committing');
    talking.final('half a sentence');
    expect(talking.phase).toBe('thinking');
    talking.reply('firstSound').replyDone(true).reply('drained');
    expect(talking.phase).toBe('failed');
  });

  it('row 69: a turn behind ends without disturbing who talks', () => {
    const life = armed().ask().down('dictate');
    tookRow(life, 68);
    expect(life.phase).toBe('listening');
    expect(life.state.soundHeld).toBe(true);
    life.replyDone(true);
    tookRow(life, 69);
    expect(life.phase).toBe('listening');
    life.cancel();
    expect(life.phase).toBe('standby');
    expect(life.names()).toContain('flushPlayback');
  });
});

describe('what is stale', () => {
  it('a timer, an utterance, a turn or a lease of before changes nothing', () => {
    const old = armed().tap().speak().pause();
    const silence = old.state.timers.silence ?? -1;
    old.goOn().pause().send({ type: 'timer', name: 'silence', id: silence });
    tookRow(old, 52);
    expect(old.phase).toBe('pausing');
    const second = armed().ask('one').replyDone(false).down().wait(900).up();
    second.send({ type: 'final', utterance: 1, text: 'late words', language: 'en', verdict: { kind: 'answer' } });
    tookRow(second, 52);
    expect(second.phase).toBe('committing');
    second.final('two').send({ type: 'firstSound', turn: 1 }, { type: 'replyFailed', turn: 1, code: 'MODEL_FAILED' });
    tookRow(second, 52);
    expect(second.phase).toBe('thinking');
    const lease = voiceLife()
      .send({ type: 'arm' })
      .timer('arm')
      .send({ type: 'arm' }, { type: 'armFailed', lease: 1, code: 'ASR_UNAVAILABLE' });
    tookRow(lease, 52);
    expect(lease.phase).toBe('arming');
    const silent = armed().send({ type: 'muteOn' }).speak();
    tookRow(silent, 52);
    expect(silent.state.speechOn).toBe(false);
  });

  it('a held answer that is cancelled leaves no hold on the next one', () => {
    const life = armed({ settings: interrupting }).ask().speak().cancel();
    expect(life.names()).toContain('releaseSound');
    expect(life.state.soundHeld).toBe(false);
  });
});

describe('other modes and dictation', () => {
  it('rows 6, 12, 62: the wake word listens for its window, and a wrong one ends it', () => {
    const life = armed({ mode: 'wake-word' }).send({ type: 'wake', score: 0.8 });
    tookRow(life, 6);
    expect(life.phase).toBe('listening');
    life.wait(limits.windowMs).timer('window');
    tookRow(life, 12);
    expect(life.phase).toBe('standby');
    life.send({ type: 'wake', score: 0.8 });
    life.send({ type: 'wakeRejected', utterance: life.state.utterance });
    tookRow(life, 62);
    expect(life.phase).toBe('standby');
    const blip = armed({ mode: 'wake-word' }).send({ type: 'wake', score: 0.8 }).wait(3_000).speak().pause().blip();
    expect(blip.of('startTimer').map(({ name, ms }) => ({ name, ms }))).toEqual([{ name: 'window', ms: 5_000 }]);
    const followUp = armed({ mode: 'wake-word' }).answerSounds().replyDone(true).reply('drained');
    expect(followUp.phase).toBe('listening');
    expect(followUp.state.by).toBe('follow-up');
  });

  it('row 57: hands-free that nobody uses closes the microphone; the key wakes it', () => {
    const life = armed({ mode: 'hands-free' }).wait(limits.idleMs).timer('idle');
    tookRow(life, 57);
    expect(life.phase).toBe('standby');
    expect(life.names()).toContain('closeMic');
    expect(life.down().phase).toBe('listening');
    expect(life.state.micOpen).toBe(true);
    const talking = armed({ mode: 'hands-free' }).speak().timer('idle');
    expect(talking.phase).toBe('hearing');
    expect(talking.pause().timer('silence').final('one more').replyDone(false).phase).toBe('listening');
  });

  it('row 63: dictation inserts at key-up, or piece by piece', () => {
    const held = armed().down('dictate').speak().wait(900).up('dictate').final('Dear Jill', 'ignore');
    tookRow(held, 63);
    expect(held.of('insert')).toEqual([{ do: 'insert', utterance: 1, text: 'Dear Jill' }]);
    expect(held.phase).toBe('standby');
    const latched = armed().tap('dictate').speak().pause().timer('silence').final('Dear Jill');
    expect(latched.phase).toBe('listening');
    expect(latched.state.key).toBe('latched');
    latched.speak().pause().timer('silence').final('');
    tookRow(latched, 26);
    expect(latched.phase).toBe('listening');
    expect(latched.cancel().phase).toBe('standby');
  });
});

afterAll(() => {
  const missing = [...new Set(voiceRules.map((rule) => rule.row)), 52].filter((row) => !seen.has(row));
  if (missing.length > 0) throw new Error(`no test saw row ${missing.join(', ')}`);
});
