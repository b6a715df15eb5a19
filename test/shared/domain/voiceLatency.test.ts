import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createTurnWatch } from '../../../src/runtime/voice/latency.ts';
import { voiceLimits } from '../../../src/runtime/voice/limits.ts';
import {
  LATENCY_MARKS,
  LATENCY_STAGES,
  LatencyRecord,
  latencyLine,
  slowerThanUsual,
  soundGoalMs,
  summarise,
  waterfall,
} from '../../../src/shared/domain/voiceLatency.ts';

const facts = {
  turnId: 'turn_1',
  models: { asr: 'moonshine-tiny', language: 'small', tts: 'joe' },
  device: 'headset',
  speculated: false,
  words: 5,
};

/** A turn with the marks of the goals; `slow` adds time to one stage. */
function turn(slow: Partial<Record<string, number>> = {}): LatencyRecord {
  const watch = createTurnWatch(50_000);
  let at = 50_000;
  for (const { stage, goalMs } of LATENCY_STAGES) {
    at += (goalMs?.p50 ?? 0) + (slow[stage] ?? 0);
    watch.mark(stage, at);
  }
  watch.mark('replyDone', at + 2_000);
  watch.mark('drained', at + 3_000);
  return watch.record(facts);
}

describe('the record of a spoken turn (VO-76)', () => {
  it('holds every mark from the last voiced frame on, is one line of text data and keeps no word', () => {
    const record = turn();
    expect(Object.keys(record.marks)).toEqual([...LATENCY_MARKS]);
    expect(record.marks).toMatchObject({ speechEnd: 0, endDecided: 300, asrFinal: 380, firstAudioPlayed: 800, drained: 3_800 });
    const line = JSON.stringify(record);
    expect(line).not.toContain('\n');
    expect(LatencyRecord.parse(JSON.parse(line))).toEqual(record);
  });

  it('counts the first of two equal marks, and a reply begun before the end as no time', () => {
    const watch = createTurnWatch(1_000);
    watch.mark('firstToken', 900);
    watch.mark('firstToken', 2_000);
    expect(watch.record(facts).marks.firstToken).toBe(0);
  });

  it('keeps when somebody interrupted and when it was silent', () => {
    const watch = createTurnWatch(1_000);
    watch.silent(1_100);
    watch.bargeIn(3_000);
    watch.bargeIn(3_500);
    watch.silent(3_090);
    watch.silent(9_000);
    expect(watch.record(facts).bargeIn).toEqual({ onsetMs: 2_000, silentMs: 2_090 });
  });
});

describe('the waterfall', () => {
  it('adds up to the wait, and names the slowest stage', () => {
    const record = turn({ firstToken: 500 });
    const rows = waterfall(record);
    expect(rows.map((row) => row.stage)).toEqual(LATENCY_STAGES.map(({ stage }) => stage));
    expect(rows.reduce((sum, row) => sum + row.ms, 0)).toBe(record.marks.firstAudioPlayed);
    expect(latencyLine(record)).toEqual({ toSoundMs: 1_300, slowest: 'firstToken' });
  });

  it('has no gaps and no negative bar, whichever marks are there', () => {
    fc.assert(
      fc.property(fc.array(fc.option(fc.nat({ max: 5_000 }), { nil: undefined }), { minLength: 8, maxLength: 8 }), (times) => {
        const marks: LatencyRecord['marks'] = { speechEnd: 0 };
        for (const [index, { stage }] of LATENCY_STAGES.entries()) {
          const time = times[index];
          if (time !== undefined) marks[stage] = time;
        }
        let at = 0;
        for (const row of waterfall({ marks })) {
          expect(row.fromMs).toBe(at);
          expect(row.ms).toBeGreaterThanOrEqual(0);
          at += row.ms;
        }
        expect(at).toBe(Math.max(0, ...times.map((time) => time ?? 0)));
      }),
    );
  });

  it('says nothing of a turn that was never heard', () => {
    expect(latencyLine({ marks: { speechEnd: 0 } })).toEqual({ toSoundMs: null, slowest: null });
  });
});

describe('many turns (VO-77)', () => {
  it('gives p50 and p95 per stage; the goals add up to the goal', () => {
    const many = Array.from({ length: 20 }, (_, index) => turn({ endDecided: index * 10 }));
    const { stages, toSound, slowest } = summarise(many);
    expect(stages.find((each) => each.stage === 'endDecided')).toEqual({ stage: 'endDecided', p50: 390, p95: 480, turns: 20 });
    expect(toSound).toEqual({ p50: 890, p95: 980 });
    expect(slowest).toBe('endDecided');
    expect(turn().marks.firstAudioPlayed).toBe(soundGoalMs.p50);
    expect(summarise([])).toEqual({ stages: [], toSound: null, slowest: null });
  });

  it('notices what became slow, from 20 turns on, by the own normal', () => {
    const usual = Array.from({ length: 20 }, () => turn());
    const slow = Array.from({ length: 5 }, () => turn({ firstToken: 450 }));
    expect(slowerThanUsual(usual, slow, voiceLimits)).toBe('firstToken');
    expect(slowerThanUsual(usual.slice(1), slow, voiceLimits)).toBeNull();
    expect(slowerThanUsual(usual, [turn({ firstToken: 400 })], voiceLimits)).toBeNull();
    expect(slowerThanUsual(usual, [], voiceLimits)).toBeNull();
  });
});
