import { describe, expect, it } from 'vitest';
import { generateParams } from '../../../src/runtime/engines/localLanguageModel.ts';
import { verifies } from '../../helpers/verifies.ts';
import { hello } from './harness.ts';

const starter = { temperature: 0.2, topP: 0.95 };

describe('RT-03: how an answer is sampled', () => {
  it('the defaults of the class hold for a model of which the catalogue says nothing', () => {
    verifies('RT-03');
    const params = generateParams({ prompt: hello }, null);
    expect(params.sampling).toMatchObject({ temperature: 0.7, topP: 0.9 });
    expect(params.maxTokens).toBe(2048);
  });

  it('what the catalogue says of a model goes before them', () => {
    expect(generateParams({ prompt: hello }, starter).sampling).toMatchObject(starter);
  });

  it('what the caller asks for goes before both, greedy included', () => {
    expect(generateParams({ prompt: hello, temperature: 0 }, starter).sampling).toMatchObject({ temperature: 0, topP: 0.95 });
  });
});
