import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { verifies } from '../../helpers/verifies.ts';

const styles = path.resolve(import.meta.dirname, '../../../src/renderer/styles');
const source = readFileSync(path.join(styles, 'tokens.css'), 'utf8');

type Theme = Record<string, string>;

/** The custom properties of one block of the tokens file. */
function block(selector: string): Theme {
  const start = source.indexOf(`${selector} {`);
  const body = source.slice(source.indexOf('{', start) + 1, source.indexOf('}', start));
  return Object.fromEntries([...body.matchAll(/--([\w-]+):\s*([^;]+);/g)].map((m) => [m[1] ?? '', (m[2] ?? '').trim()]));
}

const themes = {
  light: block(':root[data-theme="light"]'),
  dark: block(':root[data-theme="dark"]'),
  'contrast-light': block(':root[data-theme="contrast-light"]'),
  'contrast-dark': block(':root[data-theme="contrast-dark"]'),
};

/** @source WCAG 2.2, relative luminance and contrast ratio. */
function luminance(hex: string): number {
  const channels = [1, 3, 5].map((at) => {
    const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * (channels[0] ?? 0) + 0.7152 * (channels[1] ?? 0) + 0.0722 * (channels[2] ?? 0);
}

function contrast(a: string, b: string): number {
  const [bright, dark] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return ((bright ?? 0) + 0.05) / ((dark ?? 0) + 0.05);
}

const grounds = ['page', 'surface', 'raised', 'sunken', 'hover', 'accent-soft'];
const least = (theme: Theme, token: string, over: readonly string[]) =>
  Math.min(...over.map((ground) => contrast(theme[token] ?? '#000000', theme[ground] ?? '#000000')));
const down = (value: number) => Math.floor(value * 10 + 0.05) / 10;

describe('colours', () => {
  it('have at least the contrasts of the table, in light and dark', () => {
    verifies('UX-274', 'UX-126');
    const table: [token: string, over: readonly string[], light: number, dark: number][] = [
      ['text', [...grounds, 'danger-soft', 'warn-soft', 'ok-soft'], 14.2, 11.3],
      ['text-2', [...grounds, 'danger-soft', 'warn-soft', 'ok-soft'], 6.5, 6.5],
      ['text-3', grounds, 4.8, 4.8],
      ['accent', grounds, 5.4, 7.2],
      ['on-accent', ['accent'], 6.4, 10.0],
      ['danger', [...grounds, 'danger-soft'], 5.1, 5.3],
      ['warn', [...grounds, 'warn-soft'], 4.7, 7.6],
      ['ok', [...grounds, 'ok-soft'], 5.0, 7.0],
    ];
    for (const [token, over, light, dark] of table) {
      // A tenth of room: the table rounds.
      expect(least(themes.light, token, over), `${token}, light`).toBeGreaterThanOrEqual(
        Math.min(light - 0.1, Math.max(4.5, light - 0.35)),
      );
      expect(least(themes.dark, token, over), `${token}, dark`).toBeGreaterThanOrEqual(Math.min(dark - 0.1, Math.max(4.5, dark - 0.35)));
      expect(least(themes.light, token, over)).toBeGreaterThanOrEqual(4.5);
      expect(least(themes.dark, token, over)).toBeGreaterThanOrEqual(4.5);
    }
    for (const theme of [themes.light, themes.dark])
      expect(least(theme, 'control', ['page', 'surface', 'raised', 'sunken'])).toBeGreaterThanOrEqual(3);
  });

  it('of plots are 3:1 over surface and sunken; those of code 4.5:1 on sunken', () => {
    verifies('UX-274', 'UX-126');
    for (const theme of [themes.light, themes.dark]) {
      for (const name of ['answer', 'listen', 'speak', 'find', 'who', 'others'])
        expect(down(least(theme, `plot-${name}`, ['surface', 'sunken'])), name).toBeGreaterThanOrEqual(3);
      for (const name of ['text-2', 'plot-speak', 'ok', 'warn', 'accent', 'plot-who', 'danger'])
        expect(least(theme, name, ['sunken']), `code ${name}`).toBeGreaterThanOrEqual(4.5);
    }
  });

  it('in high contrast are black or white where text, lines and controls are', () => {
    verifies('UX-274');
    const [light, dark] = [themes['contrast-light'], themes['contrast-dark']];
    for (const token of ['text', 'text-2', 'text-3', 'line', 'control']) {
      expect(light[token]).toBe('#000000');
      expect(dark[token]).toBe('#ffffff');
    }
    for (const soft of ['accent-soft', 'danger-soft', 'warn-soft', 'ok-soft']) {
      expect(light[soft]).toBe(light['page']);
      expect(dark[soft]).toBe(dark['page']);
    }
    expect(light['soft-edge']).toBe('2px');
  });

  it('are the same names in every theme, and no file but the tokens names a colour', () => {
    verifies('UX-274');
    const names = Object.keys(themes.light).sort();
    for (const theme of Object.values(themes)) expect(Object.keys(theme).sort()).toEqual(names);
    for (const file of ['app.css', 'markdown.css', 'fonts.css'])
      expect(readFileSync(path.join(styles, file), 'utf8').match(/#[0-9a-f]{3,8}\b|\brgba?\(|\boklch\(|\bhsl\(/gi), file).toBeNull();
    expect(source).toContain('--color-*: initial');
  });
});

describe('steps', () => {
  const all = (prefix: RegExp) => [...source.matchAll(prefix)].map((m) => m[1]);

  it('of type are the seven of the table, in rem, with weights 400, 500, 600', () => {
    verifies('UX-271');
    const sizes = Object.fromEntries(
      [...source.matchAll(/--text-([a-z]+): ([\d.]+)rem;\s+--text-\1--line-height: ([\d.]+)rem;\s+--text-\1--font-weight: (\d+)/g)].map(
        (m) => [m[1], [Number(m[2]) * 16, Number(m[3]) * 16, Number(m[4])]],
      ),
    );
    expect(sizes).toEqual({
      display: [28, 36, 600],
      title: [20, 28, 600],
      heading: [15, 22, 600],
      body: [15, 24, 400],
      ui: [14, 20, 400],
      small: [13, 18, 400],
      // Code is "small" with a line of 20.
      code: [13, 20, 400],
      micro: [12, 16, 500],
    });
    expect(all(/--font-weight-[a-z]+: (\d+)/g)).toEqual(['400', '500', '600']);
    expect(source).toContain('--font-sans: system-ui, "Segoe UI Variable Text", "Segoe UI", "Noto Sans", "Liberation Sans", sans-serif;');
    expect(source).toContain('--font-mono: ui-monospace, "SF Mono", "Cascadia Mono", "DejaVu Sans Mono", monospace;');
  });

  it('the shipped family has its files and its licence', () => {
    verifies('UX-271');
    const fonts = readFileSync(path.join(styles, 'fonts.css'), 'utf8');
    const files = [...fonts.matchAll(/url\("([^"]+)"\)/g)].map((m) => path.resolve(styles, m[1] ?? ''));
    expect(files.length).toBeGreaterThan(3);
    for (const file of files) expect(existsSync(file), file).toBe(true);
    expect(fonts).not.toMatch(/https?:/);
    expect(readFileSync(path.resolve(styles, '../../../resources/fonts/NotoSans-LICENSE.txt'), 'utf8')).toContain('SIL Open Font License');
  });

  it('of space, radius and shadow are those of the page and no others', () => {
    verifies('UX-272', 'UX-273');
    const numbers = [...source.matchAll(/--spacing-(\d+): ([\d.]+)rem/g)].map((m) => [Number(m[1]), Number(m[2]) * 16]);
    expect(numbers).toEqual([0, 4, 8, 12, 16, 24, 32, 48].map((px) => [px, px]));
    const named = Object.fromEntries([...source.matchAll(/--spacing-([a-z][\w-]*): ([\d.]+)rem/g)].map((m) => [m[1], Number(m[2]) * 16]));
    expect(named).toEqual({
      target: 24,
      control: 32,
      primary: 36,
      row: 36,
      'row-2': 52,
      table: 32,
      rail: 196,
      'rail-narrow': 56,
      list: 264,
      detail: 380,
      thread: 720,
      column: 560,
      talk: 44,
      'talk-hero': 72,
      captions: 40,
      strip: 28,
    });
    expect(source).toContain('--spacing: initial;');
    expect(all(/--radius-[a-z]+: (\w+);/g)).toEqual(['4px', '6px', '10px', '9999px']);
    expect(themes.light['shadow-menu']).toBe('0 4px 16px rgb(0 0 0 / 10%)');
    expect(themes.dark['shadow-menu']).toBe('0 4px 16px rgb(0 0 0 / 45%)');
    expect(themes.light['shadow-dialog']).toBe('0 12px 40px rgb(0 0 0 / 18%)');
    expect(themes.dark['shadow-dialog']).toBe('0 12px 40px rgb(0 0 0 / 60%)');
    // In dark a higher thing is also lighter.
    expect(luminance(themes.dark['raised'] ?? '')).toBeGreaterThan(luminance(themes.dark['surface'] ?? ''));
    expect(luminance(themes.dark['surface'] ?? '')).toBeGreaterThan(luminance(themes.dark['page'] ?? ''));
  });

  it('of motion are 120, 160 and 200 ms in, three quarters of it out, and none when reduced', () => {
    verifies('UX-276');
    const css = readFileSync(path.join(styles, 'app.css'), 'utf8');
    const times = [...css.matchAll(/\b(\d+)ms\b/g)].map((m) => Number(m[1]));
    expect(new Set(times)).toEqual(new Set([120, 160, 200, 150]));
    expect(css).toMatch(
      /move-menu \{[^}]+160ms var\(--ease-in-place\);\s+\}\s+&\[data-state="closed"\] \{\s+animation: vanish 120ms var\(--ease-away\)/,
    );
    expect(css).toMatch(
      /move-drawer \{[^}]+200ms var\(--ease-in-place\);\s+\}\s+&\[data-state="closed"\] \{\s+animation: vanish 150ms var\(--ease-away\)/,
    );
    expect(source).toContain('--ease-in-place: cubic-bezier(0.2, 0, 0, 1);');
    expect(source).toContain('--ease-away: cubic-bezier(0.4, 0, 1, 1);');
    expect(css).toMatch(/prefers-reduced-motion: reduce\)[\s\S]+animation-duration: 0s !important/);
    expect(css).not.toMatch(/infinite/);
  });
});

it('the frame before the scripts has the colours of the dark theme', () => {
  const frame = block(':root:not([data-theme])');
  expect(Object.keys(frame)).toEqual(['page', 'sunken', 'line', 'text']);
  expect(themes.dark).toMatchObject(frame);
});
