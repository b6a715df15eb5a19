import { describe, expect, it } from 'vitest';
import { AppError } from '../../../src/shared/errors/appError.ts';
import { verifies } from '../../helpers/verifies.ts';
import { createFakeRuntime, downloadJob, noModel, ready, starter } from '../fakeRuntime.ts';
import { fireEvent, openPage, screen, within } from '../page.tsx';

async function withoutModel() {
  const runtime = createFakeRuntime({ language: noModel });
  const page = await openPage({ runtime });
  const card = () => screen.getByRole('region', { name: 'No model is on this machine yet.' });
  return { runtime, page, card };
}

describe('getting the first model', () => {
  it('says before a byte what it is, how large, under which licence, and who is asked', async () => {
    verifies('UX-112', 'UX-09', 'UX-10');
    const { runtime, card } = await withoutModel();
    const facts = [...card().querySelectorAll('dd')].map((dd) => dd.textContent);
    expect(facts).toEqual(['Qwen3 1.7B', '1.1 GB', 'Apache-2.0', 'models.example.org']);
    expect(card().textContent).toContain('Getting it asks models.example.org. Nothing of yours is sent.');
    expect(runtime.callsOf('models.startDownload')).toHaveLength(0);
    // Figures for experts stand behind More.
    expect(card().textContent).not.toContain(starter.file.sha256);
    fireEvent.click(within(card()).getByRole('button', { name: 'More' }));
    expect(card().textContent).toContain(starter.file.sha256);
  });

  it('packages are named as what they are', async () => {
    verifies('UX-112');
    const { runtime, page, card } = await withoutModel();
    runtime.setCatalogue([
      {
        ...starter,
        sources: [{ kind: 'package', client: 'npm', parts: [{ name: '@models/qwen', version: '1.0.0', member: 'model.gguf' }] }],
      },
    ]);
    await page.change(() => runtime.cut());
    await page.pass(500);
    expect([...card().querySelectorAll('dd')].at(-1)?.textContent).toBe('npm package @models/qwen');
  });

  it('runs with percent, bytes, speed, time left and host; pause and resume; the strip says the same', async () => {
    verifies('UX-09', 'UX-01', 'UX-155');
    const { runtime, page, card } = await withoutModel();
    fireEvent.click(within(card()).getByRole('button', { name: 'Get 1.1 GB' }));
    await page.pass(0);
    expect(runtime.callsOf('models.startDownload')).toMatchObject([{ modelId: starter.id }]);
    expect(card().textContent).toContain('Preparing: checking space');
    await page.change(() => runtime.downloads.set({ jobs: [downloadJob()] }));
    expect(screen.getByTestId('job').textContent).toContain('476 MB of 1.1 GB · 31 MB/s · about 20 s left · from models.example.org');
    expect(within(card()).getByRole('progressbar').getAttribute('aria-valuenow')).toBe('42');
    expect(screen.getByRole('contentinfo').textContent).toContain('42 % · 31 MB/s · about 20 s left');
    await page.change(() => runtime.downloads.set({ jobs: [downloadJob({ bytesPerSec: 0, etaMs: null })] }));
    // No data is 0 B/s, and no time is guessed from it.
    expect(screen.getByTestId('job').textContent).toContain('0 B/s · time left: ?');
    fireEvent.click(within(card()).getByRole('button', { name: 'Pause' }));
    await page.pass(0);
    expect(screen.getByTestId('job').textContent).toContain('Paused');
    fireEvent.click(within(card()).getByRole('button', { name: 'Resume' }));
    await page.pass(0);
    expect(runtime.callsOf('models.resumeDownload')).toHaveLength(1);
  });

  it('checked and complete are two things: 100 % of the bytes is not yet "here"', async () => {
    verifies('UX-01', 'UX-09');
    const { runtime, page, card } = await withoutModel();
    await page.change(() =>
      runtime.downloads.set({ jobs: [downloadJob({ phase: 'verifying', received: starter.file.bytes, bytesPerSec: 0, etaMs: null })] }),
    );
    expect(screen.getByTestId('job').textContent).toContain('Checking the file');
    expect(card().textContent).not.toContain('was checked');
    await page.change(() => runtime.language.set(ready));
    expect(screen.queryByRole('region', { name: 'No model is on this machine yet.' })).toBeNull();
    expect(screen.getByRole('contentinfo').textContent).toContain('Qwen3 1.7B · ready');
  });

  it('cancelling throws bytes away, so it asks, and its button names the deed', async () => {
    verifies('UX-08', 'UX-110');
    const { runtime, page, card } = await withoutModel();
    await page.change(() => runtime.downloads.set({ jobs: [downloadJob()] }));
    fireEvent.click(within(card()).getByRole('button', { name: 'Cancel' }));
    const dialog = await screen.findByRole('dialog');
    expect(runtime.callsOf('models.cancelDownload')).toHaveLength(0);
    fireEvent.click(within(dialog).getByRole('button', { name: 'Cancel and delete 476 MB' }));
    await page.pass(0);
    expect(runtime.callsOf('models.cancelDownload')).toHaveLength(1);
    expect(card().textContent).toContain('Cancelled. Nothing is left on the disk.');
    expect(within(card()).getByRole('button', { name: 'Get 1.1 GB' })).toBeTruthy();
  });

  it('a full disk says how much is missing and goes on where it was', async () => {
    verifies('UX-06', 'UX-109');
    const { runtime, page, card } = await withoutModel();
    const error = { code: 'DISK_FULL', data: { neededBytes: 3_100_000_000, freeBytes: 412_000_000 } };
    await page.change(() => runtime.downloads.set({ jobs: [downloadJob({ phase: 'failed', bytesPerSec: 0, etaMs: null, error })] }));
    expect(card().textContent).toContain('Stopped at 42 %');
    expect(card().textContent).toContain('The disk is full: 3.1 GB are needed, 412 MB are free.');
    fireEvent.click(within(card()).getByRole('button', { name: 'Go on with the download' }));
    await page.pass(0);
    expect(runtime.callsOf('models.resumeDownload')).toHaveLength(1);
  });

  it('a wrong file was not kept: the cure starts over', async () => {
    verifies('UX-06');
    const { runtime, page, card } = await withoutModel();
    const error = { code: 'DOWNLOAD_HASH_MISMATCH', data: { file: 'm.gguf', expected: 'a', actual: 'b' } };
    await page.change(() =>
      runtime.downloads.set({
        jobs: [downloadJob({ phase: 'failed', received: 0, bytesPerSec: 0, etaMs: null, error, resumable: false })],
      }),
    );
    fireEvent.click(within(card()).getByRole('button', { name: 'Start the download over' }));
    await page.pass(0);
    expect(runtime.callsOf('models.startDownload')).toHaveLength(1);
  });

  it('a start that is refused says why', async () => {
    verifies('UX-06');
    const { runtime, page, card } = await withoutModel();
    runtime.failNext('models.startDownload', new AppError('OFFLINE'));
    fireEvent.click(within(card()).getByRole('button', { name: 'Get 1.1 GB' }));
    await page.pass(0);
    expect(card().textContent).toContain('Sotto is switched to offline.');
    expect(within(card()).getByRole('button', { name: 'Try again' })).toBeTruthy();
  });

  it('a lost network waits by itself and says so', async () => {
    verifies('UX-01');
    const { runtime, page } = await withoutModel();
    await page.change(() =>
      runtime.downloads.set({ jobs: [downloadJob({ phase: 'waiting', waitingFor: 'network', bytesPerSec: 0, etaMs: null })] }),
    );
    expect(screen.getByTestId('job').textContent).toContain('Waiting for the network. It goes on by itself.');
  });

  it('a model that was switched off after crashes can be tried again from the failed answer', async () => {
    verifies('UX-06', 'UX-101');
    const runtime = createFakeRuntime();
    const id = runtime.chat('Crashes', []);
    runtime.ask(id, 'Hello').fail('MODEL_DISABLED', { crashes: 3 });
    const page = await openPage({ runtime });
    fireEvent.click(screen.getByRole('button', { name: 'Crashes' }));
    await page.pass(0);
    await page.pass(0);
    expect(screen.getByText('The model was switched off after it stopped 3 times.')).toBeTruthy();
    fireEvent.click(screen.getByRole('button', { name: 'Try the model again' }));
    await page.pass(0);
    expect(runtime.callsOf('models.enableLanguage')).toMatchObject([{ modelId: starter.id }]);
    expect(runtime.callsOf('turns.retry')).toHaveLength(1);
  });
});
