import { act, fireEvent, render, screen, within } from '@testing-library/react';
import { I18nextProvider } from 'react-i18next';
import { App } from '../../src/renderer/app/App.tsx';
import type { Sound } from '../../src/renderer/audio/sound.ts';
import { useAnnouncer } from '../../src/renderer/lib/announcer.ts';
import { createServices, type Services, ServicesProvider } from '../../src/renderer/lib/services.tsx';
import { createTexts } from '../../src/renderer/lib/texts.ts';
import type { Transport } from '../../src/renderer/lib/transport.ts';
import { useUi } from '../../src/renderer/lib/ui.ts';
import { createFakeClock, type FakeClock } from '../helpers/fakeClock.ts';
import { createFakeRuntime, type FakeRuntime } from './fakeRuntime.ts';

export type PageUnderTest = {
  readonly runtime: FakeRuntime;
  readonly services: Services;
  readonly clock: FakeClock;
  readonly clipboard: { readonly texts: string[]; refuse: boolean };
  /** The message field. */
  field(): HTMLTextAreaElement;
  type(text: string): void;
  key(key: string, modifiers?: Partial<Pick<KeyboardEventInit, 'ctrlKey' | 'shiftKey' | 'altKey'>>, target?: Element): void;
  /** Moves time, and lets what waits for it happen. */
  pass(ms: number): Promise<void>;
  /** Runs a change of the runtime's side and draws what follows from it. */
  change(deed: () => void): Promise<void>;
  announced(): string;
  resize(width: number): void;
  close(): void;
};

const at = Date.UTC(2026, 4, 3, 9, 41, 30);
let width = 1280;
const medias = new Set<FakeMedia>();

type System = { readonly dark: boolean; readonly contrast: boolean; readonly reduced: boolean };

/** As much of a media query as the page asks. */
class FakeMedia extends EventTarget {
  readonly onchange = null;
  readonly media: string;
  readonly #system: System;

  constructor(media: string, system: System) {
    super();
    this.media = media;
    this.#system = system;
    medias.add(this);
  }

  get matches(): boolean {
    const max = /max-width: ([\d.]+)rem/.exec(this.media)?.[1];
    const min = /min-width: ([\d.]+)rem/.exec(this.media)?.[1];
    if (max !== undefined) return width <= Number(max) * 16;
    if (min !== undefined) return width >= Number(min) * 16;
    if (this.media.includes('prefers-color-scheme: dark')) return this.#system.dark;
    if (this.media.includes('prefers-reduced-motion')) return this.#system.reduced;
    return this.media.includes('prefers-contrast') && this.#system.contrast;
  }

  addListener(): void {}
  removeListener(): void {}
}

function installMedia(system: System): void {
  medias.clear();
  window.matchMedia = (query: string) => new FakeMedia(query, system);
}

/**
 * The whole page over the in-memory runtime, with a clock that only the test moves.
 *
 * @param options.transport  another way to the runtime (the app's bridge).
 */
export async function openPage(
  options: {
    runtime?: FakeRuntime;
    width?: number;
    dark?: boolean;
    contrast?: boolean;
    reduced?: boolean;
    transport?: Transport;
    sound?: Sound;
  } = {},
): Promise<PageUnderTest> {
  // Loaded ahead, as the page itself does: a test that looks at text must not depend on when a module arrives.
  await Promise.all([
    import('../../src/renderer/features/chat/Markdown.tsx'),
    import('../../src/renderer/features/models/index.ts'),
    import('../../src/renderer/features/onboarding/index.ts'),
    import('../../src/renderer/features/voice/VoiceBarBody.tsx'),
    import('../../src/renderer/features/voices/index.ts'),
  ]);
  const runtime = options.runtime ?? createFakeRuntime();
  const clock = createFakeClock(at);
  width = options.width ?? 1280;
  installMedia({ dark: options.dark ?? false, contrast: options.contrast ?? false, reduced: options.reduced ?? false });
  useUi.setState({ place: 'chat', sessionId: null, listOpen: width >= 1024, trashOpen: false, query: '', target: null });
  useAnnouncer.setState({ text: '' });
  Object.defineProperty(navigator, 'language', { configurable: true, value: 'en-GB' });
  const clipboard = { texts: [] as string[], refuse: false };
  Object.defineProperty(navigator, 'clipboard', {
    configurable: true,
    value: {
      writeText: async (text: string) => {
        if (clipboard.refuse) throw new Error('refused');
        clipboard.texts.push(text);
      },
    },
  });
  const services = createServices({ transport: options.transport ?? runtime.transport, clock, sound: options.sound });
  const view = render(
    <I18nextProvider i18n={createTexts()}>
      <ServicesProvider services={services}>
        <App />
      </ServicesProvider>
    </I18nextProvider>,
  );
  const settle = () => act(async () => clock.advanceAsync(0));
  await settle();
  await settle();
  const field = () => screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Message' });
  return {
    runtime,
    services,
    clock,
    clipboard,
    field,
    type: (text) => fireEvent.input(field(), { target: { value: text } }),
    key(key, modifiers = {}, target = document.activeElement ?? document.body) {
      fireEvent.keyDown(target, { key, ...modifiers });
    },
    async pass(ms) {
      await act(async () => clock.advanceAsync(ms));
    },
    async change(deed) {
      await act(async () => {
        deed();
        await clock.advanceAsync(0);
      });
      await settle();
    },
    announced: () => screen.getByTestId('announcer').textContent ?? '',
    resize(next) {
      width = next;
      act(() => {
        for (const media of medias) media.dispatchEvent(new Event('change'));
      });
    },
    close() {
      view.unmount();
      services.close();
    },
  };
}

/** Opens a chat of the list by its title. */
export async function openChat(page: PageUnderTest, title: string): Promise<void> {
  fireEvent.click(await screen.findByRole('button', { name: title }));
  await page.pass(0);
  await screen.findByRole('heading', { level: 1, name: title });
  await page.pass(0);
}

/** Sends a question and gives back the turn that runs. */
export async function ask(page: PageUnderTest, text: string) {
  page.type(text);
  page.key('Enter', {}, page.field());
  const turn = await page.runtime.started();
  await page.pass(0);
  await page.pass(500);
  return turn;
}

/** Opens the menu that belongs to a button, as the keyboard does. */
export function openMenu(button: HTMLElement): void {
  button.focus();
  fireEvent.keyDown(button, { key: 'Enter' });
}

export { act, fireEvent, screen, within };
