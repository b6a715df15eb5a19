import { describe, expect, it } from 'vitest';
import { AppError } from '../../../src/shared/errors/appError.ts';
import { verifies } from '../../helpers/verifies.ts';
import { fireEvent, openPage, screen, within } from '../page.tsx';

async function settings(options: Parameters<typeof openPage>[0] = {}) {
  const page = await openPage(options);
  page.key(',', { ctrlKey: true });
  await page.pass(0);
  return page;
}

describe('settings', () => {
  it('a theme acts at once, shows its default and goes back to it', async () => {
    verifies('UX-94', 'UX-274', 'UX-08');
    const page = await settings();
    expect(document.documentElement.dataset['theme']).toBe('light');
    const group = screen.getByRole('group', { name: 'Theme' });
    expect(within(group).getByText('Default: As the system')).toBeTruthy();
    fireEvent.click(within(group).getByRole('radio', { name: 'Dark' }));
    await page.pass(0);
    expect(document.documentElement.dataset['theme']).toBe('dark');
    fireEvent.click(within(group).getByRole('button', { name: 'Reset to As the system' }));
    await page.pass(0);
    expect(document.documentElement.dataset['theme']).toBe('light');
    expect(within(group).getByRole<HTMLInputElement>('radio', { name: 'As the system' }).checked).toBe(true);
  });

  it('says under which licences it is given out', async () => {
    await settings();
    const about = screen.getByRole('heading', { name: 'About and licences' }).closest('section');
    expect(about?.textContent).toContain('Sotto 0.1.0, MIT licence');
    expect(about?.textContent).toContain('eSpeak NG, GPL-3.0-or-later');
  });

  it('a dark system with more contrast gets the dark high contrast', async () => {
    verifies('UX-274');
    await settings({ dark: true, contrast: true });
    expect(document.documentElement.dataset['theme']).toBe('contrast-dark');
  });

  it('what is chosen is what was stored, not what was pressed', async () => {
    verifies('UX-01', 'UX-06');
    const page = await settings();
    page.runtime.failNext('settings.set', new AppError('STORE_READ_ONLY'));
    const group = screen.getByRole('group', { name: 'Send a message with' });
    fireEvent.click(within(group).getByRole('radio', { name: 'Ctrl Enter' }));
    await page.pass(0);
    expect(within(group).getByRole<HTMLInputElement>('radio', { name: 'Enter' }).checked).toBe(true);
    expect(screen.getByText('The disk cannot be written.')).toBeTruthy();
  });

  it('the tones of talking are one switch, and the talk key names its form and why', async () => {
    const page = await settings();
    const tones = screen.getByRole('switch', { name: 'Tones' });
    expect(tones.getAttribute('aria-checked')).toBe('true');
    fireEvent.click(tones);
    await page.pass(0);
    expect(page.runtime.callsOf('settings.set')).toEqual([{ tones: false }]);
    expect(screen.getByText(/In the window only: Ctrl Alt Space\./)).toBeTruthy();
  });

  it('every key that works is listed', async () => {
    verifies('UX-94');
    await settings();
    const keys = [...screen.getByRole('region', { name: 'Shortcuts' }).querySelectorAll('kbd')].map((k) => k.textContent);
    for (const key of ['Ctrl Alt Space', 'Ctrl N', 'Esc', 'Ctrl ,', 'Alt ↑', 'Alt ↓', 'Shift F10', 'F6', 'F2', 'Delete'])
      expect(keys).toContain(key);
  });
});
