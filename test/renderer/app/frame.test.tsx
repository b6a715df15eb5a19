import { describe, expect, it } from 'vitest';
import { places } from '../../../src/renderer/app/places.ts';
import type { Transport } from '../../../src/renderer/lib/transport.ts';
import { AppError } from '../../../src/shared/errors/appError.ts';
import { verifies } from '../../helpers/verifies.ts';
import { createFakeRuntime, downloadJob, noModel, ready } from '../fakeRuntime.ts';
import { ask, fireEvent, openChat, openPage, screen, within } from '../page.tsx';

describe('places', () => {
  it('only those that are built are there, in the order of the map, with their keys', async () => {
    verifies('UX-12');
    const page = await openPage();
    const rail = screen.getByRole('navigation', { name: 'Places' });
    expect(
      within(rail)
        .getAllByRole('button')
        .map((b) => b.textContent),
    ).toEqual(['Chat', 'Models', 'Settings']);
    expect(places.map((p) => p.key)).toEqual(['1', '5', ',']);
    expect(document.body.textContent).not.toMatch(/\b(soon|coming|later|not built)\b/i);
    page.key(',', { ctrlKey: true });
    expect(screen.getByRole('heading', { level: 1 }).textContent).toBe('Settings');
    page.key('1', { ctrlKey: true });
    expect(screen.getByRole('heading', { level: 1 }).textContent).toBe('New chat');
    // Every button does something: none of them is dead.
    for (const button of within(rail).getAllByRole('button')) {
      fireEvent.click(button);
      expect(button.getAttribute('aria-current')).toBe('page');
    }
  });

  it('share one frame: one heading, one filled button at most, the frame stays while content loads', async () => {
    verifies('UX-154', 'UX-274');
    const runtime = createFakeRuntime({ language: noModel });
    const page = await openPage({ runtime });
    const filled = () => [...document.querySelectorAll<HTMLButtonElement>('button.bg-accent')].filter((b) => !b.disabled);
    expect(filled().map((b) => b.textContent)).toEqual(['Get 1.1 GB']);
    expect(screen.getAllByRole('heading', { level: 1 })).toHaveLength(1);
    await page.change(() => runtime.language.set(ready));
    page.type('Hello');
    expect(filled().map((b) => b.textContent)).toEqual(['Send']);
    page.key(',', { ctrlKey: true });
    expect(screen.getAllByRole('heading', { level: 1 })).toHaveLength(1);
    expect(filled()).toEqual([]);
    expect(screen.getByRole('navigation', { name: 'Places' })).toBeTruthy();
    expect(screen.getByRole('contentinfo')).toBeTruthy();
  });

  it('the rail shows no red dots for news and no counts', async () => {
    verifies('UX-155');
    const runtime = createFakeRuntime();
    runtime.chat('One', [['a', 'b']]);
    await openPage({ runtime });
    const rail = screen.getByRole('navigation', { name: 'Places' });
    expect(rail.textContent).not.toMatch(/\d/);
    expect(rail.querySelectorAll('[class*="danger"], [class*="badge"]')).toHaveLength(0);
  });

  it('going away and back keeps the chat and what was typed', async () => {
    verifies('UX-155', 'UX-02');
    const runtime = createFakeRuntime();
    runtime.chat('Boiler service', [['When?', 'In May.']]);
    const page = await openPage({ runtime });
    await openChat(page, 'Boiler service');
    page.type('half a thought');
    page.key(',', { ctrlKey: true });
    await page.pass(0);
    page.key('1', { ctrlKey: true });
    await page.pass(0);
    await page.pass(0);
    expect(screen.getByRole('heading', { level: 1 }).textContent).toBe('Boiler service');
    expect(page.field().value).toBe('half a thought');
  });
});

describe('sizes', () => {
  it('wide: rail with words and the list beside the thread', async () => {
    verifies('UX-153', 'UX-158');
    await openPage({ width: 1280 });
    expect(screen.getByRole('navigation', { name: 'Places' }).className).toContain('w-rail');
    expect(screen.getByRole('region', { name: 'Chats' }).className).toContain('w-list');
    expect(screen.queryByRole('button', { name: 'Show the chats' })).toBeNull();
  });

  it('900 wide: icons with names, the list is a drawer that a chosen chat closes', async () => {
    verifies('UX-153', 'UX-158', 'UX-278');
    const runtime = createFakeRuntime();
    runtime.chat('Boiler service', [['When?', 'In May.']]);
    const page = await openPage({ runtime, width: 900 });
    const rail = screen.getByRole('navigation', { name: 'Places' });
    expect(rail.className).toContain('w-rail-narrow');
    expect(
      within(rail)
        .getAllByRole('button')
        .map((b) => b.getAttribute('aria-label')),
    ).toEqual(['Chat', 'Models', 'Settings']);
    expect(screen.queryByRole('button', { name: 'Boiler service' })).toBeNull();
    fireEvent.click(screen.getByRole('button', { name: 'Show the chats' }));
    const drawer = await screen.findByRole('dialog', { name: 'Chats' });
    fireEvent.click(within(drawer).getByRole('button', { name: 'Boiler service' }));
    await page.pass(0);
    expect(screen.queryByRole('dialog')).toBeNull();
    expect(screen.getByRole('heading', { level: 1 }).textContent).toBe('Boiler service');
  });

  it('under 700: one column, the places above it', async () => {
    verifies('UX-153');
    const page = await openPage({ width: 1280 });
    page.resize(640);
    const rail = screen.getByRole('navigation', { name: 'Places' });
    expect(rail.className).not.toMatch(/w-rail/);
    expect(rail.parentElement?.className).toContain('flex-col');
    expect(screen.getByRole('textbox', { name: 'Message' })).toBeTruthy();
  });

  it('own messages stand at the right on sunken ground, answers on the page, without pictures of heads', async () => {
    verifies('UX-158');
    const page = await openPage();
    const turn = await ask(page, 'Hello');
    await page.change(() => {
      turn.say('Hi.');
      turn.complete();
    });
    const [mine, answer] = screen.getAllByRole('article');
    expect(mine?.className).toMatch(/ml-auto.*bg-sunken/);
    expect(answer?.className).not.toMatch(/bg-/);
    expect(document.querySelectorAll('img, [class*="avatar"]')).toHaveLength(0);
  });
});

describe('the strip', () => {
  it('says what is true of the model and nothing that is not', async () => {
    verifies('UX-01');
    const page = await openPage();
    const strip = screen.getByRole('contentinfo');
    expect(strip.textContent).toBe('Qwen3 1.7B · readyhere');
    await page.change(() => page.runtime.language.set({ ...ready, state: 'loading', fraction: 0.4 }));
    expect(strip.textContent).toBe('Qwen3 1.7B · loading 40 %here');
    await page.change(() => page.runtime.language.set({ ...ready, state: 'loading', fraction: null }));
    expect(strip.textContent).toBe('Qwen3 1.7B · loadinghere');
    await page.change(() => page.runtime.language.set({ ...ready, state: 'idle' }));
    expect(strip.textContent).toBe('Qwen3 1.7B · not loadedhere');
    await page.change(() => page.runtime.language.set(noModel));
    expect(strip.textContent).toBe('no model');
    await page.change(() => page.runtime.health.set({ ...page.runtime.health.get(), store: { state: 'read-only', code: 'STORE_IO' } }));
    expect(strip.textContent).toContain('read only: nothing can be saved');
  });

  it('shows a download only while it moves or waits', async () => {
    verifies('UX-01', 'UX-155');
    const page = await openPage();
    const strip = screen.getByRole('contentinfo');
    await page.change(() => page.runtime.downloads.set({ jobs: [downloadJob()] }));
    expect(strip.textContent).toContain('42 % · 31 MB/s · about 20 s left');
    await page.change(() => page.runtime.downloads.set({ jobs: [downloadJob({ phase: 'installed' })] }));
    expect(strip.textContent).not.toContain('%');
  });
});

describe('a lost connection', () => {
  it('a short one is not worth a word; a long one is said, announced, and taken back when it is over', async () => {
    verifies('UX-01', 'UX-280');
    const page = await openPage();
    await page.change(() => {
      page.runtime.refuseLinks(new AppError('RUNTIME_UNAVAILABLE'));
      page.runtime.cut();
    });
    // "ready" is no longer known to be so.
    expect(screen.getByRole('contentinfo').textContent).toBe('Connection lost, trying again');
    await page.pass(500);
    expect(screen.queryByText('The connection to Sotto is lost.')).toBeNull();
    await page.pass(1000);
    expect(screen.getByRole('region', { name: 'The connection to Sotto is lost.' })).toBeTruthy();
    expect(page.announced()).toBe('The connection to Sotto is lost. Trying again.');
    page.runtime.refuseLinks(null);
    fireEvent.click(screen.getByRole('button', { name: 'Try again now' }));
    await page.pass(0);
    await page.pass(600);
    expect(screen.queryByRole('region', { name: 'The connection to Sotto is lost.' })).toBeNull();
    expect(page.announced()).toBe('The connection is back.');
    expect(screen.getByRole('contentinfo').textContent).toContain('ready');
  });

  it('a page that was signed out says so and leads to the sign-in', async () => {
    verifies('UX-283', 'UX-01');
    const page = await openPage();
    page.type('keep me');
    await page.change(() => page.runtime.cut({ signedOut: true }));
    expect(screen.getByText('This page is signed out.')).toBeTruthy();
    expect(screen.getByRole('button', { name: 'Sign in' })).toBeTruthy();
    expect(page.field().value).toBe('keep me');
  });
});

describe('a runtime that does not start', () => {
  async function failed(error: AppError) {
    const runtime = createFakeRuntime();
    runtime.refuseLinks(error);
    const transport: Transport = { ...runtime.transport, kind: 'app' };
    const page = await openPage({ runtime, transport });
    return { runtime, page };
  }

  it('another program on the folder: says so, and starts when it is gone', async () => {
    verifies('UX-06', 'UX-01');
    const { runtime, page } = await failed(new AppError('DATA_DIR_IN_USE'));
    const card = screen.getByRole('alert');
    expect(card.textContent).toContain('Another Sotto already uses this data folder.');
    expect(screen.queryByRole('textbox', { name: 'Message' })).toBeNull();
    runtime.refuseLinks(null);
    fireEvent.click(within(card).getByRole('button', { name: 'Start again' }));
    await page.pass(0);
    await page.pass(0);
    expect(screen.getByRole('textbox', { name: 'Message' })).toBeTruthy();
  });

  it('a newer database: both versions are named and nothing was touched', async () => {
    verifies('UX-06');
    await failed(new AppError('DB_FROM_FUTURE', { found: 9, known: 3 }));
    const card = screen.getByRole('alert');
    expect(card.textContent).toContain('format 9; this one knows 3');
    expect(card.textContent).toContain('Nothing was touched.');
  });

  it('a damaged database: the time of the backup and a button to get it back', async () => {
    verifies('UX-06', 'UX-100');
    const { runtime, page } = await failed(
      new AppError('DB_DAMAGED', { movedTo: 'sotto.db.damaged-1', backupAt: '2026-05-03T09:12:00.000Z' }),
    );
    const card = screen.getByRole('alert');
    expect(card.textContent).toContain('put aside as sotto.db.damaged-1, not deleted');
    expect(card.textContent).toContain('Chats cannot be read: the file is damaged.');
    expect(card.textContent).toMatch(/Newest backup: 3 May 2026/);
    expect(within(card).getByRole('button', { name: 'Start with no chats' })).toBeTruthy();
    runtime.refuseLinks(null);
    fireEvent.click(within(card).getByRole('button', { name: 'Restore' }));
    await page.pass(0);
    await page.pass(0);
    // The choice counts for this one start.
    expect(runtime.choices.at(-1)).toBe('restore');
    expect(screen.getByRole('textbox', { name: 'Message' })).toBeTruthy();
    await page.change(() => runtime.cut());
    await page.pass(500);
    expect(runtime.choices.at(-1)).toBeUndefined();
  });

  it('a damaged database without a backup offers no Restore that could not be kept', async () => {
    verifies('UX-01', 'UX-06');
    const { runtime, page } = await failed(new AppError('DB_DAMAGED', { movedTo: 'x', backupAt: null }));
    const card = screen.getByRole('alert');
    expect(within(card).queryByRole('button', { name: 'Restore' })).toBeNull();
    fireEvent.click(within(card).getByRole('button', { name: 'Start with no chats' }));
    await page.pass(0);
    expect(runtime.choices.at(-1)).toBe('empty');
  });
});

describe('keys', () => {
  it('F6 goes round the regions, Ctrl Shift F to the search, Ctrl N to a new chat, Ctrl B hides the list', async () => {
    verifies('UX-12');
    const runtime = createFakeRuntime();
    runtime.chat('Boiler service', [['When?', 'In May.']]);
    const page = await openPage({ runtime });
    await openChat(page, 'Boiler service');
    const region = () => document.activeElement?.closest('[data-region]')?.getAttribute('data-region');
    const seen = [];
    for (let i = 0; i < 5; i++) {
      page.key('F6');
      seen.push(region());
    }
    expect(new Set(seen)).toEqual(new Set(['rail', 'list', 'thread', 'composer', 'strip']));
    page.key('F6', { shiftKey: true });
    expect(region()).toBe(seen[3]);
    page.key('b', { ctrlKey: true });
    expect(screen.queryByRole('region', { name: 'Chats' })).toBeNull();
    page.key('F', { ctrlKey: true, shiftKey: true });
    expect(screen.getByRole('region', { name: 'Chats' })).toBeTruthy();
    await new Promise((resolve) => requestAnimationFrame(resolve));
    expect(document.activeElement).toBe(screen.getByRole('searchbox', { name: 'Search chats' }));
    page.key('n', { ctrlKey: true });
    await page.pass(0);
    expect(screen.getByRole('heading', { level: 1 }).textContent).toBe('New chat');
  });

  it('the first tab stop leads past everything to the message field', async () => {
    verifies('UX-126');
    const page = await openPage();
    const skip = screen.getByRole('link', { name: 'Skip to the message field' });
    expect(document.querySelector('a, button, input, textarea')).toBe(skip);
    fireEvent.click(skip);
    expect(document.activeElement).toBe(page.field());
  });
});
