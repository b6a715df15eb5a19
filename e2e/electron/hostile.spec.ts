import { chat } from '../helpers/chat.ts';
import { hostileAnswer } from '../helpers/hostile.ts';
import { listen } from '../helpers/listener.ts';
import { seed } from '../helpers/template.ts';
import { expect, proves, test } from '../helpers/test.ts';

test('a hostile answer runs nothing, loads nothing and leads nowhere', proves('RB-04', 'RB-05'), async ({ open, data }) => {
  const outside = await listen();
  await seed(data, hostileAnswer(outside.url));
  const { app, page, said } = await open(data);
  await page.addInitScript(() => {
    const violations: string[] = [];
    Reflect.set(window, 'violations', violations);
    document.addEventListener('securitypolicyviolation', (event) => violations.push(`${event.effectiveDirective} ${event.blockedURI}`));
  });
  // From its first script on: what a page tries while it starts counts too.
  await page.reload();
  await app.evaluate(({ shell }) => {
    const left: string[] = [];
    Reflect.set(globalThis, 'left', left);
    shell.openExternal = async (url) => void left.push(url);
  });
  const c = chat(page);
  await c.openChat('Seeded chat');
  const answer = c.answers.first();
  await expect(answer).toContainText('Before.');
  await expect(answer).toContainText('After.');
  // It is drawn as Markdown now, not as the plain text that stands there until that is loaded.
  await expect(answer.getByRole('link', { name: 'good', exact: true })).toBeVisible();

  // What may do harm is not there at all, or is there as the text that it is.
  const found = await answer.evaluate((element) => ({
    elements: [
      ...element.querySelectorAll('script, iframe, object, embed, style, link, meta, base, form, video, audio, math, svg image, img'),
    ].map(({ outerHTML }) => outerHTML.slice(0, 100)),
    handlers: [...element.querySelectorAll('*')].flatMap((one) => one.getAttributeNames().filter((name) => name.startsWith('on'))),
    links: [...element.querySelectorAll('a')].map((one) => one.getAttribute('href')),
    covers: [...element.querySelectorAll('*')].filter((one) => getComputedStyle(one).position === 'fixed').length,
  }));
  expect(found.elements).toEqual([]);
  expect(found.handlers).toEqual([]);
  expect(found.covers).toBe(0);
  for (const link of found.links) expect(link).toMatch(/^(https?:\/\/|mailto:)/);
  expect(found.links).toContain('https://example.com/page');

  // A person presses everything that can be pressed in it.
  for (const part of await answer.locator('a, summary, [role=button]').all()) {
    await part.click({ timeout: 2_000, noWaitAfter: true }).catch(() => {});
  }
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  expect(await page.evaluate(() => Reflect.get(window, 'hacked') as unknown)).toBeUndefined();
  expect(outside.hits).toEqual([]);
  expect(page.url()).toBe('app://sotto/');
  expect(await page.evaluate(() => Reflect.get(window, 'violations') as string[])).toEqual([]);
  expect(said.filter((line) => line.startsWith('page error'))).toEqual([]);
  for (const left of await app.evaluate(() => Reflect.get(globalThis, 'left') as string[])) expect(left).toMatch(/^(https|mailto):/);
  await outside.close();
});

test('the rules of the page hold even for markup that got in', proves('RB-04', 'RB-05'), async ({ sotto: { page } }) => {
  const outside = await listen();
  await expect(page.getByRole('textbox', { name: 'Message' })).toBeVisible();
  // As if the sanitiser had let everything through: the second wall alone.
  const violations = await page.evaluate(async (html) => {
    const seen: string[] = [];
    document.addEventListener('securitypolicyviolation', (event) => seen.push(event.effectiveDirective));
    const box = document.createElement('div');
    document.body.append(box);
    box.innerHTML = html;
    const script = document.createElement('script');
    script.textContent = "window.hacked = 'inline'";
    box.append(script);
    for (const element of box.querySelectorAll<HTMLElement>('[onclick]')) element.click();
    for (const form of box.querySelectorAll('form')) form.requestSubmit();
    await new Promise((resolve) => setTimeout(resolve, 500));
    box.remove();
    return [...new Set(seen)];
  }, hostileAnswer(outside.url));
  expect(violations).toEqual(expect.arrayContaining(['img-src', 'script-src-attr', 'script-src-elem', 'media-src', 'form-action']));
  expect(await page.evaluate(() => Reflect.get(window, 'hacked') as unknown)).toBeUndefined();
  expect(outside.hits).toEqual([]);
  expect(page.url()).toBe('app://sotto/');
  await outside.close();
});
