import type { LanguageModelV4Prompt, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { createEngines } from '../../../src/runtime/engines/createEngines.ts';
import type { InstalledLanguage, LanguageSlot, Preflight } from '../../../src/runtime/engines/ports.ts';
import type { SpeechSlots } from '../../../src/runtime/engines/speechPorts.ts';
import type { LanguageModel } from '../../../src/runtime/inference/languageModel.ts';
import type { Machine } from '../../../src/runtime/platform/machine.ts';
import { pathsOf } from '../../../src/runtime/platform/paths.ts';
import type { Clock, Logger } from '../../../src/runtime/platform/ports.ts';
import { ModelId } from '../../../src/shared/domain/ids.ts';
import type { ProcessStarter } from '../../../src/shared/supervision/processStarter.ts';
import type { SupervisionLimits } from '../../../src/shared/supervision/state.ts';
import { createFakeClock } from '../../helpers/fakeClock.ts';

export const modelA: InstalledLanguage = {
  modelId: ModelId.parse('model-a'),
  name: 'A',
  sha256: 'a'.repeat(64),
  bytes: 1000,
  sampling: null,
};
export const modelB: InstalledLanguage = {
  modelId: ModelId.parse('model-b'),
  name: 'B',
  sha256: 'b'.repeat(64),
  bytes: 1000,
  sampling: null,
};

export const silentLog: Logger = { info: () => {}, warn: () => {}, error: () => {} };

export const hello: LanguageModelV4Prompt = [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }];

/** The real engines over whatever the starter starts; the slot is the test's to change. */
export function setUpEngines<C extends Clock>(
  starter: ProcessStarter,
  options: {
    clock: C;
    path?: string;
    dataDir?: string;
    freeBytes?: () => number;
    preflight?: Preflight;
    env?: Record<string, string>;
    limits?: Partial<SupervisionLimits>;
    speechSlots?: SpeechSlots;
  },
) {
  let model: InstalledLanguage | null = modelA;
  const listeners: (() => void)[] = [];
  const slot: LanguageSlot & { choose(next: InstalledLanguage | null): void } = {
    chosen: () => model,
    path: async () => options.path ?? '/nowhere/model.gguf',
    onChange: (listener) => void listeners.push(listener),
    choose(next) {
      model = next;
      for (const listener of listeners) listener();
    },
  };
  const machine: Machine = {
    totalBytes: () => 16e9,
    availableBytes: options.freeBytes ?? (() => 8e9),
    physicalCores: () => 4,
    logicalCores: () => 8,
  };
  let pid: number | null = null;
  const watched: ProcessStarter = {
    start(spec) {
      const link = starter.start(spec);
      if (spec.args.includes('language')) pid = link.pid();
      return link;
    },
  };
  const engines = createEngines({
    starter: watched,
    paths: pathsOf(options.dataDir ?? '/nowhere/data'),
    env: options.env ?? {},
    clock: options.clock,
    log: silentLog,
    machine,
    slot,
    speechSlots: options.speechSlots ?? {
      chosen: () => null,
      usable: () => [],
      path: async () => '/nowhere/model',
      spareActivity: () => null,
    },
    ...(options.limits === undefined ? {} : { limits: options.limits }),
    preflight: options.preflight ?? (async () => ({ fileBytes: 1000, trainedContext: 8192, needBytes: () => 1000 })),
  });
  const language = (): LanguageModel => {
    const face = engines.language();
    if (face === null) throw new Error('no model');
    return face;
  };
  return {
    engines,
    slot,
    language,
    clock: options.clock,
    /** Of the newest language engine. */
    pid() {
      if (pid === null) throw new Error('no engine');
      return pid;
    },
  };
}

export const fakeTime = () => createFakeClock();

export type Answer = { text: string; finish: string | null; error: unknown; raw: unknown[] };

/** Reads a whole stream. */
export async function answerOf(
  model: LanguageModel,
  options: { signal?: AbortSignal; onPart?: (part: LanguageModelV4StreamPart) => void } = {},
): Promise<Answer> {
  const { stream } = await model.doStream({
    prompt: hello,
    includeRawChunks: true,
    ...(options.signal ? { abortSignal: options.signal } : {}),
  });
  const answer: Answer = { text: '', finish: null, error: null, raw: [] };
  for await (const part of stream) {
    options.onPart?.(part);
    if (part.type === 'text-delta') answer.text += part.delta;
    if (part.type === 'raw') answer.raw.push(part.rawValue);
    if (part.type === 'finish') answer.finish = part.finishReason.raw ?? null;
    if (part.type === 'error') answer.error = part.error;
  }
  return answer;
}
