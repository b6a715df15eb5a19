import { render } from '@testing-library/react';
import { Tooltip } from 'radix-ui';
import { I18nextProvider } from 'react-i18next';
import { describe, expect, it, vi } from 'vitest';
import { foldedLines } from '../../../src/renderer/features/chat/CodeBlock.tsx';
import { Markdown } from '../../../src/renderer/features/chat/Markdown.tsx';
import { createServices, ServicesProvider } from '../../../src/renderer/lib/services.tsx';
import { createTexts } from '../../../src/renderer/lib/texts.ts';
import { createFakeClock } from '../../helpers/fakeClock.ts';
import { verifies } from '../../helpers/verifies.ts';
import { createFakeRuntime } from '../fakeRuntime.ts';
import { fireEvent, screen, within } from '../page.tsx';

function show(text: string, kind: 'app' | 'web' = 'web') {
  const runtime = createFakeRuntime();
  const services = createServices({ transport: { ...runtime.transport, kind }, clock: createFakeClock() });
  const copied: string[] = [];
  Object.defineProperty(navigator, 'clipboard', { configurable: true, value: { writeText: async (t: string) => void copied.push(t) } });
  const view = render(
    <I18nextProvider i18n={createTexts()}>
      <ServicesProvider services={services}>
        <Tooltip.Provider>
          <Markdown text={text} growing={false} />
        </Tooltip.Provider>
      </ServicesProvider>
    </I18nextProvider>,
  );
  return { ...view, copied };
}

describe('hostile text', () => {
  it('HTML stays the text it is: no element of it reaches the page', () => {
    verifies('RB-04');
    const { container } = show(
      'Hi <script>window.hit = 1</script> <img src=x onerror="window.hit=1"> <svg onload="window.hit=1"><a xlink:href="javascript:1">x</a></svg> <style>*{display:none}</style> <iframe src="//evil.example"></iframe>\n\n<div onclick="window.hit=1">block</div>\n\n<form action="//evil.example"><input name="q"></form>',
    );
    expect(container.querySelectorAll('script, img, svg:not(.lucide), style, iframe, form, object, embed, link, meta')).toHaveLength(0);
    for (const element of container.querySelectorAll('*')) for (const name of element.getAttributeNames()) expect(name).not.toMatch(/^on/);
    expect(container.textContent).toContain('<script>window.hit = 1</script>');
    expect('hit' in window).toBe(false);
  });

  it('only web and mail addresses are links, in every disguise', () => {
    verifies('RB-04');
    const { container } = show(
      [
        '[a](javascript:alert(1))',
        '[b](JaVaScRiPt:alert(1))',
        '[c](data:text/html;base64,PHNjcmlwdD4=)',
        '[d](vbscript:x)',
        '[e](file:///etc/passwd)',
        '[f](&#106;avascript:alert(1))',
        '[g](app://sotto/index.html)',
        '[h](//evil.example/x)',
        '[i](https://user:pw@evil.example/)',
        '[j](\u0001javascript:alert(1))',
        '<javascript:alert(1)>',
        '[good](https://example.org/help)',
        '[mail](mailto:a@example.org)',
      ].join('\n\n'),
    );
    const links = [...container.querySelectorAll('a')].map((a) => a.href);
    expect(links).toEqual(['https://example.org/help', 'mailto:a@example.org']);
    for (const a of container.querySelectorAll('a')) {
      expect(a.target).toBe('_blank');
      expect(a.rel).toBe('noopener noreferrer');
    }
    // A link says where it leads before it is pressed.
    expect(container.textContent).toContain('good (example.org)');
  });

  it('a picture is never loaded: its place names the host and gives the address', () => {
    verifies('RB-05', 'UX-112');
    const { container, copied } = show(
      '![the plan](https://evil.example/p.png?secret=42)\n\n![x](data:image/svg+xml,<svg/onload=alert(1)>)',
    );
    expect(container.querySelector('img, picture, source, video, audio')).toBeNull();
    expect(container.querySelector('[style*="url("]')).toBeNull();
    expect(screen.getByText('Picture at evil.example')).toBeTruthy();
    expect(screen.getByText('A picture without a usable address')).toBeTruthy();
    fireEvent.click(screen.getByRole('button', { name: 'Copy the address' }));
    expect(copied).toEqual(['https://evil.example/p.png?secret=42']);
  });

  it('diagram and formula text stays text', () => {
    verifies('RB-04');
    const { container } = show('```mermaid\ngraph TD; A-->B; click A "javascript:alert(1)"\n```\n\n$$\\href{javascript:alert(1)}{x}$$');
    expect(container.querySelector('svg:not(.lucide), math, .katex')).toBeNull();
    expect(container.textContent).toContain('click A');
    expect(container.textContent).toContain('\\href');
  });
});

describe('headings', () => {
  it('go on from the title of the page, whatever depth an answer begins with', () => {
    verifies('UX-126');
    const { container } = show('### First\n\n```md\n# no heading\n```\n\n##### Deeper\n\n### Second');
    expect([...container.querySelectorAll('h1, h2, h3, h4, h5, h6')].map((h) => `${h.tagName} ${h.textContent}`)).toEqual([
      'H2 First',
      'H3 Deeper',
      'H2 Second',
    ]);
  });
});

describe('code', () => {
  it('has its language, can be copied as it is, wrapped and saved', () => {
    verifies('UX-35');
    const { container, copied } = show('```python\nprint("a < b")\n\n```');
    expect(container.querySelector('figcaption')?.textContent).toBe('python');
    fireEvent.click(screen.getByRole('button', { name: 'Copy the code' }));
    expect(copied).toEqual(['print("a < b")\n']);
    fireEvent.click(screen.getByRole('button', { name: 'Wrap long lines' }));
    expect(container.querySelector('pre')?.className).toContain('whitespace-pre-wrap');
    const saved = vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(() => {});
    URL.createObjectURL = () => 'blob:x';
    URL.revokeObjectURL = () => {};
    fireEvent.click(screen.getByRole('button', { name: 'Save as a file' }));
    expect(saved).toHaveBeenCalledTimes(1);
    saved.mockRestore();
  });

  it('in the app, where downloads are refused, no button offers one', () => {
    verifies('UX-35', 'UX-01');
    show('```python\nx = 1\n```', 'app');
    expect(screen.queryByRole('button', { name: 'Save as a file' })).toBeNull();
    expect(screen.getByRole('button', { name: 'Copy the code' })).toBeTruthy();
  });

  it('is coloured by tokens of the theme, and its text is not changed by it', async () => {
    verifies('UX-35', 'UX-274');
    const code = 'const a = "b"; // c\nfunction f() {\n  return `${a}`;\n}';
    const { container } = show(`\`\`\`ts\n${code}\n\`\`\``);
    await vi.waitFor(() => expect(container.querySelectorAll('code span[style]').length).toBeGreaterThan(3), { timeout: 10_000 });
    expect(container.querySelector('code')?.textContent).toBe(code);
    for (const span of container.querySelectorAll<HTMLElement>('code span[style]')) expect(span.style.color).toMatch(/^var\(--code-/);
  });

  it('a language nobody knows is shown plain', () => {
    verifies('UX-35');
    const { container } = show('```klingon\nnuqneH\n```');
    expect(container.querySelector('code')?.textContent).toBe('nuqneH');
  });

  it('a block of more than 400 lines is folded, copied whole, and shown whole on demand', () => {
    verifies('UX-35', 'UX-101');
    const code = Array.from({ length: foldedLines + 120 }, (_, i) => `line ${i + 1}`).join('\n');
    const { container, copied } = show(`\`\`\`text\n${code}\n\`\`\``);
    expect(container.querySelector('code')?.textContent?.split('\n')).toHaveLength(foldedLines);
    fireEvent.click(screen.getByRole('button', { name: 'Copy the code' }));
    expect(copied).toEqual([code]);
    fireEvent.click(screen.getByRole('button', { name: 'Show all 520 lines' }));
    expect(container.querySelector('code')?.textContent?.split('\n')).toHaveLength(520);
  });

  it('the fence of a growing block needs no end', () => {
    verifies('UX-28');
    const { container, rerender } = show('```js\nconst a = 1');
    expect(container.querySelector('code')?.textContent).toBe('const a = 1');
    rerender(<div />);
  });
});

describe('tables', () => {
  it('copy as CSV, with what CSV needs quoted', () => {
    verifies('UX-35');
    const { container, copied } = show('| Name | Price |\n| --- | ---: |\n| "A", big | 1,705.20 |\n| B | 3 |');
    const table = within(container).getByRole('table');
    expect(within(table).getAllByRole('columnheader')).toHaveLength(2);
    fireEvent.click(screen.getByRole('button', { name: 'Copy as CSV' }));
    expect(copied).toEqual(['Name,Price\n"""A"", big","1,705.20"\nB,3']);
  });
});
