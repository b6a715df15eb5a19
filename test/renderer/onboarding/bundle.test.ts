import { describe, expect, it } from 'vitest';
import { bundleView } from '../../../src/renderer/features/onboarding/bundle.ts';
import { bundleLimitBytes, starterBundle } from '../../../src/shared/domain/starterBundle.ts';
import { downloadJob } from '../fakeRuntime.ts';
import { allInstalled, installedOf, shipped, starterOf, starters } from '../starterModels.ts';

const bundle = starterBundle(shipped, 'talk');
const jobFor = (slot: Parameters<typeof starterOf>[0], change: Parameters<typeof downloadJob>[0] = {}) => {
  const { id, file } = starterOf(slot);
  return downloadJob({ modelId: id, total: file.bytes, received: 0, ...change });
};

describe('the starter bundle of the shipped catalogue', () => {
  it('does all that talking needs, in the order in which it is fetched, and stays within its limit', () => {
    expect(bundle.entries.map(({ slot }) => slot)).toEqual(['activity', 'listen', 'speak', 'language']);
    expect(bundle.entries.map(({ runtimeClass }) => runtimeClass)).toEqual(['silero-v5', 'moonshine', 'piper', 'generic-gguf']);
    expect(bundle.bytes).toBe(starters.reduce((sum, { file }) => sum + file.bytes, 0));
    expect(bundle.bytes).toBeLessThanOrEqual(bundleLimitBytes);
    for (const { file, licence } of bundle.entries) {
      expect(file.sha256).toMatch(/^[0-9a-f]{64}$/);
      expect(licence.id).not.toBe('');
    }
  });

  it('is one model for whoever only types', () => {
    expect(starterBundle(shipped, 'type').entries.map(({ slot }) => slot)).toEqual(['language']);
  });
});

describe('how far it is', () => {
  it('nothing yet: all is missing, and no time is promised', () => {
    const view = bundleView(bundle, [], []);
    expect(view).toMatchObject({ state: 'idle', receivedBytes: 0, leftBytes: bundle.bytes, leftMs: null, jobs: [] });
    expect(view.missing.map(({ slot }) => slot)).toEqual(['activity', 'listen', 'speak', 'language']);
  });

  it('what runs adds up, and the time left is that of all that is left', () => {
    const jobs = [
      jobFor('listen', { phase: 'downloading', received: 10_000_000, bytesPerSec: 2_000_000 }),
      jobFor('speak', { phase: 'downloading', received: 20_000_000, bytesPerSec: 3_000_000 }),
      jobFor('language', { phase: 'queued', bytesPerSec: 9_000_000 }),
    ];
    const view = bundleView(bundle, [installedOf(starterOf('activity'))], jobs);
    const received = starterOf('activity').file.bytes + 30_000_000;
    expect(view).toMatchObject({ state: 'running', receivedBytes: received, leftBytes: bundle.bytes - received, missing: [] });
    expect(view.leftMs).toBeCloseTo((bundle.bytes - received) / 5_000, 5);
  });

  it.each([
    [['verifying'], 'checking'],
    [['waiting', 'paused'], 'waiting'],
    [['paused', 'failed'], 'paused'],
    [['failed'], 'stopped'],
    [['cancelled'], 'idle'],
  ] as const)('%s is %s', (phases, state) => {
    const slots = ['speak', 'language'] as const;
    const jobs = phases.map((phase, i) => jobFor(slots[i] ?? 'speak', { phase }));
    expect(bundleView(bundle, [], jobs).state).toBe(state);
  });

  it('what failed or is paused is asked for again, what was begun first', () => {
    const jobs = [
      jobFor('listen', { phase: 'failed', received: 7 }),
      jobFor('speak', { phase: 'paused' }),
      jobFor('language', { phase: 'queued' }),
    ];
    const view = bundleView(bundle, [], jobs);
    expect(view.missing.map(({ slot }) => slot)).toEqual(['activity', 'listen', 'speak']);
    expect(view.jobs).toHaveLength(2);
  });

  it('a file that is here and does not load is not here, and says why', () => {
    const installed = [installedOf(starterOf('listen'), { state: 'rejected', reason: 'bad file' })];
    const row = bundleView(bundle, installed, []).rows.find(({ entry }) => entry.slot === 'listen');
    expect(row).toMatchObject({ here: false, rejected: 'bad file' });
  });

  it('between the end of a download and the list of what is here nothing is offered again', () => {
    const view = bundleView(bundle, allInstalled.slice(1), [
      jobFor(allInstalled[0]?.slot ?? 'language', { phase: 'installed', received: allInstalled[0]?.bytes ?? 0 }),
    ]);
    expect(view).toMatchObject({ state: 'checking', missing: [], jobs: [] });
    expect(bundleView(bundle, allInstalled, []).state).toBe('ready');
  });
});
