import { describe, expect, it } from 'vitest';
import { listItems, mergeSessions } from '../../../src/renderer/features/chat/listItems.ts';
import type { SessionId } from '../../../src/shared/domain/ids.ts';
import { AppError } from '../../../src/shared/errors/appError.ts';
import { verifies } from '../../helpers/verifies.ts';
import { createFakeRuntime } from '../fakeRuntime.ts';
import { act, fireEvent, openChat, openMenu, openPage, screen, within } from '../page.tsx';

const titles = () =>
  within(screen.getByRole('list', { name: 'Chats' }))
    .getAllByRole('listitem')
    .map((item) => item.textContent);

function three() {
  const runtime = createFakeRuntime();
  runtime.chat('Oldest', [], '2026-04-20T08:00:00.000Z');
  runtime.chat('Middle', [], '2026-05-02T08:00:00.000Z');
  runtime.chat('Newest', [], '2026-05-03T08:00:00.000Z');
  return runtime;
}

describe('the list of chats', () => {
  it('empty is one plain line that says what to do', async () => {
    verifies('UX-100', 'UX-279');
    await openPage();
    const region = screen.getByRole('region', { name: 'Chats' });
    expect(within(region).getByText('No chats yet. Ask something.')).toBeTruthy();
    expect(region.querySelectorAll('img, picture, svg:not(.lucide)')).toHaveLength(0);
  });

  it('stands by day, newest first', async () => {
    verifies('UX-100');
    await openPage({ runtime: three() });
    expect(titles()).toEqual(['Today', 'Newest', 'Yesterday', 'Middle', '20 April', 'Oldest']);
    expect(screen.getByText('3 chats')).toBeTruthy();
  });

  it('while it is read, still rows come only after 200 ms, and the frame is there at once', async () => {
    verifies('UX-100', 'UX-154');
    const runtime = three();
    const release = runtime.hold('sessions.watchList');
    const page = await openPage({ runtime });
    expect(screen.getByRole('searchbox', { name: 'Search chats' })).toBeTruthy();
    const rows = screen.getByRole('status', { name: 'Chats' });
    expect(rows.children).toHaveLength(0);
    await page.pass(250);
    expect(rows.children.length).toBeGreaterThan(0);
    await act(async () => release());
    await page.pass(0);
    expect(titles()).toContain('Newest');
  });

  it('a list that cannot be read says so with its cure', async () => {
    verifies('UX-100', 'UX-06');
    const runtime = three();
    runtime.failNext('sessions.watchList', new AppError('STORE_IO'));
    const page = await openPage({ runtime });
    await page.pass(0);
    expect(screen.getByText('The disk reported a fault.')).toBeTruthy();
    // It asks again by itself.
    await page.pass(600);
    expect(titles()).toContain('Newest');
  });

  it('ten thousand chats are drawn in part and all of them can be reached', async () => {
    verifies('UX-100', 'UX-11');
    const sessions = Array.from({ length: 10_000 }, (_, i) => ({
      updatedAt: new Date(Date.UTC(2026, 4, 3) - i * 60_000).toISOString(),
      id: `s${i}`,
    }));
    const items = listItems(sessions as never, Date.UTC(2026, 4, 3, 12));
    expect(items.filter((item) => item.kind === 'chat')).toHaveLength(10_000);
    const runtime = createFakeRuntime();
    for (let i = 0; i < 250; i++) runtime.chat(`Chat ${i}`, [], new Date(Date.UTC(2026, 4, 3, 9) - i * 60_000).toISOString());
    const page = await openPage({ runtime });
    const list = screen.getByRole('list', { name: 'Chats' });
    expect(within(list).getAllByRole('listitem').length).toBeLessThan(100);
    expect(screen.getByText('250 chats')).toBeTruthy();
    // The live list holds the newest 200; the rest comes by page.
    fireEvent.click(screen.getByRole('button', { name: 'Show older chats' }));
    await page.pass(0);
    expect(screen.queryByRole('button', { name: 'Show older chats' })).toBeNull();
    expect(within(list).getAllByRole('listitem')[0]?.getAttribute('aria-setsize')).toBe('251');
  });

  it('older pages never show a chat twice or bring back one from the trash', () => {
    verifies('UX-100');
    const session = (id: string, trashedAt: string | null = null) => ({ id: id as SessionId, trashedAt }) as never;
    const merged = mergeSessions([session('a'), session('b')], [session('b'), session('c', '2026-05-03T08:00:00.000Z'), session('d')]);
    expect(merged.map((s) => s.id)).toEqual(['a', 'b', 'd']);
  });

  it('a long title ends in … and shows whole on focus', async () => {
    verifies('UX-100');
    const runtime = createFakeRuntime();
    const title = 'A title that is much longer than the list is wide, so that its end is cut';
    runtime.chat(title, []);
    const page = await openPage({ runtime });
    const row = screen.getByRole('button', { name: title });
    expect(row.className).toContain('truncate');
    await act(async () => row.focus());
    await page.pass(0);
    expect((await screen.findByRole('tooltip')).textContent).toBe(title);
  });

  it('is one tab stop; arrows, Home and End move, Enter opens', async () => {
    verifies('UX-98');
    const page = await openPage({ runtime: three() });
    const row = (name: string) => screen.getByRole('button', { name });
    const stops = ['Newest', 'Middle', 'Oldest'].filter((name) => row(name).tabIndex === 0);
    expect(stops).toEqual(['Newest']);
    row('Newest').focus();
    page.key('ArrowDown');
    expect(document.activeElement).toBe(row('Middle'));
    page.key('End');
    expect(document.activeElement).toBe(row('Oldest'));
    page.key('Home');
    expect(document.activeElement).toBe(row('Newest'));
  });

  it('a chat that cannot be moved to the trash from its header stays, and the fault is said', async () => {
    verifies('UX-06');
    const page = await openPage({ runtime: three() });
    await openChat(page, 'Middle');
    page.runtime.failNext('sessions.trash', new AppError('STORE_FULL', { freeBytes: 0 }));
    openMenu(screen.getByRole('button', { name: 'Menu of this chat' }));
    fireEvent.click(await screen.findByRole('menuitem', { name: /Move to trash/ }));
    expect(await screen.findByText('Code STORE_FULL')).toBeTruthy();
    expect(screen.getByRole('heading', { level: 1, name: 'Middle' })).toBeTruthy();
  });

  it('F2 renames in place: Enter keeps the new title, Esc the old one', async () => {
    verifies('UX-280');
    const runtime = three();
    const page = await openPage({ runtime });
    screen.getByRole('button', { name: 'Middle' }).focus();
    page.key('F2');
    const field = await screen.findByRole<HTMLInputElement>('textbox', { name: 'New title' });
    fireEvent.change(field, { target: { value: 'Wrong' } });
    fireEvent.keyDown(field, { key: 'Escape' });
    expect(runtime.callsOf('sessions.setTitle')).toHaveLength(0);
    screen.getByRole('button', { name: 'Middle' }).focus();
    page.key('F2');
    const again = await screen.findByRole<HTMLInputElement>('textbox', { name: 'New title' });
    fireEvent.change(again, { target: { value: '  Better ' } });
    fireEvent.submit(again);
    await page.pass(0);
    expect(runtime.callsOf('sessions.setTitle')).toMatchObject([{ title: 'Better' }]);
    expect(screen.getByRole('button', { name: 'Better' })).toBeTruthy();
  });

  it('moving to the trash asks nothing and offers Undo in its place', async () => {
    verifies('UX-08', 'UX-280');
    const runtime = three();
    const page = await openPage({ runtime });
    screen.getByRole('button', { name: 'Middle' }).focus();
    page.key('Delete');
    await page.pass(0);
    expect(screen.queryByRole('dialog')).toBeNull();
    expect(screen.queryByRole('button', { name: 'Middle' })).toBeNull();
    expect(screen.getByText('“Middle” is in the trash.')).toBeTruthy();
    // It does not vanish by itself.
    await page.pass(600_000);
    fireEvent.click(screen.getByRole('button', { name: 'Undo' }));
    await page.pass(0);
    expect(screen.getByRole('button', { name: 'Middle' })).toBeTruthy();
    expect(screen.queryByText('“Middle” is in the trash.')).toBeNull();
  });

  it('every row has a menu with what its keys do', async () => {
    verifies('UX-98', 'UX-110');
    const page = await openPage({ runtime: three() });
    openMenu(screen.getByRole('button', { name: 'Menu of “Middle”' }));
    await page.pass(0);
    expect(
      within(await screen.findByRole('menu'))
        .getAllByRole('menuitem')
        .map((i) => i.textContent),
    ).toEqual(['RenameF2', 'Move to trashDel']);
  });
});

describe('search', () => {
  it('finds titles and messages, marks the words, and opens the chat at the message', async () => {
    verifies('UX-100');
    const runtime = createFakeRuntime();
    runtime.chat('Boiler service', [
      ['When was it?', 'In May.'],
      ['Who came?', 'Köhler came with the boiler man.'],
    ]);
    const page = await openPage({ runtime });
    fireEvent.change(screen.getByRole('searchbox', { name: 'Search chats' }), { target: { value: 'boiler' } });
    await page.pass(250);
    expect(screen.getByText('2 hits')).toBeTruthy();
    expect([...document.querySelectorAll('mark')].map((m) => m.textContent)).toEqual(['Boiler', 'boiler']);
    fireEvent.click(screen.getByRole('button', { name: /Köhler came/ }));
    await page.pass(0);
    await page.pass(0);
    expect(document.activeElement?.textContent).toContain('Köhler came with the boiler man.');
  });

  it('asks a moment after the last key, once', async () => {
    verifies('UX-100');
    const runtime = three();
    const page = await openPage({ runtime });
    const box = screen.getByRole('searchbox', { name: 'Search chats' });
    for (const value of ['n', 'ne', 'new']) {
      fireEvent.change(box, { target: { value } });
      await page.pass(100);
    }
    await page.pass(200);
    expect(runtime.callsOf('sessions.search')).toMatchObject([{ query: 'new' }]);
  });

  it('finding nothing is said plainly, and Esc gives the list back', async () => {
    verifies('UX-279', 'UX-100');
    const page = await openPage({ runtime: three() });
    const box = screen.getByRole('searchbox', { name: 'Search chats' });
    fireEvent.change(box, { target: { value: 'zeppelin' } });
    await page.pass(250);
    expect(screen.getByText('Nothing found for “zeppelin”.')).toBeTruthy();
    fireEvent.keyDown(box, { key: 'Escape' });
    expect(titles()).toContain('Newest');
  });

  it('a search that takes too long says what to do', async () => {
    verifies('UX-06');
    const runtime = three();
    const page = await openPage({ runtime });
    runtime.failNext('sessions.search', new AppError('SEARCH_TIMEOUT'));
    fireEvent.change(screen.getByRole('searchbox', { name: 'Search chats' }), { target: { value: 'a' } });
    await page.pass(250);
    expect(screen.getByText('The search took too long.')).toBeTruthy();
    expect(screen.getByText('Use a longer or rarer word, then search again.')).toBeTruthy();
  });
});

describe('the trash', () => {
  it('gives back at a press; erasing asks first, because it is final', async () => {
    verifies('UX-08', 'UX-110');
    const runtime = three();
    for (const s of [...runtime.stored.values()]) if (s.session.title !== 'Newest') runtime.trash(s.session.id);
    const page = await openPage({ runtime });
    fireEvent.click(screen.getByRole('button', { name: 'Trash, 2' }));
    await page.pass(0);
    fireEvent.click(screen.getByRole('button', { name: 'Restore “Middle”' }));
    await page.pass(0);
    expect(screen.queryByText('Middle')).toBeNull();
    fireEvent.click(screen.getByRole('button', { name: 'Erase “Oldest”' }));
    const dialog = await screen.findByRole('dialog', { name: 'Erase this chat for good?' });
    expect(dialog.textContent).toContain('This cannot be undone.');
    expect(
      within(dialog)
        .getAllByRole('button')
        .map((b) => b.textContent),
    ).toEqual(['Keep it', 'Erase for good']);
    fireEvent.click(within(dialog).getByRole('button', { name: 'Keep it' }));
    await page.pass(0);
    expect(runtime.callsOf('sessions.erase')).toHaveLength(0);
    fireEvent.click(screen.getByRole('button', { name: 'Erase “Oldest”' }));
    fireEvent.click(within(await screen.findByRole('dialog')).getByRole('button', { name: 'Erase for good' }));
    await page.pass(0);
    expect(runtime.callsOf('sessions.erase')).toMatchObject([{ confirm: true }]);
    expect(screen.getByText('The trash is empty.')).toBeTruthy();
    fireEvent.click(screen.getByRole('button', { name: 'Back to the chats' }));
    expect(titles()).toEqual(['Today', 'Newest', 'Yesterday', 'Middle']);
  });
});

describe('a walk whose cursor went stale', () => {
  it('starts again from the newest page, and nothing is shown twice or as a fault', { timeout: 60_000 }, async () => {
    verifies('UX-01');
    const runtime = createFakeRuntime();
    runtime.chat(
      'Long',
      Array.from({ length: 60 }, (_, i) => [`Question ${i}`, `Answer ${i}`] as const),
    );
    const page = await openPage({ runtime });
    await openChat(page, 'Long');
    runtime.failNext('turns.history', new AppError('CURSOR_EXPIRED'));
    fireEvent.click(screen.getByRole('button', { name: 'Show earlier messages' }));
    await page.pass(0);
    await page.pass(500);
    expect(screen.getAllByText('Answer 59')).toHaveLength(1);
    fireEvent.click(screen.getByRole('button', { name: 'Show earlier messages' }));
    await page.pass(0);
    expect(screen.queryByRole('button', { name: 'Show earlier messages' })).toBeNull();
    expect(screen.queryByText('The place in this list is no longer valid.')).toBeNull();
  });
});

describe('a long thread', () => {
  it('reads earlier messages on demand and draws only a part of more than a hundred', { timeout: 60_000 }, async () => {
    verifies('UX-11', 'UX-100');
    const runtime = createFakeRuntime();
    runtime.chat(
      'Long',
      Array.from({ length: 130 }, (_, i) => [`Question ${i}`, `Answer ${i}`] as const),
    );
    const page = await openPage({ runtime });
    await openChat(page, 'Long');
    expect(screen.getByText('Answer 129')).toBeTruthy();
    expect(screen.queryByText('Answer 10')).toBeNull();
    fireEvent.click(screen.getByRole('button', { name: 'Show earlier messages' }));
    await page.pass(0);
    fireEvent.click(screen.getByRole('button', { name: 'Show earlier messages' }));
    await page.pass(0);
    expect(screen.queryByRole('button', { name: 'Show earlier messages' })).toBeNull();
    // All 260 messages are held, far fewer are drawn.
    expect(screen.getAllByRole('article').length).toBeLessThan(130);
  });
});
