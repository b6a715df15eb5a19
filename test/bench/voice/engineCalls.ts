import { z } from 'zod';
import type { ProcessStarter } from '../../../src/shared/supervision/processStarter.ts';

const Call = z.looseObject({ body: z.looseObject({ t: z.literal('call'), id: z.int(), method: z.string() }) });
const Reply = z.looseObject({ body: z.looseObject({ t: z.enum(['chunk', 'result']), id: z.int(), data: z.unknown() }) });
const Timed = z.looseObject({ ms: z.number() });
const Generated = z.looseObject({ prefillMs: z.number(), decodeMs: z.number(), outputTokens: z.int() });
const Text = z.looseObject({ kind: z.literal('text'), tokens: z.int() });

type Seen = { readonly method: string; readonly at: number; result: unknown };

/**
 * What engines are asked and what they say of the time that it took them: the parts of P15 that are not ours.
 *
 * @param inner  what really starts them.
 */
export function watchCalls(inner: ProcessStarter) {
  let calls = new Map<string, Seen>();
  /** Tokens of the answer that had come when its first phrase was asked for. */
  let tokens = 0;
  let tokensAtPhrase: number | null = null;
  const starter: ProcessStarter = {
    start(spec) {
      const link = inner.start(spec);
      const key = (id: number) => `${spec.name}/${id}`;
      return {
        ...link,
        post(message, transfer) {
          const call = Call.safeParse(message);
          if (call.success) {
            const { id, method } = call.data.body;
            calls.set(key(id), { method, at: performance.now(), result: undefined });
            if (method === 'tts.speak') tokensAtPhrase ??= tokens;
          }
          link.post(message, transfer);
        },
        onMessage: (listener) =>
          link.onMessage((message) => {
            const reply = Reply.safeParse(message);
            if (reply.success) {
              const { t, id, data } = reply.data.body;
              const call = calls.get(key(id));
              if (call !== undefined && t === 'result') call.result = data;
              const text = Text.safeParse(data);
              if (call?.method === 'generate' && text.success) tokens += text.data.tokens;
            }
            listener(message);
          }),
      };
    },
  };
  const all = (method: string) => [...calls.values()].filter((call) => call.method === method && call.result !== undefined);
  return {
    starter,
    clear(): void {
      calls = new Map();
      tokens = 0;
      tokensAtPhrase = null;
    },
    /** Of the turn since `clear`: the last reading of what was said, the prompt, the tokens of the first phrase, its sound. */
    sum(): { totalMs: number; stages: Record<'asr' | 'prefill' | 'tokens' | 'tts', number> } {
      const asr = Timed.parse(all('asr.transcribe').at(-1)?.result).ms;
      const written = Generated.parse(all('generate')[0]?.result);
      const perToken = written.decodeMs / Math.max(1, written.outputTokens - 1);
      const stages = {
        asr,
        prefill: written.prefillMs,
        // The first token comes with the prompt.
        tokens: Math.max(0, (tokensAtPhrase ?? 1) - 1) * perToken,
        tts: Timed.parse(all('tts.speak')[0]?.result).ms,
      };
      return { totalMs: stages.asr + stages.prefill + stages.tokens + stages.tts, stages };
    },
  };
}
