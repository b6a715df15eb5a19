import { afterEach, describe, expect, it } from 'vitest';
import { createTalkKey } from '../../../src/renderer/lib/talkKey.ts';
import { useUi } from '../../../src/renderer/lib/ui.ts';
import { newId } from '../../../src/shared/domain/ids.ts';
import { noise } from '../../helpers/audio.ts';
import { verifies } from '../../helpers/verifies.ts';
import { createFakeSound } from '../fakeSound.ts';
import { act, fireEvent, openChat, openPage, type PageUnderTest, screen, within } from '../page.tsx';

let page: PageUnderTest | null = null;
afterEach(() => page?.close());

const chord = { key: ' ', code: 'Space', ctrlKey: true, altKey: true };

async function open(options: { on?: boolean } = {}) {
  await import('../../../src/renderer/features/voice/VoiceBarBody.tsx');
  const sound = createFakeSound();
  const opened = await openPage({ sound: sound.sound });
  page = opened;
  const settle = async () => {
    await opened.pass(0);
    await opened.pass(0);
  };
  if (options.on !== false) {
    fireEvent.click(within(screen.getByRole('region', { name: 'Voice' })).getByRole('button', { name: 'Turn voice on' }));
    await settle();
    opened.runtime.voice.line.down({ t: 'openMic', device: null });
    await settle();
    sound.hear(noise(-50, 128));
    await settle();
  }
  const { runtime } = opened;
  return {
    ...opened,
    sound,
    settle,
    show: (change: Parameters<typeof runtime.voice.show>[0]) => opened.change(() => runtime.voice.show(change)),
    /** The presses and releases that the runtime saw. */
    keys: () => runtime.voice.line.up.flatMap((each) => (each.t === 'key' ? [each.down ? 'down' : 'up'] : [])),
    talk: () => screen.getByRole('button', { name: 'Talk' }),
  };
}

describe('one talk key of several sources', () => {
  it('one counts at a time; going down twice is auto-repeat; letting go ends whatever is held, once', () => {
    verifies('VO-30');
    const said: string[] = [];
    const key = createTalkKey({ press: () => said.push('down'), release: () => said.push('up') });
    key.down('chord');
    key.down('chord');
    key.down('pointer');
    key.up('pointer');
    expect(said).toEqual(['down']);
    key.up('chord');
    key.up('chord');
    key.letGo();
    expect(said).toEqual(['down', 'up']);
    key.down('button');
    key.letGo();
    key.letGo();
    expect(said).toEqual(['down', 'up', 'down', 'up']);
  });
});

describe('the talk key in the window', () => {
  it('UX-85: Ctrl Alt Space goes down and up, wherever the focus is, also while typing, and types nothing', async () => {
    verifies('UX-85', 'VO-30');
    const one = await open();
    one.field().focus();
    const down = fireEvent.keyDown(one.field(), chord);
    expect(down).toBe(false);
    fireEvent.keyUp(one.field(), { key: ' ', code: 'Space' });
    expect(one.keys()).toEqual(['down', 'up']);
    expect(one.field().value).toBe('');
    // Without its other keys it is text.
    expect(fireEvent.keyDown(one.field(), { key: ' ', code: 'Space' })).toBe(true);
    expect(fireEvent.keyDown(one.field(), { ...chord, shiftKey: true })).toBe(true);
    expect(one.keys()).toEqual(['down', 'up']);
  });

  it('on macOS it is Option Shift Space', async () => {
    verifies('UX-85');
    const one = await open();
    const platform = navigator.platform;
    Object.defineProperty(navigator, 'platform', { configurable: true, value: 'MacIntel' });
    fireEvent.keyDown(window, chord);
    fireEvent.keyDown(window, { key: ' ', code: 'Space', altKey: true, shiftKey: true });
    fireEvent.keyUp(window, { key: 'Shift' });
    Object.defineProperty(navigator, 'platform', { configurable: true, value: platform });
    expect(one.keys()).toEqual(['down', 'up']);
  });

  it.each([
    ['Space', () => fireEvent.keyUp(window, { key: ' ', code: 'Space' })],
    ['Control', () => fireEvent.keyUp(window, { key: 'Control' })],
    ['Alt', () => fireEvent.keyUp(window, { key: 'Alt' })],
    ['a lost focus', () => fireEvent.blur(window)],
    ['a page that is left', () => fireEvent(window, new Event('pagehide'))],
    [
      'a hidden page',
      () => {
        Object.defineProperty(document, 'visibilityState', { configurable: true, value: 'hidden' });
        fireEvent(document, new Event('visibilitychange'));
        Reflect.deleteProperty(document, 'visibilityState');
      },
    ],
  ])('VO-105: it never sticks: %s ends it, and auto-repeat is no input', async (_, end) => {
    verifies('VO-105');
    const one = await open();
    fireEvent.keyDown(window, chord);
    fireEvent.keyDown(window, { ...chord, repeat: true });
    fireEvent.keyDown(window, chord);
    expect(one.keys()).toEqual(['down']);
    end();
    expect(one.keys()).toEqual(['down', 'up']);
    // The rest of the chord going up says nothing more.
    fireEvent.keyUp(window, { key: 'Control' });
    fireEvent.keyUp(window, { key: 'Alt' });
    fireEvent.keyUp(window, { key: ' ', code: 'Space' });
    expect(one.keys()).toEqual(['down', 'up']);
  });

  it('a press while voice is off turns it on and records nothing; the next one talks', async () => {
    const one = await open({ on: false });
    fireEvent.keyDown(window, chord);
    fireEvent.keyUp(window, { key: ' ', code: 'Space' });
    await one.settle();
    expect(one.runtime.callsOf('voice.arm')).toEqual([{ line: 'line-1' }]);
    expect(one.keys()).toEqual([]);
    fireEvent.keyDown(window, chord);
    expect(one.keys()).toEqual(['down']);
  });

  it('the press names the chat in front; one that it made is opened, unless the person went elsewhere', async () => {
    const one = await open();
    const id = one.runtime.chat('Boiler', [['Hello', 'Hi.']]);
    await one.pass(0);
    await openChat(one, 'Boiler');
    fireEvent.keyDown(window, chord);
    fireEvent.keyUp(window, { key: 'Alt' });
    expect(one.runtime.voice.line.up.findLast(({ t }) => t === 'key')).toMatchObject({ sessionId: id });
    act(() => useUi.getState().openChat(null));
    await one.pass(0);
    fireEvent.keyDown(window, chord);
    fireEvent.keyUp(window, { key: 'Alt' });
    expect(one.runtime.voice.line.up.findLast(({ t }) => t === 'key')).toMatchObject({ sessionId: null });
    const made = one.runtime.chat('Spoken', [['When?', 'In May.']]);
    await one.show({ phase: 'thinking', sessionId: made, turnId: newId('turn', 7) });
    expect(useUi.getState().sessionId).toBe(made);
    // Once: a new chat that is opened afterwards stays one.
    act(() => useUi.getState().openChat(null));
    await one.pass(0);
    await one.show({ phase: 'standby' });
    expect(useUi.getState().sessionId).toBeNull();
    fireEvent.keyDown(window, chord);
    fireEvent.keyUp(window, { key: 'Alt' });
    act(() => useUi.getState().openChat(id));
    await one.pass(0);
    await one.show({ phase: 'thinking', sessionId: one.runtime.chat('Other', []), turnId: newId('turn', 8) });
    expect(useUi.getState().sessionId).toBe(id);
  });

  it('Esc ends what voice does, before it ends anything else; at rest it is the chat’s own', async () => {
    const one = await open();
    const id = one.runtime.chat('Boiler', [['Hello', 'Hi.']]);
    await one.pass(0);
    await openChat(one, 'Boiler');
    const turn = one.runtime.ask(id, 'And when?');
    await one.show({ phase: 'speaking', sessionId: id, turnId: turn.turnId });
    one.key('Escape');
    await one.pass(0);
    expect(one.runtime.callsOf('voice.cancel')).toHaveLength(1);
    expect(one.runtime.callsOf('turns.cancel')).toHaveLength(0);
    await one.show({ phase: 'standby' });
    one.key('Escape');
    await one.pass(0);
    expect(one.runtime.callsOf('voice.cancel')).toHaveLength(1);
    expect(one.runtime.callsOf('turns.cancel')).toHaveLength(1);
  });

  it('UX-03: the button of the message field stops the voice as well, while there is nothing to send', async () => {
    const one = await open();
    const id = one.runtime.chat('Boiler', [['Hello', 'Hi.']]);
    await one.pass(0);
    await openChat(one, 'Boiler');
    await one.show({ phase: 'speaking', sessionId: id, turnId: newId('turn', 3) });
    const composer = within(document.querySelector<HTMLElement>('[data-region="composer"]') ?? document.body);
    fireEvent.click(composer.getByRole('button', { name: 'Stop' }));
    await one.pass(0);
    expect(one.runtime.callsOf('voice.cancel')).toHaveLength(1);
    one.type('Next question');
    await one.pass(0);
    expect(composer.getByRole('button', { name: 'Send' })).toBeTruthy();
  });
});

describe('the talk button', () => {
  it('VO-30: by pointer: down and up, also when it is let go beside it or taken away; other buttons are nothing', async () => {
    verifies('VO-30', 'VO-105');
    const one = await open();
    const pointer = { pointerId: 7, button: 0 };
    fireEvent.pointerDown(one.talk(), { pointerId: 7, button: 2 });
    expect(one.keys()).toEqual([]);
    fireEvent.pointerDown(one.talk(), pointer);
    fireEvent.pointerUp(one.talk(), { ...pointer, pointerId: 8 });
    expect(one.keys()).toEqual(['down']);
    fireEvent.pointerUp(one.talk(), pointer);
    // What the browser makes of it afterwards is no second press.
    fireEvent.click(one.talk(), { detail: 1 });
    expect(one.keys()).toEqual(['down', 'up']);
    fireEvent.pointerDown(one.talk(), pointer);
    fireEvent.pointerCancel(one.talk(), pointer);
    fireEvent.lostPointerCapture(one.talk(), pointer);
    expect(one.keys()).toEqual(['down', 'up', 'down', 'up']);
  });

  it('VO-30: by Space and Enter while it has the focus; leaving it lets go', async () => {
    verifies('VO-30', 'VO-105');
    const one = await open();
    for (const key of [' ', 'Enter']) {
      one.talk().focus();
      expect(fireEvent.keyDown(one.talk(), { key })).toBe(false);
      fireEvent.keyDown(one.talk(), { key, repeat: true });
      fireEvent.keyUp(one.talk(), { key });
    }
    expect(one.keys()).toEqual(['down', 'up', 'down', 'up']);
    fireEvent.keyDown(one.talk(), { key: ' ' });
    fireEvent.blur(one.talk());
    expect(one.keys()).toEqual(['down', 'up', 'down', 'up', 'down', 'up']);
  });

  it('a press by a screen reader is a tap', async () => {
    const one = await open();
    fireEvent.click(one.talk());
    expect(one.keys()).toEqual(['down', 'up']);
  });

  it('UX-39: while it listens it is pressed, and while voice is off it is the switch', async () => {
    const one = await open({ on: false });
    const composer = within(document.querySelector<HTMLElement>('[data-region="composer"]') ?? document.body);
    fireEvent.click(composer.getByRole('button', { name: 'Turn voice on' }));
    await one.settle();
    expect(one.talk().getAttribute('aria-pressed')).toBe('false');
    await one.show({ phase: 'hearing', key: 'latched', soundArrived: true });
    expect(one.talk().getAttribute('aria-pressed')).toBe('true');
    expect(screen.getByRole('region', { name: 'Voice' }).textContent).toContain('Pause or tap again when you are done.');
  });
});
