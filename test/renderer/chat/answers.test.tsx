import { describe, expect, it } from 'vitest';
import { verifies } from '../../helpers/verifies.ts';
import { createFakeRuntime, usage } from '../fakeRuntime.ts';
import { act, ask, fireEvent, openChat, openPage, screen, within } from '../page.tsx';

describe('before the first word', () => {
  it('each stage is said with its figures, and only while it is so', async () => {
    verifies('UX-27', 'UX-01', 'UX-09');
    const page = await openPage();
    const turn = await ask(page, 'Hello');
    expect(screen.getByText('Waiting for the model')).toBeTruthy();
    await page.change(() => turn.loading(0.437));
    expect(screen.getByText('Loading the model, 43 %')).toBeTruthy();
    expect(screen.getByRole('progressbar', { name: 'Loading the model, 43 %' }).getAttribute('aria-valuenow')).toBe('43');
    await page.change(() => turn.reading(1204, 3800, 4100));
    expect(screen.getByText('Reading 1,204 of 3,800 tokens, about 4 s left')).toBeTruthy();
    await page.change(() => turn.reading(1300, 3800, null));
    // Time that is not known is not made up.
    expect(screen.getByText('Reading 1,300 of 3,800 tokens')).toBeTruthy();
    await page.change(() => turn.thinking());
    expect(screen.queryByRole('progressbar')).toBeNull();
    await page.pass(3000);
    // The clock of the line ticks each second; it never shows more than has passed.
    expect(screen.getByText(/Thinking/).textContent).toMatch(/^Thinking · [23] s$/);
    await page.change(() => turn.say('Hello'));
    expect(screen.queryByText(/Thinking/)).toBeNull();
  });

  it('a stall is told from slow progress', async () => {
    verifies('UX-27');
    const page = await openPage();
    const turn = await ask(page, 'Hello');
    await page.change(() => turn.reading(100, 3800, 60_000));
    for (let done = 200; done < 600; done += 100) {
      await page.pass(10_000);
      await page.change(() => turn.reading(done, 3800, 60_000));
    }
    // Forty seconds, but it moved: slow, not stalled.
    expect(screen.queryByText(/No progress/)).toBeNull();
    await page.pass(20_000);
    expect(screen.getByText(/^No progress for (19|20) s\. You can wait, or stop\.$/)).toBeTruthy();
    await page.change(() => turn.reading(600, 3800, 60_000));
    await page.pass(1000);
    expect(screen.queryByText(/No progress/)).toBeNull();
  });
});

describe('a growing answer', () => {
  it('streams text, and the completed message takes the place of the pieces once', async () => {
    verifies('UX-28', 'UX-01');
    const page = await openPage();
    const turn = await ask(page, 'Hello');
    await page.change(() => turn.say('One '));
    await page.change(() => turn.say('two **three'));
    // An open mark is closed for the eye instead of showing its stars.
    expect(screen.getByText('three').tagName).toBe('STRONG');
    const busy = screen.getByRole('article', { busy: true });
    expect(busy.textContent).toContain('One two three');
    await page.change(() => {
      turn.say('**.');
      turn.complete();
    });
    expect(screen.getAllByText(/One two/)).toHaveLength(1);
    expect(document.querySelector('[aria-busy="true"]')).toBeNull();
  });

  it('the view follows only when it was at the end; else a pill says so and leads there', async () => {
    verifies('UX-28');
    const page = await openPage();
    const turn = await ask(page, 'Hello');
    const log = screen.getByRole('log');
    let top = 600;
    Object.defineProperties(log, {
      scrollHeight: { configurable: true, get: () => 1000 },
      clientHeight: { configurable: true, get: () => 400 },
      scrollTop: {
        configurable: true,
        get: () => top,
        set: (value: number) => {
          top = value;
        },
      },
    });
    fireEvent.scroll(log);
    await page.change(() => turn.say('At the end. '));
    expect(top).toBe(1000);
    expect(screen.queryByRole('button', { name: 'New text below' })).toBeNull();
    top = 100;
    fireEvent.scroll(log);
    await page.change(() => turn.say('Not at the end.'));
    expect(top).toBe(100);
    fireEvent.click(screen.getByRole('button', { name: 'New text below' }));
    expect(top).toBe(1000);
    expect(screen.queryByRole('button', { name: 'New text below' })).toBeNull();
  });

  it('a page that comes late shows the text from its beginning', async () => {
    verifies('UX-01');
    const runtime = createFakeRuntime();
    const id = runtime.chat('Late', []);
    const turn = runtime.ask(id, 'Hello');
    turn.say('The whole ');
    turn.say('text so far');
    const page = await openPage({ runtime });
    await openChat(page, 'Late');
    expect(screen.getByRole('article', { busy: true }).textContent).toContain('The whole text so far');
  });

  it('a lost connection keeps what was written and goes on where it was', async () => {
    verifies('UX-01', 'UX-02');
    const page = await openPage();
    const turn = await ask(page, 'Hello');
    await page.change(() => turn.say('Before. '));
    await page.change(() => page.runtime.cut());
    turn.say('Meanwhile. ');
    expect(screen.getByRole('article', { busy: true }).textContent).toContain('Before.');
    await page.pass(1000);
    await page.pass(500);
    await page.change(() => turn.say('After.'));
    expect(screen.getByRole('article', { busy: true }).textContent).toContain('Before. Meanwhile. After.');
    await page.change(() => turn.complete());
    expect(screen.getAllByText('Before. Meanwhile. After.')).toHaveLength(1);
  });

  it('after a gap the newest page is read again and nothing is shown twice', async () => {
    verifies('UX-01');
    const page = await openPage();
    const turn = await ask(page, 'Hello');
    await page.change(() => {
      page.runtime.push(turn.sessionId, { kind: 'lagged', missed: 3 });
      turn.say('Done.');
      turn.complete();
    });
    await page.pass(1000);
    expect(screen.getAllByText('Done.')).toHaveLength(1);
    expect(page.runtime.callsOf('turns.history').length).toBeGreaterThanOrEqual(2);
  });
});

describe('an answer', () => {
  async function answered() {
    const runtime = createFakeRuntime();
    runtime.chat('Boiler service', [['When was it?', 'On **3 May**.']]);
    const page = await openPage({ runtime });
    await openChat(page, 'Boiler service');
    return { page, runtime };
  }

  it('can be copied as it was written, and says whether that worked', async () => {
    verifies('UX-29', 'UX-280');
    const { page } = await answered();
    fireEvent.click(screen.getByRole('button', { name: 'Copy' }));
    await page.pass(0);
    expect(page.clipboard.texts).toEqual(['On **3 May**.']);
    expect(screen.getByRole('button', { name: 'Copied' })).toBeTruthy();
    await page.pass(2500);
    page.clipboard.refuse = true;
    fireEvent.click(screen.getByRole('button', { name: 'Copy' }));
    await page.pass(0);
    expect(screen.getByRole('button', { name: 'Could not copy' })).toBeTruthy();
  });

  it('shows model, speed, first word, tokens and place; the rest stands behind More', async () => {
    verifies('UX-29', 'UX-10', 'UX-09');
    const { page } = await answered();
    fireEvent.click(screen.getByRole('button', { name: 'Details' }));
    await page.pass(0);
    const dialog = screen.getByRole('dialog', { name: 'Details of this answer' });
    const facts = () => [...dialog.querySelectorAll('dd')].map((dd) => dd.textContent);
    expect(facts()).toEqual(['Qwen3 1.7B', 'after 0.9 s', '17.3 tokens per second', '126 written, 412 read', 'On this machine']);
    fireEvent.click(within(dialog).getByRole('button', { name: 'More' }));
    expect(facts()).toHaveLength(10);
    expect(within(dialog).getByRole('button', { name: 'Less' })).toBeTruthy();
    expect(facts()[5]).toBe('8.2 s');
    expect(facts()[6]).toBe('380 of 412 tokens');
  });

  it('a figure that is not known is "?", never 0', async () => {
    verifies('UX-09', 'UX-29');
    const page = await openPage();
    const turn = await ask(page, 'Hello');
    await page.change(() => {
      turn.say('Hi.');
      turn.complete({ usage: { ...usage, tokensPerSecond: null, firstTokenMs: null } });
    });
    fireEvent.click(screen.getByRole('button', { name: 'Details' }));
    await page.pass(0);
    const facts = [...screen.getByRole('dialog').querySelectorAll('dd')].map((dd) => dd.textContent);
    expect(facts[1]).toBe('?');
    expect(facts[2]).toBe('?');
  });

  it('try again folds the earlier answer away and keeps it', async () => {
    verifies('UX-29', 'UX-02', 'UX-08');
    const { page, runtime } = await answered();
    fireEvent.click(screen.getByRole('button', { name: 'Try again' }));
    const turn = await runtime.started();
    await page.change(() => {
      turn.say('In June.');
      turn.complete();
    });
    expect(screen.getByText('In June.')).toBeTruthy();
    expect(screen.queryByText('3 May')).toBeNull();
    // The question stands once.
    expect(screen.getAllByText('When was it?')).toHaveLength(1);
    fireEvent.click(screen.getByRole('button', { name: '1 earlier answer' }));
    expect(screen.getByText('3 May')).toBeTruthy();
  });

  it('two tries are both kept under the last one', async () => {
    verifies('UX-29');
    const { page, runtime } = await answered();
    for (const text of ['Second.', 'Third.']) {
      fireEvent.click(screen.getAllByRole('button', { name: 'Try again' }).at(-1) as HTMLElement);
      const turn = await runtime.started();
      await page.change(() => {
        turn.say(text);
        turn.complete();
      });
    }
    expect(screen.getByRole('button', { name: '2 earlier answers' })).toBeTruthy();
    expect(screen.getByText('Third.')).toBeTruthy();
    expect(screen.queryByText('Second.')).toBeNull();
  });

  it('cannot be asked again while another answer runs', async () => {
    verifies('UX-29');
    const { page } = await answered();
    await ask(page, 'Next');
    expect(screen.queryByRole('button', { name: 'Try again' })).toBeNull();
  });

  it('a failed answer keeps its text and offers the cure of its fault', async () => {
    verifies('UX-06', 'UX-101', 'UX-109');
    const page = await openPage();
    const turn = await ask(page, 'A long story');
    await page.change(() => {
      turn.say('Once upon a time');
      turn.fail('OUT_OF_MEMORY', { stage: 'decode' });
    });
    expect(screen.getByText('Once upon a time')).toBeTruthy();
    const card = screen.getByRole('group', { name: 'The model stopped (out of memory while answering).' });
    expect(card.textContent).toContain('Your message is safe.');
    // The code comes last and is the smallest of it.
    expect(card.textContent?.endsWith('Code OUT_OF_MEMORY')).toBe(true);
    fireEvent.click(within(card).getByRole('button', { name: 'Ask again' }));
    await page.pass(0);
    expect(page.runtime.callsOf('turns.retry')).toMatchObject([{ turnId: turn.turnId }]);
  });

  it('a message that does not fit the model goes back into the field to be shortened', async () => {
    verifies('UX-06', 'UX-101');
    const page = await openPage();
    const turn = await ask(page, 'A very long text');
    await page.change(() => turn.fail('CONTEXT_OVERFLOW', { tokens: 9100, contextSize: 8192 }));
    expect(screen.getByText('This message needs 9,100 tokens; the model holds 8,192.')).toBeTruthy();
    fireEvent.click(screen.getByRole('button', { name: 'Go to the message' }));
    expect(page.field().value).toBe('A very long text');
  });

  it('an unknown fault shows its number, and the number can be copied', async () => {
    verifies('UX-113', 'UX-06');
    const page = await openPage();
    const turn = await ask(page, 'Hello');
    await page.change(() => turn.fail('INTERNAL', { incident: '7F3A0001' }));
    const card = screen.getByRole('group', { name: 'Something went wrong.' });
    expect(card.textContent).toContain('Your text is safe.');
    expect(card.textContent).toContain('7F3A0001');
    fireEvent.click(within(card).getByRole('button', { name: 'Copy the number' }));
    await page.pass(0);
    expect(page.clipboard.texts).toEqual(['7F3A0001']);
  });

  it('an answer cut off by a crash asks what to do and does nothing by itself', async () => {
    verifies('UX-02', 'UX-101');
    const runtime = createFakeRuntime();
    const id = runtime.chat('Steam engines', []);
    const turn = runtime.ask(id, 'Tell me');
    turn.say('They turn heat into');
    turn.interrupt();
    const page = await openPage({ runtime });
    await openChat(page, 'Steam engines');
    const card = screen.getByRole('group', { name: 'This answer was cut off.' });
    expect(screen.getByText('They turn heat into')).toBeTruthy();
    expect(runtime.callsOf('turns.decide')).toHaveLength(0);
    fireEvent.click(within(card).getByRole('button', { name: 'Go on' }));
    await page.pass(0);
    expect(runtime.callsOf('turns.decide')).toMatchObject([{ turnId: turn.turnId, choice: 'resume' }]);
    expect(screen.queryByRole('group', { name: 'This answer was cut off.' })).toBeNull();
  });

  it('the menu of a message opens on Shift F10 and holds what its buttons hold', async () => {
    verifies('UX-98');
    const { page } = await answered();
    const answer = screen.getByRole('article', { name: /Message by Sotto/ });
    // What Shift F10 and the menu key send.
    fireEvent.contextMenu(answer);
    await page.pass(0);
    const menu = await screen.findByRole('menu');
    expect(
      within(menu)
        .getAllByRole('menuitem')
        .map((item) => item.textContent),
    ).toEqual(['Copy', 'Try again', 'Details']);
  });

  it('Alt with the arrows goes from message to message, from the field to the last one', async () => {
    verifies('UX-98');
    const runtime = createFakeRuntime();
    runtime.chat('Walk', [
      ['First question', 'First answer'],
      ['Second question', 'Second answer'],
    ]);
    const page = await openPage({ runtime });
    await openChat(page, 'Walk');
    page.field().focus();
    const focused = () => document.activeElement?.textContent ?? '';
    page.key('ArrowUp', { altKey: true });
    expect(focused()).toContain('Second answer');
    page.key('ArrowUp', { altKey: true });
    expect(focused()).toContain('Second question');
    page.key('ArrowUp', { altKey: true });
    expect(focused()).toContain('First answer');
    page.key('ArrowDown', { altKey: true });
    expect(focused()).toContain('Second question');
  });
});

describe('what a screen reader hears', () => {
  it('the thread is a log that announces nothing; one polite region says start and end', async () => {
    verifies('UX-124');
    const page = await openPage();
    const log = screen.getByRole('log');
    expect(log.getAttribute('aria-live')).toBe('off');
    expect(screen.getByTestId('announcer').getAttribute('aria-live')).toBe('polite');
    const turn = await ask(page, 'Hello');
    expect(page.announced()).toBe('Sotto is answering.');
    await page.change(() => turn.say('One. Two. '));
    expect(page.announced()).toBe('Sotto is answering.');
    await page.change(() => turn.complete());
    expect(page.announced()).toBe('The answer is done.');
  });

  it('by choice it says whole sentences, never a part of one', async () => {
    verifies('UX-124');
    const page = await openPage();
    await page.change(() => page.runtime.settings.set({ ...page.runtime.settings.get(), announce: 'sentences' }));
    const turn = await ask(page, 'Hello');
    const heard: string[] = [];
    for (const piece of ['It ', 'is 3.5 ', 'degrees. And', ' it ', 'rains! ', 'Soon']) {
      await page.change(() => turn.say(piece));
      if (heard.at(-1) !== page.announced()) heard.push(page.announced());
    }
    await page.change(() => turn.complete());
    heard.push(page.announced());
    expect(heard).toEqual(['Sotto is answering.', 'It is 3.5 degrees.', 'And it rains!', 'Soon']);
  });

  it('by choice it says nothing', async () => {
    verifies('UX-124');
    const page = await openPage();
    await page.change(() => page.runtime.settings.set({ ...page.runtime.settings.get(), announce: 'off' }));
    const turn = await ask(page, 'Hello');
    await page.change(() => {
      turn.say('One. Two.');
      turn.complete();
    });
    expect(page.announced()).toBe('');
  });

  it('a failed answer is said as such', async () => {
    verifies('UX-124');
    const page = await openPage();
    const turn = await ask(page, 'Hello');
    await page.change(() => turn.fail('ENGINE_CRASHED', { engineKey: 'language', stage: 'decode' }));
    expect(page.announced()).toBe('The answer stopped with a fault.');
    await act(async () => {});
  });
});
