import { z } from 'zod';

/** Marks of a spoken turn (VO-76), in the order in which they come about. ms after the last voiced frame, which is `speechEnd`, 0. */
export const LATENCY_MARKS = [
  'speechEnd',
  'endDecided',
  'asrFinal',
  'committed',
  'contextReady',
  'firstToken',
  'firstPhrase',
  'firstAudioMade',
  'firstAudioPlayed',
  'replyDone',
  'drained',
] as const;
export const LatencyMark = z.enum(LATENCY_MARKS);
export type LatencyMark = z.infer<typeof LatencyMark>;

/** Text data of one spoken turn: no word of it. `null` = did not come about or is not known. */
export const LatencyRecord = z.strictObject({
  turnId: z.string(),
  marks: z.partialRecord(LatencyMark, z.number().min(0)),
  bargeIn: z.strictObject({ onsetMs: z.number(), silentMs: z.number().nullable() }).nullable(),
  models: z.strictObject({ asr: z.string().nullable(), language: z.string().nullable(), tts: z.string().nullable() }),
  device: z.string().nullable(),
  speculated: z.boolean(),
  words: z.int().min(0),
});
export type LatencyRecord = z.infer<typeof LatencyRecord>;

/** A stage ends at its mark and begins at the one before it that is there (table of section 12). */
export const LATENCY_STAGES = [
  { stage: 'endDecided', goalMs: { p50: 300, p95: 700 } },
  { stage: 'asrFinal', goalMs: { p50: 80, p95: 150 } },
  { stage: 'committed', goalMs: null },
  { stage: 'contextReady', goalMs: { p50: 20, p95: 60 } },
  { stage: 'firstToken', goalMs: { p50: 170, p95: 400 } },
  { stage: 'firstPhrase', goalMs: { p50: 90, p95: 200 } },
  { stage: 'firstAudioMade', goalMs: { p50: 120, p95: 250 } },
  { stage: 'firstAudioPlayed', goalMs: { p50: 20, p95: 50 } },
] as const satisfies readonly { stage: LatencyMark; goalMs: { p50: number; p95: number } | null }[];
export type LatencyStage = (typeof LATENCY_STAGES)[number]['stage'];

/** Speech end → sound. */
export const soundGoalMs = { p50: 800, p95: 1_500 } as const;

/** A bar of the waterfall: where the stage begins, and how long it takes. ms. */
export type WaterfallRow = { readonly stage: LatencyStage; readonly fromMs: number; readonly ms: number };

/**
 * The bars of a turn up to its first sound, without gaps and in order; together they are the wait. A mark that is missing gives no bar: its
 * time belongs to the next one. A mark that is earlier than one before it (a reply that was begun before the end was certain) takes no time.
 */
export function waterfall(record: Pick<LatencyRecord, 'marks'>): WaterfallRow[] {
  const rows: WaterfallRow[] = [];
  let fromMs = 0;
  for (const { stage } of LATENCY_STAGES) {
    const mark = record.marks[stage];
    if (mark === undefined) continue;
    const toMs = Math.max(fromMs, mark);
    rows.push({ stage, fromMs, ms: toMs - fromMs });
    fromMs = toMs;
  }
  return rows;
}

/** "0.9 s to first sound; slowest: first token" as data (UX-117). `toSoundMs` is `null` if nothing was heard. */
export function latencyLine(record: Pick<LatencyRecord, 'marks'>): { toSoundMs: number | null; slowest: LatencyStage | null } {
  const rows = waterfall(record);
  return { toSoundMs: record.marks.firstAudioPlayed ?? null, slowest: slowestOf(rows.map(({ stage, ms }) => ({ stage, value: ms }))) };
}

function slowestOf(rows: readonly { stage: LatencyStage; value: number }[]): LatencyStage | null {
  let slowest: { stage: LatencyStage; value: number } | null = null;
  for (const row of rows) if (row.value > (slowest?.value ?? 0)) slowest = row;
  return slowest?.stage ?? null;
}

export type StageSummary = { readonly stage: LatencyStage; readonly p50: number; readonly p95: number; readonly turns: number };

/** p50 and p95 per stage over the given turns, and the stage with the largest p50 (VO-77). Stages that no turn had are left out. */
export function summarise(records: readonly Pick<LatencyRecord, 'marks'>[]): {
  stages: StageSummary[];
  toSound: { p50: number; p95: number } | null;
  slowest: LatencyStage | null;
} {
  const rows = records.map(waterfall);
  const stages = LATENCY_STAGES.flatMap(({ stage }) => {
    const values = rows.flatMap((bars) => bars.filter((bar) => bar.stage === stage).map((bar) => bar.ms));
    return values.length === 0 ? [] : [{ stage, p50: percentile(values, 0.5), p95: percentile(values, 0.95), turns: values.length }];
  });
  const sounds = records.flatMap(({ marks }) => (marks.firstAudioPlayed === undefined ? [] : [marks.firstAudioPlayed]));
  return {
    stages,
    toSound: sounds.length === 0 ? null : { p50: percentile(sounds, 0.5), p95: percentile(sounds, 0.95) },
    slowest: slowestOf(stages.map(({ stage, p50 }) => ({ stage, value: p50 }))),
  };
}

/** Nearest rank. @param values  at least one. */
function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
}

/**
 * Whether talking became slower than this machine's own normal (VO-77): from 20 turns on, p50 to sound above 1.5 × that of the turns before.
 *
 * @param baseline  earlier turns; @param recent  the newest ones.
 * @returns         the stage that grew most, or `null`.
 */
export function slowerThanUsual(
  baseline: readonly Pick<LatencyRecord, 'marks'>[],
  recent: readonly Pick<LatencyRecord, 'marks'>[],
  limits: { baselineTurns: number; slowerThanBaseline: number },
): LatencyStage | null {
  const [before, now] = [summarise(baseline), summarise(recent)];
  if (baseline.length < limits.baselineTurns || before.toSound === null || now.toSound === null) return null;
  if (now.toSound.p50 <= before.toSound.p50 * limits.slowerThanBaseline) return null;
  return slowestOf(
    now.stages.map(({ stage, p50 }) => ({ stage, value: p50 - (before.stages.find((each) => each.stage === stage)?.p50 ?? 0) })),
  );
}
