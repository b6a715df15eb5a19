import { describe, expect, it } from 'vitest';
import { AppError } from '../../../src/shared/errors/appError.ts';
import { createFakeRuntime, downloadJob, noModel, ready } from '../fakeRuntime.ts';
import { fireEvent, openPage, screen, within } from '../page.tsx';
import { allInstalled, installedOf, shipped, starterOf } from '../starterModels.ts';

async function models(prepare: (runtime: ReturnType<typeof createFakeRuntime>) => void = () => {}) {
  const runtime = createFakeRuntime({ language: noModel });
  runtime.setCatalogue(shipped);
  prepare(runtime);
  const page = await openPage({ runtime });
  page.key('5', { ctrlKey: true });
  await page.pass(0);
  await page.pass(0);
  return { runtime, page };
}
const row = (slot: Parameters<typeof starterOf>[0]) => screen.getByTestId(`model-${starterOf(slot).id}`);
const text = () => document.body.textContent ?? '';

describe('the list of models', () => {
  it('is one press away, and stands by what a model does', async () => {
    const { page } = await models();
    expect(screen.getByRole('heading', { level: 1 }).textContent).toBe('Models');
    expect(screen.getAllByRole('heading', { level: 2 }).map((h) => h.textContent)).toEqual([
      'Answers',
      'Listens',
      'Speaks',
      'Notices speech',
    ]);
    expect(screen.getByRole('button', { name: 'Models' }).getAttribute('aria-current')).toBe('page');
    expect(text()).toContain(`0 of ${shipped.length} are on this machine`);
    page.close();
  });

  it('one that is not here: size, licence, what it is good for, one button', async () => {
    const { runtime, page } = await models();
    expect(row('speak').textContent).toMatch(/Piper Joe.*MIT.*English.*Not on this machine/);
    fireEvent.click(within(row('speak')).getByRole('button', { name: 'Get 63 MB: Piper Joe' }));
    await page.pass(0);
    expect(runtime.callsOf('models.startDownload')).toEqual([{ modelId: starterOf('speak').id }]);
    expect(within(row('speak')).getByRole('progressbar')).toBeTruthy();
    expect(within(row('speak')).queryByRole('button', { name: /^Get/ })).toBeNull();
    page.close();
  });

  it('a download can be paused, go on and be cancelled in its row', async () => {
    const { id, file } = starterOf('speak');
    const { runtime, page } = await models((r) =>
      r.downloads.set({ jobs: [downloadJob({ modelId: id, total: file.bytes, received: 20_000_000 })] }),
    );
    fireEvent.click(within(row('speak')).getByRole('button', { name: 'Pause' }));
    await page.pass(0);
    expect(row('speak').textContent).toContain('Paused');
    fireEvent.click(within(row('speak')).getByRole('button', { name: 'Resume' }));
    await page.pass(0);
    expect(runtime.callsOf('models.startDownload')).toHaveLength(1);
    await page.change(() => void runtime.moveJob({ phase: 'downloading', received: 20_000_000 }));
    fireEvent.click(within(row('speak')).getByRole('button', { name: 'Cancel' }));
    await page.pass(0);
    fireEvent.click(within(screen.getByRole('dialog')).getByRole('button', { name: /^Cancel and delete/ }));
    await page.pass(0);
    expect(runtime.callsOf('models.cancelDownload')).toHaveLength(1);
    page.close();
  });

  it('what is loaded says what memory it takes, and what is not known is "?"', async () => {
    const { runtime, page } = await models((r) => {
      r.setInstalled(allInstalled);
      r.language.set({ ...ready, modelId: starterOf('language').id });
      r.setLoaded([
        { key: 'language', memoryBytes: 231_000_000, modelIds: [starterOf('language').id] },
        { key: 'speech', memoryBytes: 388_000_000, modelIds: [starterOf('listen').id, starterOf('speak').id] },
      ]);
    });
    expect(row('language').textContent).toContain('Loaded · 231 MB of memory');
    expect(row('listen').textContent).toContain('Loaded · 388 MB of memory, together with what else is loaded for talking');
    expect(row('activity').textContent).toContain('On this machine');
    runtime.setLoaded([{ key: 'language', memoryBytes: null, modelIds: [starterOf('language').id] }]);
    await page.pass(5_000);
    expect(row('language').textContent).toContain('Loaded · ? MB of memory');
    expect(row('listen').textContent).not.toContain('Loaded');
    await page.change(() => runtime.language.set({ ...ready, modelId: starterOf('language').id, state: 'loading', fraction: 0.2 }));
    expect(row('language').textContent).toContain('Loading');
    page.close();
  });

  it('one that does not load says why and can be fetched again', async () => {
    const { runtime, page } = await models((r) =>
      r.setInstalled([installedOf(starterOf('listen'), { state: 'rejected', reason: 'the decoder is damaged' })]),
    );
    expect(row('listen').textContent).toContain('Does not load here: the decoder is damaged');
    fireEvent.click(within(row('listen')).getByRole('button', { name: 'Get it again: Moonshine Tiny' }));
    await page.pass(0);
    expect(runtime.callsOf('models.startDownload')).toEqual([{ modelId: starterOf('listen').id }]);
    page.close();
  });

  it('a file that stands in no catalogue any more is still listed', async () => {
    const { page } = await models((r) =>
      r.setInstalled([installedOf(starterOf('language'), { id: 'old-one' as never, name: 'Old one', state: 'unproven' })]),
    );
    expect(screen.getByTestId('model-old-one').textContent).toContain('Here, but nothing proves it');
    page.close();
  });

  it('a failure and a refusal have their card in that row', async () => {
    const { id, file } = starterOf('speak');
    const { runtime, page } = await models((r) =>
      r.downloads.set({
        jobs: [
          downloadJob({
            modelId: id,
            total: file.bytes,
            phase: 'failed',
            error: { code: 'DOWNLOAD_HASH_MISMATCH', data: { file: 'x', expected: 'a', actual: 'b' } },
          }),
        ],
      }),
    );
    expect(row('speak').textContent).toContain('DOWNLOAD_HASH_MISMATCH');
    runtime.failNext('models.startDownload', new AppError('OFFLINE'));
    fireEvent.click(within(row('listen')).getByRole('button', { name: /^Get/ }));
    await page.pass(0);
    expect(row('listen').textContent).toContain('OFFLINE');
    expect(row('activity').textContent).not.toContain('OFFLINE');
    page.close();
  });

  it('loading, unreadable and empty', async () => {
    const { runtime, page } = await models((r) => r.failNext('models.installed', new AppError('STORE_BUSY')));
    expect(text()).toContain('STORE_BUSY');
    runtime.setCatalogue([]);
    fireEvent.click(screen.getByRole('button', { name: 'Try again' }));
    await page.pass(0);
    expect(text()).toContain('No model is known to this build.');
    page.close();
    document.body.innerHTML = '';
    const slow = createFakeRuntime();
    slow.hold('models.catalogue');
    const waiting = await openPage({ runtime: slow });
    waiting.key('5', { ctrlKey: true });
    await waiting.pass(300);
    expect(screen.getByRole('status', { name: 'Reading the list of models' })).toBeTruthy();
    waiting.close();
  });
});
