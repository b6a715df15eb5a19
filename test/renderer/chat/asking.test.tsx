import { describe, expect, it } from 'vitest';
import { limits } from '../../../src/shared/domain/limits.ts';
import { AppError } from '../../../src/shared/errors/appError.ts';
import { verifies } from '../../helpers/verifies.ts';
import { createFakeRuntime, noModel, usage } from '../fakeRuntime.ts';
import { act, ask, fireEvent, openChat, openPage, screen, within } from '../page.tsx';

describe('asking', () => {
  it('a message leaves the field only when the runtime has stored it', async () => {
    verifies('UX-02', 'UX-01');
    const page = await openPage();
    const release = page.runtime.hold('turns.send');
    page.type('Hello there');
    page.key('Enter', {}, page.field());
    await page.pass(0);
    expect(page.field().value).toBe('Hello there');
    expect(screen.getByTestId('composer-note').textContent).toBe('Storing your message');
    expect(screen.queryByRole('article')).toBeNull();
    await act(async () => release());
    await page.pass(500);
    expect(page.field().value).toBe('');
    expect((await screen.findAllByText('Hello there')).length).toBeGreaterThan(0);
  });

  it('a draft is stored as it is typed, and every chat has its own', async () => {
    verifies('UX-02', 'UX-25');
    const runtime = createFakeRuntime();
    const id = runtime.chat('Boiler service', [['When?', 'In May.']]);
    const page = await openPage({ runtime });
    page.type('for the new chat');
    await page.pass(500);
    expect(runtime.draftOf(null)).toBe('for the new chat');
    await openChat(page, 'Boiler service');
    expect(page.field().value).toBe('');
    page.type('for the boiler');
    // Leaving the chat at once stores what the timer had not yet stored.
    fireEvent.click(screen.getByRole('button', { name: 'New chat' }));
    await page.pass(0);
    expect(runtime.draftOf(id)).toBe('for the boiler');
    expect(page.field().value).toBe('for the new chat');
  });

  it('typing never waits longer than half a second to be stored', async () => {
    verifies('UX-02');
    const page = await openPage();
    // Someone who types on and on: the timer counts from the first key, not from the last.
    for (let i = 1; i <= 5; i++) {
      page.type('x'.repeat(i));
      await page.pass(100);
    }
    expect(page.runtime.draftOf(null).length).toBeGreaterThanOrEqual(4);
  });

  it('a draft that cannot be stored says so and is tried again', async () => {
    verifies('UX-01', 'UX-02');
    const page = await openPage();
    page.runtime.failNext('sessions.setDraft', new AppError('STORE_FULL', { freeBytes: 0 }));
    page.type('precious');
    await page.pass(450);
    expect(screen.getByTestId('composer-note').textContent).toBe('Draft not kept yet. Trying again.');
    await page.pass(2100);
    expect(page.runtime.draftOf(null)).toBe('precious');
    expect(screen.getByTestId('composer-note').textContent).not.toContain('not kept');
  });

  it('a window that opens again shows the draft', async () => {
    verifies('UX-02');
    const runtime = createFakeRuntime();
    runtime.setDraft(null, 'half a thought');
    const page = await openPage({ runtime });
    expect(page.field().value).toBe('half a thought');
  });

  it('a send whose answer is lost with the connection is repeated with the same number, so nothing is doubled', async () => {
    verifies('UX-02');
    const page = await openPage();
    const release = page.runtime.hold('turns.send');
    page.type('Only once');
    page.key('Enter', {}, page.field());
    await page.pass(0);
    // The message arrives at the runtime, its reply does not: the link dies first.
    await act(async () => {
      page.runtime.cut();
      release();
    });
    await page.pass(0);
    expect(page.field().value).toBe('Only once');
    await page.pass(3000);
    await page.pass(500);
    const sends = page.runtime.callsOf('turns.send') as { idempotencyKey: string; sessionId: string }[];
    expect(sends.length).toBeGreaterThanOrEqual(2);
    expect(new Set(sends.map((s) => s.idempotencyKey)).size).toBe(1);
    expect(new Set(sends.map((s) => s.sessionId)).size).toBe(1);
    expect(page.runtime.stored.size).toBe(1);
    expect([...page.runtime.stored.values()][0]?.turns.size).toBe(1);
    expect(page.field().value).toBe('');
  });

  it('Enter sends and Shift Enter makes a line; the setting swaps them', async () => {
    verifies('UX-94');
    const page = await openPage();
    page.type('one');
    page.key('Enter', { shiftKey: true }, page.field());
    await page.pass(0);
    expect(page.runtime.callsOf('turns.send')).toHaveLength(0);
    await page.change(() => page.runtime.settings.set({ ...page.runtime.settings.get(), sendKey: 'ctrlEnter' }));
    page.key('Enter', {}, page.field());
    await page.pass(0);
    expect(page.runtime.callsOf('turns.send')).toHaveLength(0);
    page.key('Enter', { ctrlKey: true }, page.field());
    await page.pass(0);
    expect(page.runtime.callsOf('turns.send')).toHaveLength(1);
  });

  it('Enter that belongs to an input method sends nothing', async () => {
    verifies('UX-94');
    const page = await openPage();
    page.type('にほん');
    fireEvent.keyDown(page.field(), { key: 'Enter', isComposing: true });
    await page.pass(0);
    expect(page.runtime.callsOf('turns.send')).toHaveLength(0);
  });

  it('an empty message is not sent', async () => {
    verifies('UX-25');
    const page = await openPage();
    page.type('   \n ');
    page.key('Enter', {}, page.field());
    await page.pass(0);
    expect(page.runtime.callsOf('turns.send')).toHaveLength(0);
    expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Send' }).disabled).toBe(true);
  });

  it('a long paste says how long it is; one that is too long says so before it is sent', async () => {
    verifies('UX-25', 'UX-09');
    const page = await openPage();
    page.type('word '.repeat(5000));
    expect(screen.getByTestId('composer-note').textContent).toBe('25,000 characters, 25 kB');
    page.type('é'.repeat(limits.maxInputBytes / 2 + 1));
    expect(screen.getByTestId('composer-note').textContent).toBe(
      'This is 1,048,578 bytes. One message holds at most 1,048,576 bytes. Shorten it, or send it in parts.',
    );
    page.key('Enter', {}, page.field());
    await page.pass(0);
    expect(page.runtime.callsOf('turns.send')).toHaveLength(0);
    expect(page.field().value.length).toBe(limits.maxInputBytes / 2 + 1);
  });

  it('half a character from a cut paste is sent as a replacement sign, not as broken text', async () => {
    verifies('UX-25');
    const page = await openPage();
    await ask(page, 'cut \ud83d here');
    expect(page.runtime.callsOf('turns.send')).toMatchObject([{ content: 'cut \ufffd here' }]);
  });

  it('a 1 MB paste is sent whole', async () => {
    verifies('UX-25');
    const page = await openPage();
    const text = 'a'.repeat(1_000_000);
    await ask(page, text);
    const sent = page.runtime.callsOf('turns.send')[0] as { content: string };
    expect(sent.content).toBe(text);
    // It is shown folded, so that the answer below it can be read at once.
    expect(screen.getByRole('button', { name: 'Show all (1 MB)' })).toBeTruthy();
  });

  it('send and stop are one button in one place, and Esc is its key', async () => {
    verifies('UX-03', 'UX-160');
    const page = await openPage();
    const place = screen.getByRole('button', { name: 'Send' }).parentElement;
    await ask(page, 'Go on for ever');
    const stop = await screen.findByRole('button', { name: 'Stop' });
    expect(stop.parentElement).toBe(place);
    expect(screen.queryByRole('button', { name: 'Send' })).toBeNull();
    // The first message of a new chat must not throw the typist out of the field.
    expect(place?.isConnected).toBe(true);
    page.key('Escape');
    await page.pass(0);
    expect(page.runtime.callsOf('turns.cancel')).toHaveLength(1);
    await screen.findByText('You stopped this before the first word.');
    expect(screen.getByRole('button', { name: 'Send' }).parentElement).toBe(place);
  });

  it('Esc closes what lies on top before it stops an answer', async () => {
    verifies('UX-03');
    const runtime = createFakeRuntime();
    runtime.chat('Boiler service', [['When?', 'In May.']]);
    const page = await openPage({ runtime });
    await openChat(page, 'Boiler service');
    fireEvent.click(screen.getByRole('button', { name: 'Details' }));
    await ask(page, 'And then?');
    const dialog = screen.getByRole('dialog', { name: 'Details of this answer' });
    fireEvent.keyDown(dialog, { key: 'Escape' });
    await page.pass(0);
    expect(screen.queryByRole('dialog')).toBeNull();
    expect(runtime.callsOf('turns.cancel')).toHaveLength(0);
  });

  it('"stopping" is said until the answer has stopped, and a failed stop gives the button back', async () => {
    verifies('UX-01', 'UX-03');
    const page = await openPage();
    await ask(page, 'Go on');
    const release = page.runtime.hold('turns.cancel');
    fireEvent.click(screen.getByRole('button', { name: 'Stop' }));
    await page.pass(0);
    expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Stopping' }).disabled).toBe(true);
    page.runtime.failNext('turns.cancel', new AppError('STORE_BUSY'));
    await act(async () => release());
    await page.pass(0);
    expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Stop' }).disabled).toBe(false);
    expect(screen.getByText('The store was busy for too long.')).toBeTruthy();
  });

  it('while an answer runs the field takes text, keeps it and says why it is not sent', async () => {
    verifies('UX-02', 'UX-160');
    const page = await openPage();
    const turn = await ask(page, 'First');
    page.type('Second');
    page.key('Enter', {}, page.field());
    await page.pass(0);
    expect(page.runtime.callsOf('turns.send')).toHaveLength(1);
    expect(page.field().value).toBe('Second');
    expect(screen.getByTestId('composer-note').textContent).toContain('The answer still runs. Your text is kept');
    await page.change(() => {
      turn.say('Done.');
      turn.complete();
    });
    expect(screen.getByTestId('composer-note').textContent).not.toContain('still runs');
  });

  it('a refused send keeps the text and shows what happened, what it means and what to do', async () => {
    verifies('UX-06', 'UX-02');
    const page = await openPage();
    page.runtime.failNext('turns.send', new AppError('STORE_FULL', { freeBytes: 4096 }));
    page.type('Keep me');
    page.key('Enter', {}, page.field());
    await page.pass(0);
    await page.pass(200);
    const card = await screen.findByRole('alert');
    expect(card.textContent).toContain('The disk is full (4.1 kB free).');
    expect(card.textContent).toContain('The last step was not saved. Everything before it is.');
    expect(card.textContent).toContain('Free some space, then try again.');
    expect(page.field().value).toBe('Keep me');
    fireEvent.click(within(card).getByRole('button', { name: 'Try again' }));
    await page.pass(0);
    await page.pass(500);
    expect(page.field().value).toBe('');
    expect(page.runtime.callsOf('turns.send')).toHaveLength(2);
  });

  it('without a model nothing is sent, the text is kept, and the way to a model is on the screen', async () => {
    verifies('UX-01', 'UX-02');
    const runtime = createFakeRuntime({ language: noModel });
    const page = await openPage({ runtime });
    page.type('Hello');
    page.key('Enter', {}, page.field());
    await page.pass(500);
    expect(runtime.callsOf('turns.send')).toHaveLength(0);
    expect(screen.getByTestId('composer-note').textContent).toBe('Get a model first. Your text is kept.');
    expect(runtime.draftOf(null)).toBe('Hello');
    expect(screen.getByRole('button', { name: 'Get 1.1 GB' })).toBeTruthy();
  });

  it('a starter fills the field and sends nothing', async () => {
    verifies('UX-101');
    const page = await openPage();
    const starters = within(screen.getByRole('log')).getAllByRole('listitem');
    expect(starters).toHaveLength(3);
    fireEvent.click(screen.getByRole('button', { name: /heat pump/ }));
    await page.pass(500);
    expect(page.field().value).toBe('Explain in simple words how a heat pump works.');
    expect(document.activeElement).toBe(page.field());
    expect(page.runtime.callsOf('turns.send')).toHaveLength(0);
    expect(page.runtime.draftOf(null)).toBe('Explain in simple words how a heat pump works.');
  });

  it('the line of the model says which one answers, and that it is here', async () => {
    verifies('UX-160', 'UX-112');
    const page = await openPage();
    const header = screen.getByRole('banner');
    expect(header.textContent).toContain('Qwen3 1.7B');
    expect(header.textContent).toContain('here');
    const turn = await ask(page, 'Where are you?');
    await page.change(() => {
      turn.say('On your desk.');
      turn.complete({ usage: { ...usage, where: 'away' } });
    });
    // A turn that left the machine is marked as such, whatever the header says of the next one.
    expect(within(screen.getByRole('log')).getByText('Away from this machine')).toBeTruthy();
  });
});
