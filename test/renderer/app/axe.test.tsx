import axe from 'axe-core';
import { describe, expect, it } from 'vitest';
import { AppError } from '../../../src/shared/errors/appError.ts';
import { verifies } from '../../helpers/verifies.ts';
import { createFakeRuntime, downloadJob, noModel } from '../fakeRuntime.ts';
import { spokenTurn } from '../fakeVoice.ts';
import { ask, fireEvent, openChat, openMenu, openPage, screen } from '../page.tsx';

/** Structure and names; colours and sizes need a layout and are looked at in a real browser (window/*.test.ts). */
async function faults(): Promise<string[]> {
  const options = { resultTypes: ['violations' as const] };
  const page = await axe.run(
    // Menus and tooltips lie over all landmarks by nature; they are looked at below by every other rule.
    { include: [document.body], exclude: ['[data-radix-popper-content-wrapper]'] },
    { ...options, rules: { 'color-contrast': { enabled: false } } },
  );
  const layers = [...document.querySelectorAll<HTMLElement>('[data-radix-popper-content-wrapper]')];
  // axe runs one at a time.
  const floating: axe.AxeResults[] = [];
  for (const layer of layers)
    floating.push(await axe.run(layer, { ...options, rules: { 'color-contrast': { enabled: false }, region: { enabled: false } } }));
  return [page, ...floating].flatMap(({ violations }) => violations.flatMap((v) => v.nodes.map((n) => `${v.id}: ${n.html.slice(0, 160)}`)));
}

const markdown =
  '# T\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\n```js\nx\n```\n\n- [ ] todo\n- [x] done\n\n![p](https://e.example/p.png) [l](https://e.example)';

describe('axe finds nothing', () => {
  it('in an empty chat', async () => {
    verifies('UX-126');
    await openPage();
    expect(await faults()).toEqual([]);
  });

  it('in a full chat with an open menu and details', { timeout: 30_000 }, async () => {
    verifies('UX-126');
    const runtime = createFakeRuntime();
    runtime.chat('Full', [['Show all', markdown]]);
    const page = await openPage({ runtime });
    await openChat(page, 'Full');
    expect(await faults()).toEqual([]);
    fireEvent.click(screen.getByRole('button', { name: 'Details' }));
    await page.pass(0);
    expect(await faults()).toEqual([]);
    fireEvent.keyDown(screen.getByRole('dialog'), { key: 'Escape' });
    openMenu(screen.getByRole('button', { name: 'Menu of “Full”' }));
    await page.pass(0);
    expect(await faults()).toEqual([]);
  });

  it('while an answer grows, fails, and is cut off', async () => {
    verifies('UX-126', 'UX-124');
    const page = await openPage();
    const turn = await ask(page, 'Hello');
    await page.change(() => turn.reading(1, 3, 2000));
    expect(await faults()).toEqual([]);
    await page.change(() => turn.say('Hi'));
    expect(await faults()).toEqual([]);
    await page.change(() => turn.fail('OUT_OF_MEMORY', { stage: 'decode' }));
    expect(await faults()).toEqual([]);
  });

  it('without a model, while it comes, in search, trash and settings, when the link is lost', async () => {
    verifies('UX-126');
    const runtime = createFakeRuntime({ language: noModel });
    runtime.trash(runtime.chat('Old', [['a', 'b']]));
    runtime.chat('Boiler', [['a', 'b']]);
    runtime.downloads.set({ jobs: [downloadJob()] });
    const page = await openPage({ runtime });
    expect(await faults()).toEqual([]);
    fireEvent.change(screen.getByRole('searchbox', { name: 'Search chats' }), { target: { value: 'b' } });
    await page.pass(300);
    expect(await faults()).toEqual([]);
    fireEvent.change(screen.getByRole('searchbox', { name: 'Search chats' }), { target: { value: '' } });
    fireEvent.click(screen.getByRole('button', { name: 'Trash, 1' }));
    await page.pass(0);
    expect(await faults()).toEqual([]);
    page.key(',', { ctrlKey: true });
    await page.change(() => {
      runtime.refuseLinks(new AppError('RUNTIME_UNAVAILABLE'));
      runtime.cut();
    });
    await page.pass(2000);
    expect(await faults()).toEqual([]);
  });

  it('in every state of voice, with its devices and its waterfall open', { timeout: 60_000 }, async () => {
    verifies('UX-126');
    const page = await openPage();
    const { voice } = page.runtime;
    const phrases = [{ phrase: 0, from: 0, to: 9, text: 'In May.' }];
    const caption = { utterance: 1, text: 'when was it', stable: 'when', final: false };
    for (const phase of ['standby', 'arming', 'hearing', 'thinking', 'speaking', 'held'] as const) {
      await page.change(() =>
        voice.show({
          phase,
          line: 'line-9',
          soundArrived: true,
          device: 'Headset',
          caption,
          reply: { generation: 1, turnId: null, phrases },
        }),
      );
      expect(await faults(), phase).toEqual([]);
    }
    await page.change(() => voice.show({ phase: 'failed', fault: { code: 'ASR_UNAVAILABLE', data: { reason: 'model-missing' } } }));
    expect(await faults()).toEqual([]);
    await page.change(() => voice.show({ phase: 'standby', muted: true, fault: null, notice: { id: 1, code: 'NOTHING_HEARD', data: {} } }));
    expect(await faults()).toEqual([]);
    fireEvent.click(screen.getByRole('button', { name: 'Microphone: Headset' }));
    await page.pass(300);
    expect(await faults()).toEqual([]);
    fireEvent.keyDown(screen.getByRole('dialog'), { key: 'Escape' });
    await page.change(() => voice.show({ muted: false, latency: spokenTurn('t1') }));
    fireEvent.click(screen.getByRole('button', { name: /to first sound; slowest/ }));
    await page.pass(0);
    expect(await faults()).toEqual([]);
  });

  it('in the narrow window with the drawer open', async () => {
    verifies('UX-126', 'UX-153');
    const runtime = createFakeRuntime();
    runtime.chat('Boiler', [['a', 'b']]);
    await openPage({ runtime, width: 900 });
    expect(await faults()).toEqual([]);
    fireEvent.click(screen.getByRole('button', { name: 'Show the chats' }));
    await screen.findByRole('dialog');
    expect(await faults()).toEqual([]);
  });
});
