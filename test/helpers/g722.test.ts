import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createChance } from '../crash/chance.ts';
import { decodeG722 } from './g722.ts';

describe('G.722', () => {
  // Of the very bytes below, decoded by FFmpeg 9.0 to 16-bit samples.
  it('gives bit by bit what another decoder gives', () => {
    const chance = createChance(722);
    const bytes = Uint8Array.from({ length: 4_000 }, () => Math.floor(chance() * 256));
    const samples = Int16Array.from(decodeG722(bytes), (x) => Math.round(x * 0x8000));
    expect(samples.length).toBe(8_000);
    expect(createHash('sha256').update(new Uint8Array(samples.buffer)).digest('hex')).toBe(
      'e62fdcce10c17f670434a54713019b0ad075ae35f81446c490ab50cf792e81dd',
    );
  });
});
