import { describe, expect, it } from 'vitest';
import { AppError } from '../../../src/shared/errors/appError.ts';
import { verifies } from '../../helpers/verifies.ts';
import { createFakeRuntime } from '../fakeRuntime.ts';
import { fireEvent, openPage, screen, within } from '../page.tsx';
import { allInstalled, shipped } from '../starterModels.ts';

function fresh(step: 'privacy' | 'microphone' | 'machine' | 'talk' = 'privacy') {
  const runtime = createFakeRuntime();
  runtime.setCatalogue(shipped);
  runtime.settings.set({ ...runtime.settings.get(), firstRun: step });
  return runtime;
}
const heading = () => screen.getByRole('heading', { level: 1 }).textContent;
const press = (name: string | RegExp) => fireEvent.click(screen.getByRole('button', { name }));
const current = () => within(screen.getByRole('navigation', { name: 'First steps' })).getByRole('button', { current: 'step' }).textContent;

describe('the first steps', () => {
  it('one column without rail, list or strip, four steps in their order, a language menu', async () => {
    const page = await openPage({ runtime: fresh() });
    expect(screen.queryByRole('navigation', { name: 'Places' })).toBeNull();
    expect(screen.queryByRole('contentinfo')).toBeNull();
    expect(screen.queryByRole('region', { name: 'Chats' })).toBeNull();
    const bar = screen.getByRole('navigation', { name: 'First steps' });
    expect(
      within(bar)
        .getAllByRole('button')
        .map((b) => b.textContent),
    ).toEqual(['Privacy', 'Microphone', 'Machine', 'First talk']);
    expect(screen.getByRole('combobox', { name: 'Language' })).toBeTruthy();
    expect(screen.queryByText(/Your system is set to/)).toBeNull();
    page.close();
  });

  it('a system in another language is told that there are English words only', async () => {
    const page = await openPage({ runtime: fresh() });
    page.close();
    Object.defineProperty(navigator, 'language', { configurable: true, value: 'de-DE' });
    const { LanguageMenu } = await import('../../../src/renderer/features/onboarding/LanguageMenu.tsx');
    const { render } = await import('@testing-library/react');
    const { I18nextProvider } = await import('react-i18next');
    const { createTexts } = await import('../../../src/renderer/lib/texts.ts');
    render(
      <I18nextProvider i18n={createTexts()}>
        <LanguageMenu />
      </I18nextProvider>,
    );
    expect(screen.getByText(/Your system is set to German \(Germany\)\./)).toBeTruthy();
    expect(screen.getAllByRole('option').map((o) => o.textContent)).toEqual(['English']);
  });

  it('each can be skipped, and the last leads to the chat', async () => {
    const runtime = fresh();
    const page = await openPage({ runtime });
    press('Go on');
    await page.pass(0);
    expect([current(), heading()]).toEqual(['Microphone', 'Can Sotto hear you?']);
    press('Skip this step');
    await page.pass(0);
    expect([current(), heading()]).toEqual(['Machine', 'What this machine runs']);
    press('Skip this step');
    await page.pass(0);
    expect([current(), heading()]).toEqual(['First talk', 'Almost there']);
    press('Go to chat without it');
    await page.pass(0);
    expect(runtime.settings.get().firstRun).toBe('done');
    expect(screen.getByRole('textbox', { name: 'Message' })).toBeTruthy();
    // Nobody was asked for the microphone, and nothing was fetched.
    expect(runtime.callsOf('voice.testMicrophone')).toEqual([]);
    expect(runtime.callsOf('models.startDownload')).toEqual([]);
    page.close();
  });

  it('Back loses nothing, and every step of the bar can be gone to', async () => {
    const runtime = fresh();
    const page = await openPage({ runtime });
    fireEvent.click(screen.getByRole('switch', { name: 'Search the public model hub?' }));
    await page.pass(0);
    press('Go on');
    await page.pass(0);
    press('Back');
    await page.pass(0);
    expect(screen.getByRole('switch', { name: 'Search the public model hub?' }).getAttribute('aria-checked')).toBe('true');
    fireEvent.click(screen.getByRole('button', { name: 'Machine' }));
    await page.pass(0);
    expect(heading()).toBe('What this machine runs');
    fireEvent.click(screen.getByRole('button', { name: 'Privacy' }));
    await page.pass(0);
    expect(runtime.settings.get()).toMatchObject({ firstRun: 'privacy', searchHub: true });
    page.close();
  });

  it('stands where it was left after the window was closed', async () => {
    const runtime = fresh();
    const first = await openPage({ runtime });
    press('Go on');
    await first.pass(0);
    first.close();
    document.body.innerHTML = '';
    const second = await openPage({ runtime });
    expect(heading()).toBe('Can Sotto hear you?');
    second.close();
  });

  it('can be gone through again from Settings', async () => {
    verifies('UX-17');
    const runtime = createFakeRuntime();
    runtime.setCatalogue(shipped);
    runtime.setInstalled(allInstalled);
    const page = await openPage({ runtime });
    page.key(',', { ctrlKey: true });
    await page.pass(0);
    press('Run the first steps again');
    await page.pass(0);
    expect(heading()).toBe('It all happens on this machine');
    for (const name of ['Go on', 'Skip this step', 'Go on', /^Go to chat/]) {
      press(name);
      await page.pass(0);
    }
    expect(screen.getByRole('textbox', { name: 'Message' })).toBeTruthy();
    page.close();
  });

  it('a disk that cannot be written is said, and holds nobody up', async () => {
    const runtime = fresh('talk');
    runtime.failNext('settings.set', new AppError('STORE_READ_ONLY'));
    const page = await openPage({ runtime });
    press('Back');
    await page.pass(0);
    expect(screen.getByText('The disk cannot be written.')).toBeTruthy();
    expect(heading()).toBe('What this machine runs');
    press('Skip this step');
    await page.pass(0);
    runtime.failNext('settings.set', new AppError('STORE_READ_ONLY'));
    press('Go to chat without it');
    await page.pass(0);
    expect(screen.getByRole('textbox', { name: 'Message' })).toBeTruthy();
    page.close();
  });

  it('moves the focus to the heading of the next step', async () => {
    const page = await openPage({ runtime: fresh() });
    press('Go on');
    await page.pass(0);
    expect(document.activeElement?.textContent).toBe('Can Sotto hear you?');
    page.close();
  });
});

describe('privacy', () => {
  it('three sentences, three questions, all off until they are answered', async () => {
    verifies('UX-18');
    const runtime = fresh();
    const page = await openPage({ runtime });
    expect(screen.getByText(/is computed on this machine and stays on it/)).toBeTruthy();
    expect(screen.getByText(/Nothing leaves it unless you ask/)).toBeTruthy();
    expect(screen.getByText(/Each request that leaves is written down/)).toBeTruthy();
    const questions = screen.getAllByRole('switch');
    expect(questions.map((q) => [q.getAttribute('aria-checked'), q.textContent])).toEqual([
      ['false', 'No'],
      ['false', 'No'],
      ['false', 'No'],
    ]);
    expect(runtime.settings.get()).toMatchObject({ lookForUpdates: false, searchHub: false, lookForModels: false });
    for (const question of questions) {
      fireEvent.click(question);
      await page.pass(0);
    }
    expect(runtime.settings.get()).toMatchObject({ lookForUpdates: true, searchHub: true, lookForModels: true });
    page.close();
  });

  it('the answers can be changed in Settings', async () => {
    const runtime = createFakeRuntime();
    const page = await openPage({ runtime });
    page.key(',', { ctrlKey: true });
    await page.pass(0);
    fireEvent.click(screen.getByRole('switch', { name: 'Look for updates?' }));
    await page.pass(0);
    expect(runtime.settings.get().lookForUpdates).toBe(true);
    page.close();
  });
});
