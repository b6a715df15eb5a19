import { describe, expect, it } from 'vitest';
import { languageSlot } from '../../../src/runtime/compose/languageSlot.ts';
import { ModelId } from '../../../src/shared/domain/ids.ts';
import type { InstalledModel } from '../../../src/shared/domain/models.ts';
import { createLiveValue } from '../../../src/shared/util/liveValue.ts';
import { createTestLog } from '../../helpers/testRuntime.ts';

const model = (id: string, state: InstalledModel['state'], reason: string | null = null): InstalledModel => ({
  id: ModelId.parse(id),
  name: id,
  slot: 'language',
  bytes: 1,
  sha256: '0'.repeat(64),
  state,
  reason,
  installedAt: '2026-01-01T00:00:00.000Z',
});

function slotOf(list: readonly InstalledModel[], env: Record<string, string> = {}) {
  const models = createLiveValue(list);
  return { models, slot: languageSlot({ list: () => models.get(), models, path: async () => '/x' }, () => null, env, createTestLog()) };
}

describe('languageSlot', () => {
  it('takes the newest proven model and never one that is unproven or rejected', () => {
    const list = [model('unproven', 'unproven'), model('rejected', 'rejected'), model('newer', 'proven'), model('older', 'proven')];
    expect(slotOf(list).slot.chosen()?.modelId).toBe('newer');
    expect(slotOf([model('unproven', 'unproven')]).slot.chosen()).toBeNull();
    expect(slotOf([]).slot.chosen()).toBeNull();
  });

  it('takes the one that the environment names, if it is usable', () => {
    const list = [model('newer', 'proven'), model('older', 'proven'), model('bad', 'rejected')];
    expect(slotOf(list, { SOTTO_LOCAL_SMALL_MODEL: 'older' }).slot.chosen()?.modelId).toBe('older');
    expect(slotOf(list, { SOTTO_LOCAL_SMALL_MODEL: 'bad' }).slot.chosen()?.modelId).toBe('newer');
  });

  it('tells when the list of models changes', async () => {
    const { slot, models } = slotOf([]);
    const told = new Promise<void>((resolve) => slot.onChange(() => slot.chosen() !== null && resolve()));
    models.set([model('first', 'proven')]);
    await told;
    expect(slot.chosen()?.modelId).toBe('first');
  });
});
