import { expect, type Locator, type Page } from '@playwright/test';

/** The chat as a person uses it: by names and roles only. */
export function chat(page: Page) {
  const composer = page.getByRole('textbox', { name: 'Message' });
  const thread = page.getByRole('log', { name: 'Conversation' });
  const answers = thread.getByRole('article', { name: /^Message by Sotto/ });
  return {
    composer,
    thread,
    answers,
    /** The answer that is being written. */
    growing: thread.locator('[aria-busy=true]'),
    questions: thread.getByRole('article', { name: /^Message by You/ }),
    stop: page.getByRole('button', { name: 'Stop', exact: true }),
    /** Waits until the page may send. */
    async ready(): Promise<void> {
      await expect(composer).toBeVisible();
      await expect(page.getByText('No model is on this machine yet.')).toBeHidden();
    },
    async newChat(): Promise<void> {
      await page.getByRole('button', { name: 'New chat', exact: true }).first().click();
      await expect(answers).toHaveCount(0);
    },
    async send(text: string): Promise<void> {
      await composer.fill(text);
      await composer.press('Enter');
      await expect(composer).toHaveValue('');
    },
    /** Waits for the end of the newest answer and gives its words. */
    async answer(): Promise<string> {
      await expect(thread.locator('[aria-busy=true]')).toHaveCount(0, { timeout: 90_000 });
      const last = answers.last();
      await expect(last.getByRole('button', { name: 'Copy', exact: true })).toBeVisible();
      return last.innerText();
    },
    async openChat(title: string | RegExp): Promise<void> {
      await page.getByRole('list', { name: 'Chats' }).getByRole('button', { name: title }).first().click();
    },
    async chatTitles(): Promise<string[]> {
      return page.getByRole('list', { name: 'Chats' }).getByRole('button').allInnerTexts();
    },
  };
}

/** Waits until an answer grows, and gives what stands there. */
export async function growing(answer: Locator, least = 1): Promise<string> {
  await expect.poll(async () => (await answer.innerText().catch(() => '')).length, { timeout: 60_000 }).toBeGreaterThanOrEqual(least);
  return answer.innerText();
}
