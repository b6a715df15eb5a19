import { AppError } from '../../src/shared/errors/appError.ts';
import { Handle, type Pointer } from '../core/handle.ts';
import { koffi } from '../core/koffi.ts';
import { createContext } from './context.ts';
import type { LlamaApi } from './library.ts';
import type { LogCollector } from './log.ts';
import type { LlamaContext, LlamaModel, LlamaSampler } from './modelType.ts';
import { createSampler } from './sampler.ts';

export type ModelLoadOptions = {
  readonly path: string;
  /** `mmap` shares the file's pages; `none` reads them: better when weights are repacked (performance facts, finding 5). */
  readonly loadMode: 'auto' | 'none' | 'mmap';
  /** Only names and tokens, no weights. */
  readonly vocabularyOnly?: boolean;
  /** 0…1, rising. */
  readonly onProgress?: (fraction: number) => void;
  /** Asked with each progress step. */
  readonly isCancelled?: () => boolean;
};

const loadModes = { auto: -1, none: 0, mmap: 1 } as const;
const MAX_METADATA_BYTES = 1024 * 1024;

/**
 * Loads a model file, which the library reads by itself.
 *
 * @throws AppError MODEL_FILE_CORRUPT {reason}, MODEL_ARCH_UNSUPPORTED, OUT_OF_MEMORY, CANCELLED.
 */
export async function loadModel(api: LlamaApi, log: LogCollector, options: ModelLoadOptions): Promise<LlamaModel> {
  const params = api.llama_model_default_params();
  params.loadMode = loadModes[options.loadMode];
  params.vocabOnly = options.vocabularyOnly ?? false;
  let cancelled = options.isCancelled?.() ?? false;
  if (cancelled) throw new AppError('CANCELLED');
  const progress = koffi().register(
    (fraction: number) => {
      try {
        options.onProgress?.(Math.min(1, Math.max(0, fraction)));
        cancelled ||= options.isCancelled?.() ?? false;
      } catch {
        // A callback that throws would read as "stop" to the library; progress is not worth that.
      }
      return !cancelled;
    },
    koffi().pointer(koffi().proto('bool', ['float', 'void *'])),
  ) as Pointer;
  params.progressCallback = progress;
  log.clear();
  const pointer = await api.llama_model_load_from_file(options.path, params).finally(() => koffi().unregister(progress));
  if (pointer === null) {
    if (cancelled) throw new AppError('CANCELLED');
    throw log.explain('load', (reason) => new AppError('MODEL_FILE_CORRUPT', { reason }));
  }
  const handle = new Handle(pointer, (model) => api.llama_model_free(model));
  try {
    return openModel(api, log, handle, params.vocabOnly);
  } catch (error) {
    await handle.dispose();
    throw error;
  }
}

function openModel(api: LlamaApi, log: LogCollector, handle: Handle, vocabularyOnly: boolean): LlamaModel {
  const vocab = handle.use((model) => api.llama_model_get_vocab(model));
  const vocabularySize = vocab === null ? 0 : api.llama_vocab_n_tokens(vocab);
  if (vocab === null || vocabularySize <= 0) throw new AppError('MODEL_FILE_CORRUPT', { reason: 'no vocabulary' });
  const contexts = new Set<LlamaContext>();
  const samplers = new Set<LlamaSampler>();
  const pieces = new Map<number, Uint8Array>();
  // Asked once per token of every reply: 0 = not asked yet, 1 = no, 2 = yes.
  const ends = new Uint8Array(vocabularySize);

  const readText = (read: (buffer: Uint8Array) => number): string | null => {
    let buffer = new Uint8Array(256);
    const length = read(buffer);
    if (length < 0) return null;
    if (length >= buffer.length) {
      buffer = new Uint8Array(Math.min(length + 1, MAX_METADATA_BYTES));
      read(buffer);
    }
    return new TextDecoder().decode(buffer.subarray(0, Math.min(length, buffer.length - 1)));
  };
  const metadata = (key: string) =>
    handle.use((model) => readText((buffer) => api.llama_model_meta_val_str(model, key, buffer, buffer.length)));

  function tokenize(text: string, parseSpecial: boolean): Int32Array {
    return handle.use(() => {
      const bytes = new TextEncoder().encode(text);
      // koffi passes NULL for an empty array.
      if (bytes.length === 0) return new Int32Array(0);
      let room = new Int32Array(bytes.length + 16);
      let count = api.llama_tokenize(vocab, bytes, bytes.length, room, room.length, false, parseSpecial);
      if (count < 0 && count > -0x7fff_ffff) {
        room = new Int32Array(-count);
        count = api.llama_tokenize(vocab, bytes, bytes.length, room, room.length, false, parseSpecial);
      }
      if (count < 0) throw new AppError('INVALID_INPUT', { field: 'text', reason: 'cannot be tokenised' });
      return room.slice(0, count);
    });
  }

  function tokenBytes(token: number): Uint8Array {
    const known = pieces.get(token);
    if (known !== undefined) return known;
    checkToken(token);
    const piece = handle.use(() => {
      let buffer = new Uint8Array(64);
      let length = api.llama_token_to_piece(vocab, token, buffer, buffer.length, 0, false);
      if (length < 0) {
        buffer = new Uint8Array(-length);
        length = api.llama_token_to_piece(vocab, token, buffer, buffer.length, 0, false);
      }
      return buffer.slice(0, Math.max(0, length));
    });
    pieces.set(token, piece);
    return piece;
  }

  function checkToken(token: number): void {
    if (!Number.isInteger(token) || token < 0 || token >= vocabularySize) {
      throw new AppError('INVALID_INPUT', { field: 'token', reason: 'unknown token' });
    }
  }

  const facts = handle.use((model) => ({
    description: readText((buffer) => api.llama_model_desc(model, buffer, buffer.length)) ?? '',
    trainedContext: api.llama_model_n_ctx_train(model),
    parameters: Number(api.llama_model_n_params(model)),
    chatTemplate: api.llama_model_chat_template(model, null),
    writesText: api.llama_model_has_decoder(model) && !api.llama_model_has_encoder(model) && !api.llama_model_is_diffusion(model),
    addsBos: api.llama_vocab_get_add_bos(vocab),
    bos: api.llama_vocab_bos(vocab),
    eos: api.llama_vocab_eos(vocab),
  }));

  return {
    description: facts.description,
    architecture: metadata('general.architecture')?.slice(0, 64) ?? '',
    trainedContext: facts.trainedContext,
    vocabularySize,
    parameters: facts.parameters,
    chatTemplate: facts.chatTemplate,
    addsBos: facts.addsBos,
    bos: facts.bos,
    eos: facts.eos,
    tokenText: (token) => (token < 0 ? '' : handle.use(() => (checkToken(token), api.llama_vocab_get_text(vocab, token) ?? ''))),
    metadata,
    tokenize,
    tokenBytes,
    isEnd(token) {
      const known = ends[token];
      if (known !== undefined && known > 0) return known === 2;
      checkToken(token);
      const end = handle.use(() => api.llama_vocab_is_eog(vocab, token));
      ends[token] = end ? 2 : 1;
      return end;
    },
    isControl: (token) => handle.use(() => (checkToken(token), api.llama_vocab_is_control(vocab, token))),
    async createContext(options) {
      // The library would make a context on a model without weights, and crash in its first decode.
      if (vocabularyOnly) throw new AppError('UNSUPPORTED', { what: 'a context without weights' });
      if (!facts.writesText) throw new AppError('UNSUPPORTED', { what: 'a model that does not write text' });
      return handle.useAsync(async (model) => {
        const context = await createContext(api, log, model, vocabularySize, options, (gone) => contexts.delete(gone));
        // Disposed meanwhile: the model goes as soon as this call ends, and the context must go before it.
        if (handle.closed) {
          await context.dispose();
          throw new AppError('HANDLE_CLOSED');
        }
        contexts.add(context);
        return context;
      });
    },
    createSampler(options) {
      const sampler = handle.use(() => createSampler(api, vocab, vocabularySize, options, (gone) => samplers.delete(gone)));
      samplers.add(sampler);
      return sampler;
    },
    async dispose() {
      for (const sampler of [...samplers]) await sampler.dispose();
      for (const context of [...contexts]) await context.dispose();
      await handle.dispose();
    },
  };
}
