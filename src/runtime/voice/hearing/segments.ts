/** What the activity model's numbers say about who speaks when (VO-16). Times in ms of sound, not of a clock. */
export type SegmentEvent =
  | { readonly type: 'speech-start'; readonly probability: number }
  /** At each heartbeat, and at once when speech goes on after a pause. */
  | { readonly type: 'speech-active'; readonly probability: number; readonly speechDurationMs: number }
  /** When the pause has begun, and at each heartbeat of it. Counted from the last voiced frame. */
  | { readonly type: 'speech-pause'; readonly pauseDurationMs: number }
  /** Too short to be anything. */
  | { readonly type: 'blip'; readonly durationMs: number; readonly peakRms: number }
  /** Nobody went on for longer than anybody pauses. */
  | { readonly type: 'speech-end'; readonly speechDurationMs: number };

export type SegmentLimits = {
  readonly frameMs: number;
  /** From `onset` on somebody speaks, below `offset` nobody does; between the two it stays as it was (VO-15). */
  readonly onset: number;
  readonly offset: number;
  readonly pauseStartMs: number;
  readonly heartbeatMs: number;
  readonly shortestSpeechMs: number;
  readonly silenceCeilingMs: number;
};

export type Segmenter = {
  /** @param probability of speech in this frame; what is not finite is none. @param rms of the frame, 0…1. */
  push(probability: number, rms: number): SegmentEvent[];
  /** The segment is over: committed or dropped. */
  reset(): void;
  /** Somebody speaks in the frame that came last. */
  speaks(): boolean;
  /** Since the last voiced frame; null while nobody has spoken in this segment. */
  pauseMs(): number | null;
};

/** A pure machine over frames: the same numbers always give the same events. */
export function createSegmenter(limits: SegmentLimits): Segmenter {
  const { frameMs } = limits;
  /** null: no segment is open. `voicedMs` counts over all its parts, `pauseMs` is 0 while somebody speaks. */
  let open: { voicedMs: number; pauseMs: number; sinceBeatMs: number; pausing: boolean; peakRms: number } | null = null;

  function speak(segment: NonNullable<typeof open>, probability: number, rms: number): SegmentEvent[] {
    const resumed = segment.pausing;
    segment.voicedMs += frameMs;
    segment.peakRms = Math.max(segment.peakRms, rms);
    segment.sinceBeatMs += frameMs;
    segment.pauseMs = 0;
    segment.pausing = false;
    if (!resumed && segment.sinceBeatMs < limits.heartbeatMs) return [];
    segment.sinceBeatMs = 0;
    return [{ type: 'speech-active', probability, speechDurationMs: segment.voicedMs }];
  }

  function rest(segment: NonNullable<typeof open>): SegmentEvent[] {
    segment.pauseMs += frameMs;
    segment.sinceBeatMs += frameMs;
    const { pauseMs, voicedMs, peakRms } = segment;
    if (!segment.pausing) {
      if (pauseMs < limits.pauseStartMs) return [];
      segment.pausing = true;
      segment.sinceBeatMs = 0;
      return [{ type: 'speech-pause', pauseDurationMs: pauseMs }];
    }
    // Its pause has begun, and nobody went on: a second part of a short word would have come by now.
    if (voicedMs < limits.shortestSpeechMs && pauseMs >= 2 * limits.pauseStartMs) {
      open = null;
      return [{ type: 'blip', durationMs: voicedMs, peakRms }];
    }
    if (pauseMs >= limits.silenceCeilingMs) {
      open = null;
      return [{ type: 'speech-end', speechDurationMs: voicedMs }];
    }
    if (segment.sinceBeatMs < limits.heartbeatMs) return [];
    segment.sinceBeatMs = 0;
    return [{ type: 'speech-pause', pauseDurationMs: pauseMs }];
  }

  return {
    push(given, rms) {
      const probability = Number.isFinite(given) ? given : 0;
      if (open === null) {
        if (probability < limits.onset) return [];
        open = { voicedMs: frameMs, pauseMs: 0, sinceBeatMs: 0, pausing: false, peakRms: rms };
        return [{ type: 'speech-start', probability }];
      }
      // Once the pause has begun it takes the onset again; before that the offset carries a weak syllable.
      const threshold = open.pausing ? limits.onset : limits.offset;
      return probability >= threshold ? speak(open, probability, rms) : rest(open);
    },
    reset() {
      open = null;
    },
    speaks: () => open !== null && open.pauseMs === 0,
    pauseMs: () => open?.pauseMs ?? null,
  };
}
