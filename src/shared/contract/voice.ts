import { eventIterator, oc } from '@orpc/contract';
import { z } from 'zod';
import { VoiceMode } from '../domain/voice.ts';
import { LATENCY_STAGES, LatencyRecord } from '../domain/voiceLatency.ts';
import { VoiceView } from '../domain/voiceView.ts';
import { errors } from './errors.ts';
import { live } from './live.ts';

const none = z.strictObject({});
const Spread = z.strictObject({ p50: z.number(), p95: z.number() });

export const MuteInput = z.strictObject({ muted: z.boolean() });

/** Talking: everything but the sound itself, which has a line of its own (`voiceLine.ts`). */
export const voice = {
  /** At most one snapshot each 100 ms; a change of the phase comes at once. */
  phase: oc
    .errors(errors())
    .input(none)
    .output(eventIterator(live(VoiceView))),
  /** Takes the microphone and loads what listens, speaks and notices speech (VO-13). Resolves when it is ready to be talked to. */
  arm: oc
    .errors(
      errors(
        'VOICE_BUSY',
        'VOICE_LINE_UNKNOWN',
        'UNSUPPORTED',
        'MIC_DENIED',
        'MIC_MISSING',
        'MIC_UNREADABLE',
        'MIC_MUTED',
        'VAD_UNAVAILABLE',
        'ASR_UNAVAILABLE',
        'TTS_UNAVAILABLE',
        'LOCAL_INFERENCE_UNAVAILABLE',
        'ENGINE_STARTING',
        'ENGINE_BREAKER_OPEN',
        'ENGINE_CRASHED',
        'ENGINE_FAULT',
        'ENGINE_TIMEOUT',
      ),
    )
    .input(z.strictObject({ line: z.string().min(1).max(64), mode: VoiceMode.optional() }))
    .output(VoiceView),
  disarm: oc.errors(errors()).input(none).output(VoiceView),
  /** Hard mute; it survives a restart. Only a person at a window or page lifts it; a program with a key gets USER_ONLY. */
  mute: oc.errors(errors('USER_ONLY')).input(MuteInput).output(VoiceView),
  /** Esc and Stop: what is being said is dropped, an answer is silenced and its turn cancelled. */
  cancel: oc
    .errors(errors())
    .input(none)
    .output(z.strictObject({ cancelled: z.boolean() })),
  /** Lets the page open the microphone without talking (VO-11), as long as the caller follows. One item, when it may. */
  testMicrophone: oc
    .errors(errors('VOICE_BUSY', 'MIC_MUTED', 'MIC_DENIED'))
    .input(none)
    .output(eventIterator(z.strictObject({ granted: z.literal(true) }))),
  latency: oc
    .errors(errors())
    .input(z.strictObject({ limit: z.int().min(1).max(200).default(200) }))
    .output(
      z.strictObject({
        /** Newest first. */
        records: z.array(LatencyRecord),
        summary: z.strictObject({
          stages: z.array(
            z.strictObject({ stage: z.enum(LATENCY_STAGES.map(({ stage }) => stage)), p50: z.number(), p95: z.number(), turns: z.int() }),
          ),
          toSound: Spread.nullable(),
          slowest: z.enum(LATENCY_STAGES.map(({ stage }) => stage)).nullable(),
        }),
      }),
    ),
};
