import { AppError } from '../../src/shared/errors/appError.ts';

/** Settings of a sampler chain. `temperature` 0 = the likeliest token always. */
export type SamplerOptions = {
  readonly temperature: number;
  readonly topK: number;
  readonly topP: number;
  readonly minP: number;
  readonly repeatPenalty: number;
  readonly frequencyPenalty: number;
  readonly presencePenalty: number;
  readonly penaltyLastN: number;
  /** 0…0xfffffffe; the value above means "pick one" to the library and would not repeat. */
  readonly seed: number;
  /** GBNF with a rule `root`. */
  readonly grammar?: string;
};

type Range = { readonly min: number; readonly max: number; readonly integer?: true; readonly open?: true };

/** ABI-08. `open`: the lower bound itself is not allowed. */
const ranges: Readonly<Record<Exclude<keyof SamplerOptions, 'grammar'>, Range>> = {
  temperature: { min: 0, max: 5 },
  topK: { min: 0, max: 100_000, integer: true },
  topP: { min: 0, max: 1, open: true },
  minP: { min: 0, max: 1 },
  repeatPenalty: { min: 0, max: 5, open: true },
  frequencyPenalty: { min: -5, max: 5 },
  presencePenalty: { min: -5, max: 5 },
  penaltyLastN: { min: 0, max: 8192, integer: true },
  seed: { min: 0, max: 0xffff_fffe, integer: true },
};

/**
 * Refuses values that the library would take silently or die of, before any native call.
 *
 * @throws AppError INVALID_INPUT {field, reason}.
 */
export function checkSamplerOptions(options: SamplerOptions): void {
  for (const [field, range] of Object.entries(ranges) as [keyof typeof ranges, Range][]) {
    const value = options[field];
    const reason = !Number.isFinite(value)
      ? 'not finite'
      : range.integer === true && !Number.isInteger(value)
        ? 'not an integer'
        : value < range.min || (range.open === true && value === range.min) || value > range.max
          ? `outside ${range.min}…${range.max}`
          : null;
    if (reason !== null) throw new AppError('INVALID_INPUT', { field: `sampling.${field}`, reason });
  }
}

/** One link of a chain, in the order of ABI-08: grammar, penalties, top-k, top-p, min-p, temperature, then the choice. */
export type SamplerStep =
  | { readonly kind: 'grammar'; readonly text: string }
  | { readonly kind: 'penalties'; readonly lastN: number; readonly repeat: number; readonly frequency: number; readonly presence: number }
  | { readonly kind: 'topK' | 'topP' | 'minP' | 'temperature'; readonly value: number }
  | { readonly kind: 'greedy' }
  | { readonly kind: 'random'; readonly seed: number };

/** The links that change anything; neutral values get none, since each costs a pass over the vocabulary. */
export function samplerSteps(options: SamplerOptions): SamplerStep[] {
  const steps: SamplerStep[] = [];
  if (options.grammar !== undefined) steps.push({ kind: 'grammar', text: options.grammar });
  const penal = options.repeatPenalty !== 1 || options.frequencyPenalty !== 0 || options.presencePenalty !== 0;
  if (penal && options.penaltyLastN > 0) {
    steps.push({
      kind: 'penalties',
      lastN: options.penaltyLastN,
      repeat: options.repeatPenalty,
      frequency: options.frequencyPenalty,
      presence: options.presencePenalty,
    });
  }
  if (options.temperature === 0) return [...steps, { kind: 'greedy' }];
  if (options.topK > 0) steps.push({ kind: 'topK', value: options.topK });
  if (options.topP < 1) steps.push({ kind: 'topP', value: options.topP });
  if (options.minP > 0) steps.push({ kind: 'minP', value: options.minP });
  if (options.temperature !== 1) steps.push({ kind: 'temperature', value: options.temperature });
  return [...steps, { kind: 'random', seed: options.seed }];
}
