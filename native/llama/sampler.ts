import { AppError } from '../../src/shared/errors/appError.ts';
import { Handle, type Pointer } from '../core/handle.ts';
import type { LlamaApi } from './library.ts';
import type { LlamaSampler } from './modelType.ts';
import { checkSamplerOptions, type SamplerOptions, type SamplerStep, samplerSteps } from './samplerOptions.ts';

const handles = new WeakMap<LlamaSampler, Handle>();

/** The native chain of a sampler, for the context that samples. */
export function samplerHandle(sampler: LlamaSampler): Handle {
  const handle = handles.get(sampler);
  if (handle === undefined) throw new AppError('HANDLE_CLOSED');
  return handle;
}

/**
 * @param vocabularySize  tokens of the model.
 * @param onDispose       told once the sampler is given up.
 * @throws AppError INVALID_INPUT for a value out of range or a grammar with a syntax error; UNSUPPORTED without the grammar family.
 */
export function createSampler(
  api: LlamaApi,
  vocab: Pointer,
  vocabularySize: number,
  options: SamplerOptions,
  onDispose: (sampler: LlamaSampler) => void,
): LlamaSampler {
  checkSamplerOptions(options);
  const chain = api.llama_sampler_chain_init({ noPerf: true });
  if (chain === null) throw new AppError('OUT_OF_MEMORY', { stage: 'sampler' });
  try {
    for (const step of samplerSteps(options)) api.llama_sampler_chain_add(chain, createStep(api, vocab, vocabularySize, step));
  } catch (error) {
    api.llama_sampler_free(chain);
    throw error;
  }
  // The chain owns its links.
  const handle = new Handle(chain, (pointer) => api.llama_sampler_free(pointer));
  const sampler = {
    dispose() {
      onDispose(sampler);
      return handle.dispose();
    },
  } as LlamaSampler;
  handles.set(sampler, handle);
  return sampler;
}

function createStep(api: LlamaApi, vocab: Pointer, vocabularySize: number, step: SamplerStep): Pointer {
  const pointer = stepPointer(api, vocab, vocabularySize, step);
  if (pointer !== null) return pointer;
  if (step.kind === 'grammar') throw new AppError('INVALID_INPUT', { field: 'sampling.grammar', reason: 'syntax' });
  throw new AppError('OUT_OF_MEMORY', { stage: 'sampler' });
}

function stepPointer(api: LlamaApi, vocab: Pointer, vocabularySize: number, step: SamplerStep): Pointer | null {
  switch (step.kind) {
    case 'grammar':
      if (api.llama_sampler_init_grammar === undefined) throw new AppError('UNSUPPORTED', { what: 'grammar' });
      return api.llama_sampler_init_grammar(vocab, step.text, 'root');
    case 'penalties':
      return api.llama_sampler_init_penalties(vocabularySize, step.lastN, step.repeat, step.frequency, step.presence);
    case 'topK':
      return api.llama_sampler_init_top_k(step.value);
    case 'topP':
      return api.llama_sampler_init_top_p(step.value, 1);
    case 'minP':
      return api.llama_sampler_init_min_p(step.value, 1);
    case 'temperature':
      return api.llama_sampler_init_temp(step.value);
    case 'greedy':
      return api.llama_sampler_init_greedy();
    case 'random':
      return api.llama_sampler_init_dist(step.seed);
  }
}
