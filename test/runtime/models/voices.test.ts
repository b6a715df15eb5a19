import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { speechSlots } from '../../../src/runtime/compose/speechSlots.ts';
import { createCatalogue } from '../../../src/runtime/models/catalogue.ts';
import { createVoices } from '../../../src/runtime/models/voices.ts';
import { createFiles } from '../../../src/runtime/platform/files.ts';
import type { InstalledRow } from '../../../src/runtime/store/installed.ts';
import { ModelId } from '../../../src/shared/domain/ids.ts';
import { type InstalledModel, storedLayout } from '../../../src/shared/domain/models.ts';
import { verifies } from '../../helpers/verifies.ts';

const catalogue = createCatalogue(JSON.parse(readFileSync('resources/catalogue.json', 'utf8')));
const kokoro = ModelId.parse('kokoro-82m-en');
const piper = ModelId.parse('piper-en-us-joe');

/** @param present  installed models with the speed that their trial measured. */
function setUp(present: Record<string, number | undefined>, change: Partial<InstalledModel> = {}) {
  const speeds = new Map(Object.entries(present));
  const registry = {
    get(id: string): InstalledModel | null {
      const entry = catalogue.list().find((one) => one.id === id);
      if (entry === undefined || !speeds.has(id)) return null;
      const file = entry.prepare?.file ?? entry.file;
      const speedFactor = speeds.get(id);
      const { name, slot } = entry;
      return {
        id: entry.id,
        name,
        slot,
        bytes: file.bytes,
        sha256: file.sha256,
        state: 'proven',
        reason: null,
        installedAt: '2026-01-01T00:00:00.000Z',
        ...(speedFactor === undefined ? {} : { speedFactor }),
        ...change,
      };
    },
    path: async (id: string) => `/models/${id}`,
    refresh: () => {},
  };
  const installed = {
    get: (id: string) => (speeds.has(id) ? ({ id } as InstalledRow) : null),
    put: ({ id, speedFactor }: InstalledRow) => void speeds.set(id, speedFactor ?? undefined),
  };
  const trial = async () => ({ speedFactor: 0.3 });
  const voices = createVoices({ catalogue, registry, installed, trial });
  return { voices, slots: speechSlots({ catalogue, registry, files: createFiles(), sparePath: null }) };
}

describe('VO-96: the list of all speaking voices', () => {
  it('28 English voices of Kokoro and Joe, with what is known of each', () => {
    verifies('VO-96');
    const { voices } = setUp({ [piper]: 0.2 });
    const list = voices.list({});
    expect(list).toHaveLength(29);
    const count = (locale: string, gender: string) =>
      list.filter((v) => v.modelId === kokoro && v.locale === locale && v.gender === gender).length;
    expect([count('en-US', 'female'), count('en-US', 'male'), count('en-GB', 'female'), count('en-GB', 'male')]).toEqual([11, 9, 4, 4]);
    expect(list.find(({ voiceId }) => voiceId === 'bf_emma')).toMatchObject({
      name: 'Emma',
      language: 'en',
      locale: 'en-GB',
      gender: 'female',
      sampleRate: 24_000,
      licence: { id: 'Apache-2.0' },
      sizeBytes: 106_985_146,
      state: 'available',
      check: 'notChecked',
      talk: 'slower',
      note: 'B-',
    });
    const joe = list.find(({ voiceId }) => voiceId === 'joe');
    expect(joe).toMatchObject({ state: 'installed', speedFactor: 0.2, talk: 'standard', sampleRate: 22_050 });
    expect(joe).not.toHaveProperty('note');
  });

  it('filters by language, gender and whether it is here', () => {
    verifies('VO-96');
    const { voices } = setUp({ [piper]: undefined });
    expect(voices.list({ language: 'de' })).toEqual([]);
    expect(voices.list({ language: 'en-GB' })).toHaveLength(29);
    expect(voices.list({ gender: 'male' })).toHaveLength(14);
    expect(voices.list({ installed: true }).map(({ voiceId }) => voiceId)).toEqual(['joe']);
    expect(voices.list({ installed: false })).toHaveLength(28);
  });

  it('a rejected or changed file is not here', () => {
    for (const change of [{ state: 'rejected' as const }, { sha256: 'f'.repeat(64) }]) {
      const { voices } = setUp({ [piper]: 0.2, [kokoro]: 0.2 }, change);
      expect(voices.list({ installed: true })).toEqual([]);
      expect(voices.standard()).toEqual([]);
    }
  });

  it('what the licences want to be said stands in the list, and in whole beside the program', () => {
    const notice =
      setUp({})
        .voices.list({})
        .find(({ modelId }) => modelId === kokoro)?.notice ?? '';
    const text = readFileSync('resources/licences/kokoro.txt', 'utf8');
    for (const words of ['hexgrad', 'thewh1teagle', 'kokoro-onnx', 'Changed']) expect(notice).toContain(words);
    for (const words of ['hexgrad', 'thewh1teagle', 'CHANGED', 'Permission is hereby granted']) expect(text).toContain(words);
    expect(readFileSync('resources/licences/apache-2.0.txt', 'utf8')).toContain('Apache License');
  });
});

describe("VO-62: the pack's own voice", () => {
  it.each([
    ['Kokoro where it keeps up', { [kokoro]: 0.4, [piper]: 0.2 }, 'af_heart'],
    ['Piper where Kokoro does not', { [kokoro]: 0.51, [piper]: 0.2 }, 'joe'],
    ['Piper while nothing is measured', { [kokoro]: undefined, [piper]: undefined }, 'joe'],
    ['a slow one where there is no other', { [kokoro]: 1.8 }, 'af_heart'],
  ] as const)('%s', (_, present, first) => {
    const { voices, slots } = setUp(present);
    expect(voices.standard()).toEqual([first]);
    expect(slots.chosen('speak')?.voices[0]?.voiceId).toBe(first);
    expect(slots.usable('speak')).toHaveLength(Object.keys(present).length);
  });

  it('a new measure counts at once', async () => {
    const { voices, slots } = setUp({ [kokoro]: 1.8, [piper]: 0.2 });
    expect(slots.chosen('speak')?.modelId).toBe(piper);
    expect(await voices.measure(kokoro, new AbortController().signal)).toEqual({ speedFactor: 0.3 });
    expect(slots.chosen('speak')?.modelId).toBe(kokoro);
    await expect(voices.measure(ModelId.parse('moonshine-tiny'), new AbortController().signal)).rejects.toMatchObject({
      code: 'MODEL_NOT_INSTALLED',
    });
  });

  it('the prepared file is what is loaded: its size, its hash, its parts', () => {
    const { slots } = setUp({ [kokoro]: 0.4 });
    const entry = catalogue.get(kokoro);
    const chosen = slots.chosen('speak');
    if (entry?.prepare === undefined || chosen === null) throw new Error('no prepared model');
    expect(chosen).toMatchObject({ sha256: entry.prepare.file.sha256, bytes: entry.prepare.file.bytes, layout: storedLayout(entry) });
    expect(chosen.layout.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(entry.prepare.file.bytes);
    expect(chosen.layout.filter(({ role }) => role.startsWith('style.'))).toHaveLength(28);
    for (const { voiceId } of chosen.voices) expect(chosen.layout).toContainEqual({ role: `style.${voiceId}`, bytes: 522_240 });
  });
});
