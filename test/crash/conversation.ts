import Database from 'better-sqlite3';
import { launch, type Sotto } from '../../e2e/helpers/launch.ts';
import { isAlive, partsOf } from '../../e2e/helpers/processes.ts';
import { en } from '../../src/renderer/texts/en.ts';

export type Victim = 'main' | 'runtime' | 'engine';

/** A message that stood on the screen: its place in the log, and its words. */
export type Shown = Map<number, string>;

const answerMs = 90_000;
const stopAfterMs = 60_000;

/** Letters and digits only: Markdown draws marks, and buttons stand beside the words. */
export const lettersOf = (text: string) => text.replaceAll(/[^\p{L}\p{N}]+/gu, '');

/**
 * One conversation in a real window that is used like a person uses it, and whose processes are killed.
 *
 * @param data    data folder with the model installed.
 * @param chance  0 ≤ x < 1, each call another.
 */
export async function createConversation(data: string, chance: () => number) {
  const shown: Shown = new Map();
  let sotto: Sotto = await launch(data);

  const box = () => sotto.page.getByRole('textbox', { name: en.composer.label });
  const growing = () => sotto.page.locator('article[data-message="growing"]');
  const cut = () => sotto.page.getByRole('group', { name: en.cut.title }).last();

  /** Notes what stands on the screen now. A page that is just dying has nothing more to tell. */
  async function look(): Promise<void> {
    const seen = await sotto.page
      .evaluate(() =>
        [...document.querySelectorAll<HTMLElement>('article[data-message]')].map((article) => [
          article.dataset['message'] ?? '',
          article.innerText,
        ]),
      )
      .catch(() => []);
    for (const [place = '', text = ''] of seen) if (/^\d+$/.test(place)) shown.set(Number(place), text);
  }

  async function until(what: string, reached: () => Promise<boolean>): Promise<void> {
    const began = performance.now();
    while (!(await reached().catch(() => false))) {
      if (performance.now() - began > answerMs) throw new Error(`waited in vain until ${what}`);
      await look();
      await pressTryAgain();
      await pause(50);
    }
  }

  /** Three deaths in quick succession stop the restarts until a person asks for one: they would press what is offered. */
  async function pressTryAgain(): Promise<void> {
    for (const name of [en.link.again, en.failed.retry]) {
      const button = sotto.page.getByRole('button', { name });
      if (await button.isVisible().catch(() => false)) await button.click({ timeout: 2_000 }).catch(() => {});
    }
  }

  async function send(text: string): Promise<void> {
    // The kill before may only now be noticed, and the breaker may then show its button in place of the field.
    await until('the field takes the words', async () => {
      await box().fill(text, { timeout: 2_000 });
      await box().press('Enter', { timeout: 2_000 });
      return true;
    });
  }

  /** Waits until nothing is being answered; decides what the person is asked to decide; stops an answer that has no end. */
  async function settle(): Promise<void> {
    const began = performance.now();
    await until('the chat is calm', async () => {
      if (await cut().isVisible()) {
        const choice = chance() < 0.5 ? en.cut.resume : en.cut.stop;
        await cut().getByRole('button', { name: choice }).click({ timeout: 5_000 });
        return false;
      }
      if ((await growing().count()) > 0) {
        if (performance.now() - began > stopAfterMs) await sotto.page.keyboard.press('Escape');
        return false;
      }
      return await box().isEditable();
    });
  }

  return {
    shown,

    /** Asks, and looks at the screen until `ms` have passed. */
    async ask(text: string, ms: number): Promise<void> {
      await send(text);
      const end = performance.now() + ms;
      while (performance.now() < end) {
        await look();
        await pause(25);
      }
    },

    /** Asks and waits for the whole answer: the proof that everything is back. */
    async askCalmly(text: string): Promise<void> {
      await settle();
      await send(text);
      await until(`"${text}" stands in the thread`, async () => {
        // While an answer goes on after a crash the words wait in the composer; a person sends them once more.
        if ((await growing().count()) === 0 && (await box().isEditable()) && (await box().inputValue()) === text)
          await box().press('Enter');
        return [...shown.values()].some((words) => words.includes(text));
      });
      const asked = Math.max(...[...shown].filter(([, words]) => words.includes(text)).map(([place]) => place));
      await settle();
      await until(`"${text}" is answered`, async () => {
        await look();
        if ([...shown.keys()].some((place) => place > asked)) return true;
        // The kill may have been noticed only by this question: a person presses what its card offers.
        const again = sotto.page.getByRole('button', { name: en.actions.again, exact: true }).last();
        if ((await growing().count()) === 0 && (await again.isVisible())) await again.click({ timeout: 5_000 });
        return false;
      });
    },

    /** Kills without a word. An engine that is not there yet cannot die: its runtime does instead. */
    async kill(victim: Victim): Promise<Victim> {
      const { runtime, engines } = partsOf(sotto.pid);
      const [engine] = engines;
      if (victim === 'main' || runtime === null) {
        await sotto.killMain();
        check(data, shown);
        sotto = await launch(data);
        await sotto.page.locator('[data-row]').first().click({ timeout: answerMs });
        return 'main';
      }
      const pid = victim === 'engine' && engine !== undefined ? engine : runtime;
      process.kill(pid, 'SIGKILL');
      await until('the killed process is gone', async () => !isAlive(pid));
      return pid === runtime ? 'runtime' : 'engine';
    },

    /** Ends the app like a person does, then looks for everything that was shown. Returns how many messages that were. */
    async end(): Promise<number> {
      await sotto.quit();
      check(data, shown);
      return shown.size;
    },

    /** What was there when it went wrong. */
    async evidence(): Promise<string> {
      await sotto.page.screenshot({ path: 'out/crash.png' }).catch(() => null);
      const words = await sotto.page.evaluate(() => document.body.innerText).catch(() => '');
      return [...sotto.said.slice(-40), '', words.slice(-1500), '(picture: out/crash.png)'].join('\n');
    },
  };
}

/** @throws Error naming the first message that was shown and is not stored, or what SQLite found damaged. */
export function check(data: string, shown: Shown): void {
  const db = new Database(`${data}/sotto.db`, { readonly: true });
  try {
    const verdict = db.pragma('integrity_check', { simple: true });
    if (verdict !== 'ok') throw new Error(`integrity_check: ${String(verdict)}`);
    const orphans = db.prepare('PRAGMA foreign_key_check').all();
    if (orphans.length > 0) throw new Error(`foreign_key_check: ${JSON.stringify(orphans)}`);
    // A turn that is over has exactly one end in the log, an open one none.
    const ends = "SELECT count(*) FROM events e WHERE e.turn_id = t.id AND e.type IN ('turn.completed', 'turn.failed', 'turn.cancelled')";
    const odd = db
      .prepare(`SELECT t.id, t.status, (${ends}) AS ends FROM turns t WHERE ends <> (t.status IN ('completed', 'failed', 'cancelled'))`)
      .all();
    if (odd.length > 0) throw new Error(`turns without exactly one end: ${JSON.stringify(odd)}`);
    const find = db.prepare<[number], { text: string }>('SELECT text FROM messages WHERE sequence = ?');
    for (const [place, words] of shown) {
      const stored = find.get(place);
      if (stored === undefined) throw new Error(`message ${place} was shown and is lost: ${words.slice(0, 200)}`);
      if (!lettersOf(words).includes(lettersOf(stored.text)))
        throw new Error(`message ${place} was shown as "${words}" and is stored as "${stored.text}"`);
    }
  } finally {
    db.close();
  }
}

const pause = (ms: number) => new Promise<void>((resume) => setTimeout(resume, ms));
