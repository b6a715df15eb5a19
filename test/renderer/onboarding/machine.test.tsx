import { describe, expect, it } from 'vitest';
import { AppError } from '../../../src/shared/errors/appError.ts';
import { createFakeRuntime, downloadJob } from '../fakeRuntime.ts';
import { fireEvent, openPage, screen, within } from '../page.tsx';
import { allInstalled, installedOf, shipped, starterOf } from '../starterModels.ts';

async function machine(prepare: (runtime: ReturnType<typeof createFakeRuntime>) => void = () => {}) {
  const runtime = createFakeRuntime();
  runtime.setCatalogue(shipped);
  runtime.settings.set({ ...runtime.settings.get(), firstRun: 'machine' });
  prepare(runtime);
  const page = await openPage({ runtime });
  await page.pass(0);
  return { runtime, page };
}
const bundle = () => screen.getByRole('region', { name: 'Starter bundle' });
const text = () => document.body.textContent ?? '';
const press = (name: string | RegExp) => fireEvent.click(screen.getByRole('button', { name }));

describe('the machine', () => {
  it('what was found, in plain words, and what is not known is said to be so', async () => {
    const { runtime, page } = await machine();
    const found = () => screen.getByRole('region', { name: 'Found here' }).textContent;
    expect(found()).toContain('AMD Ryzen 5 5600U · 12 threads · Linux x64');
    expect(found()).toContain('9.1 GB of 16.6 GB free');
    expect(found()).toContain('212 GB free');
    runtime.setMachine({ processor: null, cpuVariant: 'haswell', disk: { freeBytes: null, keptFreeBytes: 1_073_741_824 } });
    await page.pass(10_000);
    expect(found()).toContain('its name is not known · 12 threads · Linux x64 · computes as haswell');
    expect(found()).toContain('free space is not known');
    page.close();
  });

  it('one bundle: what each model does, size, licence, space and a time that nobody promises', async () => {
    const { page } = await machine();
    const rows = within(bundle()).getAllByRole('listitem');
    expect(rows.map((row) => row.textContent?.split(' · ')[0])).toEqual(['Notices speech', 'Listens', 'Speaks', 'Answers']);
    expect(rows[1]?.textContent).toMatch(/Moonshine Tiny.*30 MB.*MIT/);
    expect(rows[3]?.textContent).toMatch(/SmolLM2 135M Instruct.*98 MB.*Apache-2\.0/);
    expect(text()).toContain('194 MB');
    expect(text()).toContain('needs 194 MB, 212 GB are free');
    expect(text()).toContain('? Known once the first bytes have come.');
    expect(text()).toContain('It asks npm, pip.');
    page.close();
  });

  it('REC-08: all are fetched in the order noticing, listening, speaking, answering, and only after a press', async () => {
    const { runtime, page } = await machine();
    expect(runtime.callsOf('models.startDownload')).toEqual([]);
    press('Get all, 194 MB');
    await page.pass(0);
    expect(runtime.callsOf('models.startDownload')).toEqual(
      (['activity', 'listen', 'speak', 'language'] as const).map((slot) => ({ modelId: starterOf(slot).id })),
    );
    page.close();
  });

  it('progress of each file and in sum; pause and go on reach all that runs', async () => {
    const { runtime, page } = await machine((r) => r.setInstalled([installedOf(starterOf('activity'))]));
    press('Get the rest, 192 MB');
    await page.pass(0);
    const [listen, speak, language] = runtime.downloads.get().jobs;
    if (listen === undefined || speak === undefined || language === undefined) throw new Error('three were asked for');
    await page.change(() => {
      runtime.moveJob({ phase: 'downloading', received: 15_083_240, bytesPerSec: 4_000_000 }, listen.jobId);
      runtime.moveJob({ phase: 'downloading', received: 31_603_044, bytesPerSec: 6_000_000 }, speak.jobId);
    });
    expect(
      within(bundle())
        .getByRole('progressbar', { name: /^Moonshine Tiny/ })
        .getAttribute('aria-valuenow'),
    ).toBe('50');
    expect(within(bundle()).getByRole('progressbar', { name: 'Starter bundle, Getting the bundle' }).getAttribute('aria-valuenow')).toBe(
      '25',
    );
    expect(text()).toContain('49 MB of 194 MB · 10 MB/s');
    expect(text()).toContain('about 15 s');
    press('Pause');
    await page.pass(0);
    expect(runtime.downloads.get().jobs.map(({ phase }) => phase)).toEqual(['paused', 'paused', 'paused']);
    expect(text()).toContain('Paused');
    press('Go on with the download');
    await page.pass(0);
    expect(runtime.callsOf('models.startDownload')).toHaveLength(6);
    page.close();
  });

  it('Cancel asks when something would be thrown away', async () => {
    const { runtime, page } = await machine();
    press('Get all, 194 MB');
    await page.pass(0);
    const first = runtime.downloads.get().jobs[0];
    await page.change(() => runtime.moveJob({ phase: 'downloading', received: 1_000_000, bytesPerSec: 1 }, first?.jobId));
    press('Cancel');
    await page.pass(0);
    const dialog = screen.getByRole('dialog', { name: 'Cancel these downloads?' });
    expect(dialog.textContent).toContain('1 MB were fetched so far');
    fireEvent.click(within(dialog).getByRole('button', { name: 'Keep them' }));
    await page.pass(0);
    expect(runtime.callsOf('models.cancelDownload')).toEqual([]);
    press('Cancel');
    await page.pass(0);
    fireEvent.click(within(screen.getByRole('dialog')).getByRole('button', { name: 'Cancel and delete 1 MB' }));
    await page.pass(0);
    expect(runtime.callsOf('models.cancelDownload')).toHaveLength(4);
    expect(screen.getByRole('button', { name: 'Get all, 194 MB' })).toBeTruthy();
    page.close();
  });

  it('one that fails has a card and a way to try again; the others go on', async () => {
    const { runtime, page } = await machine();
    press('Get all, 194 MB');
    await page.pass(0);
    const speak = runtime.downloads.get().jobs.find(({ modelId }) => modelId === starterOf('speak').id);
    await page.change(() =>
      runtime.moveJob(
        { phase: 'failed', received: 6_000_000, error: { code: 'PACKAGE_CLIENT_MISSING', data: { client: 'pip' } }, resumable: false },
        speak?.jobId,
      ),
    );
    expect(within(bundle()).getAllByText(/pip/).length).toBeGreaterThan(0);
    press('Start the download over');
    await page.pass(0);
    expect(runtime.callsOf('models.startDownload').at(-1)).toEqual({ modelId: starterOf('speak').id });
    page.close();
  });

  it('a refusal before the first byte stands under the bundle', async () => {
    const { runtime, page } = await machine((r) =>
      r.failNext('models.startDownload', new AppError('DISK_FULL', { neededBytes: 1_267_804_348, freeBytes: 500_000_000 })),
    );
    press('Get all, 194 MB');
    await page.pass(0);
    expect(text()).toContain('DISK_FULL');
    // What comes after a refusal is not tried behind a person's back.
    expect(runtime.callsOf('models.startDownload')).toHaveLength(1);
    page.close();
  });

  it('too little space is said before a byte', async () => {
    const { page } = await machine((r) => r.setMachine({ disk: { freeBytes: 900_000_000, keptFreeBytes: 1_073_741_824 } }));
    expect(text()).toContain('needs 194 MB and 1.1 GB to spare; only 900 MB are free');
    page.close();
  });

  it('no network and offline: says so, and what can be done', async () => {
    const { runtime, page } = await machine((r) =>
      r.downloads.set({ jobs: [downloadJob({ modelId: starterOf('speak').id, phase: 'waiting', waitingFor: 'network' })] }),
    );
    expect(text()).toContain('This machine has no network now.');
    runtime.setMachine({ offline: true });
    await page.pass(10_000);
    expect(text()).toContain('Sotto was started offline.');
    expect(text()).not.toContain('This machine has no network now.');
    page.close();
  });

  it('type only gets the language model alone', async () => {
    const { runtime, page } = await machine();
    fireEvent.click(screen.getByRole('radio', { name: 'Type only' }));
    await page.pass(0);
    expect(within(bundle()).getAllByRole('listitem')).toHaveLength(1);
    press('Get it, 98 MB');
    await page.pass(0);
    expect(runtime.callsOf('models.startDownload')).toEqual([{ modelId: starterOf('language').id }]);
    expect(runtime.settings.get().typeOnly).toBe(true);
    page.close();
  });

  it('what is here is shown as here, and then Go on is the way', async () => {
    const { page } = await machine((r) => r.setInstalled(allInstalled));
    expect(within(bundle()).getAllByText('Here, and checked')).toHaveLength(4);
    expect(text()).toContain('194 MB, all here');
    expect(screen.queryByRole('button', { name: /^Get/ })).toBeNull();
    expect(screen.getByRole('button', { name: 'Go on' })).toBeTruthy();
    page.close();
  });

  it('a machine or a list that cannot be read has its error and a button', async () => {
    const { runtime, page } = await machine((r) => {
      r.failNext('machine.info', new AppError('INTERNAL', { incident: '7F3A' }));
      r.failNext('models.catalogue', new AppError('STORE_BUSY'));
    });
    expect(text()).toContain('7F3A');
    fireEvent.click(within(bundle()).getByRole('button', { name: 'Try again' }));
    await page.pass(0);
    expect(within(bundle()).getAllByRole('listitem')).toHaveLength(4);
    expect(runtime.callsOf('models.catalogue')).toHaveLength(2);
    page.close();
  });
});
