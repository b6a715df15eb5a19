import type { Page } from 'playwright-core';
import { signInReply } from '../../src/runtime/http/signIn.ts';
import { AppError } from '../../src/shared/errors/appError.ts';
import { downloadJob, type FakeRuntime, noModel, usage } from '../../test/renderer/fakeRuntime.ts';
import { longCode, report } from './texts.ts';

export type Stage = {
  readonly page: Page;
  readonly runtime: FakeRuntime;
  readonly server: { dropAll(): void };
  readonly narrow: boolean;
  open(): Promise<unknown>;
};

/** One picture: what is set up before the page is opened, what is done on it, and what must be seen before it is taken. */
export type Scene = {
  readonly name: string;
  readonly width?: number /** The browser itself complains about what the scene does. */;
  readonly loud?: boolean;
  play(stage: Stage): Promise<void>;
};

const day = (n: number, time: string) => `2026-05-0${n}T${time}:00.000Z`;

/** A list as a person has it after some days. */
function someChats(runtime: FakeRuntime) {
  runtime.chat('Words for a birthday card', [['Write a birthday card for my aunt.', 'Dear Aunt Clara, …']], '2026-04-20T08:12:00.000Z');
  runtime.chat('Difference between a pump and a compressor', [['What is the difference?', 'A pump moves liquids.']], day(1, '10:00'));
  runtime.chat('Holiday plan for the first two weeks of August', [['Plan two weeks.', 'Here is a plan.']], day(2, '17:20'));
  runtime.chat('Tax letter', [['Explain this letter from the tax office.', 'It asks for two papers.']], day(3, '08:05'));
  return runtime.chat(
    'Boiler service',
    [
      [
        'When was the boiler last serviced, and when is the next service due?',
        'It was serviced on **3 May 2025**. Most makers ask for one service a year, so the next one is due in **May 2026**.\n\nBefore you call, have these at hand:\n\n- the serial number on the front plate\n- the date of the last service\n- what you have noticed since then',
      ],
    ],
    day(3, '09:40'),
  );
}

async function openChat(stage: Stage, title: string): Promise<void> {
  const { page } = stage;
  if (stage.narrow) await page.getByRole('button', { name: 'Show the chats' }).click();
  await page.getByRole('button', { name: title, exact: true }).click();
  await page.getByRole('heading', { name: title, level: 1 }).waitFor();
}

async function showList(stage: Stage): Promise<void> {
  if (stage.narrow) await stage.page.getByRole('button', { name: 'Show the chats' }).click();
}

/** Sends a question and gives back the turn that runs. */
async function ask(stage: Stage, text: string) {
  await stage.page.getByRole('textbox', { name: 'Message' }).fill(text);
  await stage.page.keyboard.press('Enter');
  return stage.runtime.started();
}

export const scenes: readonly Scene[] = [
  {
    name: 'chat-empty',
    async play(stage) {
      await stage.open();
      await stage.page.getByText('For example').waitFor();
    },
  },
  {
    name: 'chat-loading',
    async play(stage) {
      someChats(stage.runtime);
      stage.runtime.hold('turns.history');
      await stage.open();
      await openChat(stage, 'Boiler service');
      await stage.page.clock.runFor(400);
    },
  },
  {
    name: 'chat-model-loading',
    async play(stage) {
      someChats(stage.runtime);
      await stage.open();
      const turn = await ask(stage, 'Why does my radiator gurgle?');
      stage.runtime.language.set({ ...stage.runtime.language.get(), state: 'loading', fraction: 0.43 });
      turn.loading(0.43);
      await stage.page.getByText('Loading the model, 43').first().waitFor();
    },
  },
  {
    name: 'chat-reading',
    async play(stage) {
      someChats(stage.runtime);
      await stage.open();
      const turn = await ask(stage, 'Summarise the letter above in three sentences.');
      turn.reading(1204, 3800, 4100);
      await stage.page.getByText('Reading 1,204 of 3,800').first().waitFor();
    },
  },
  {
    name: 'chat-streaming',
    async play(stage) {
      someChats(stage.runtime);
      await stage.open();
      const turn = await ask(stage, 'How do I bleed a radiator?');
      turn.thinking();
      turn.say(
        'Bleeding a radiator lets trapped air out, so that hot water fills it again.\n\n1. **Turn the heating off** and let it cool.\n2. Hold a cloth under the valve and open it a quarter turn.\n3. Close it as soon as water ',
      );
      await stage.page.getByText('as soon as water').waitFor();
    },
  },
  {
    name: 'chat-full',
    async play(stage) {
      someChats(stage.runtime);
      stage.runtime.chat(
        'Report of heating costs',
        [['Compare the last three winters and give me a script that sums them up.', report]],
        day(3, '09:41'),
      );
      await stage.open();
      await openChat(stage, 'Report of heating costs');
      await stage.page.locator('code span[style]').first().waitFor();
      await stage.page.getByRole('log').evaluate((log) => log.scrollTo(0, 0));
    },
  },
  {
    name: 'chat-full-end',
    async play(stage) {
      someChats(stage.runtime);
      stage.runtime.chat(
        'Report of heating costs',
        [['Compare the last three winters and give me a script that sums them up.', report]],
        day(3, '09:41'),
      );
      await stage.open();
      await openChat(stage, 'Report of heating costs');
      await stage.page.locator('code span[style]').first().waitFor();
    },
  },
  {
    name: 'chat-long-code',
    async play(stage) {
      stage.runtime.chat('Long file', [['Write it all out.', longCode]], day(3, '09:41'));
      await stage.open();
      await openChat(stage, 'Long file');
      await stage.page.getByRole('button', { name: /Show all 520 lines/ }).waitFor();
    },
  },
  {
    name: 'chat-details',
    async play(stage) {
      someChats(stage.runtime);
      await stage.open();
      await openChat(stage, 'Boiler service');
      await stage.page.getByRole('button', { name: 'Details' }).click();
      await stage.page.getByRole('button', { name: 'More', exact: true }).click();
      await stage.page.getByText('tokens per second').waitFor();
    },
  },
  {
    name: 'chat-retried',
    async play(stage) {
      const id = someChats(stage.runtime);
      await stage.open();
      await openChat(stage, 'Boiler service');
      await stage.page.getByRole('button', { name: 'Try again' }).click();
      const turn = await stage.runtime.started();
      turn.say('The plate on the front says **3 May 2025**. The next service is due a year later.');
      turn.complete({ usage: { ...usage, firstTokenMs: 410 } });
      await stage.page.getByRole('button', { name: '1 earlier answer' }).click();
      await stage.page.getByText('The plate on the front').waitFor();
      if (id === undefined) throw new Error('no chat');
    },
  },
  {
    name: 'chat-error',
    async play(stage) {
      someChats(stage.runtime);
      await stage.open();
      const turn = await ask(stage, 'Write a long story about a lighthouse.');
      turn.say('Once upon a time, at the edge of a grey sea, ');
      turn.fail('OUT_OF_MEMORY', { stage: 'decode' });
      await stage.page.getByText('out of memory').waitFor();
    },
  },
  {
    name: 'chat-stopped',
    async play(stage) {
      someChats(stage.runtime);
      await stage.open();
      const turn = await ask(stage, 'Tell me everything about steam engines.');
      turn.say('Steam engines turn heat into motion. Water boils in a closed vessel, and ');
      await stage.page.getByText('closed vessel').waitFor();
      await stage.page.keyboard.press('Escape');
      await stage.page.getByText('You stopped this answer.').waitFor();
    },
  },
  {
    name: 'chat-interrupted',
    async play(stage) {
      const id = stage.runtime.chat('Steam engines', [], day(3, '09:41'));
      const turn = stage.runtime.ask(id, 'Tell me everything about steam engines.');
      turn.say('Steam engines turn heat into motion. Water boils in a closed vessel, and the steam');
      turn.interrupt();
      await stage.open();
      await openChat(stage, 'Steam engines');
      await stage.page.getByText('This answer was cut off.').first().waitFor();
    },
  },
  {
    name: 'chat-stalled',
    async play(stage) {
      someChats(stage.runtime);
      await stage.open();
      const turn = await ask(stage, 'Why does my radiator gurgle?');
      turn.reading(600, 3800, 92_000);
      await stage.page.getByText('Reading 600').first().waitFor();
      await stage.page.clock.runFor(21_000);
      await stage.page.getByText('No progress for').waitFor();
    },
  },
  {
    name: 'chat-new-below',
    async play(stage) {
      stage.runtime.chat('Report of heating costs', [['Compare the last three winters.', report]], day(3, '09:41'));
      await stage.open();
      await openChat(stage, 'Report of heating costs');
      const turn = await ask(stage, 'And the summer?');
      turn.say('In summer the boiler only heats water.');
      await stage.page.getByText('only heats water').waitFor();
      await stage.page.getByRole('log').evaluate((log) => log.scrollTo(0, 0));
      await stage.page.clock.runFor(100);
      const pill = stage.page.getByRole('button', { name: 'New text below' });
      // The scroll is noticed a frame later; text goes on as it does from a model.
      for (const word of [' So', ' the', ' bill', ' stays', ' small', ' until', ' autumn.']) {
        turn.say(word);
        await stage.page.clock.runFor(100);
        if (await pill.isVisible()) break;
      }
      await pill.waitFor();
    },
  },
  {
    name: 'chat-long-paste',
    async play(stage) {
      someChats(stage.runtime);
      await stage.open();
      await stage.page.getByRole('textbox', { name: 'Message' }).fill('The quick brown fox jumps over the lazy dog. '.repeat(1500));
      await stage.page.getByText('67,500 characters').waitFor();
    },
  },
  {
    name: 'chat-too-long',
    async play(stage) {
      await stage.open();
      await stage.page.getByRole('textbox', { name: 'Message' }).fill('The quick brown fox jumps over the lazy dog. '.repeat(28_000));
      await stage.page.getByText('One message holds at most').waitFor();
    },
  },
  {
    name: 'chat-hostile',
    async play(stage) {
      const hostile =
        'Look: <script>alert(1)</script> and <img src="https://evil.example/x.png" onerror="alert(1)">\n\n![The plan](https://evil.example/secret.png?q=42)\n\n[Click here](javascript:alert(1)) or [this page](https://example.org/help) or <https://example.org>.';
      stage.runtime.chat('Hostile text', [['Show me.', hostile]], day(3, '09:41'));
      await stage.open();
      await openChat(stage, 'Hostile text');
      await stage.page.getByText('Picture at evil.example').waitFor();
    },
  },
  {
    name: 'model-none',
    async play(stage) {
      stage.runtime.language.set(noModel);
      await stage.open();
      await stage.page.getByRole('button', { name: /^Get 1.1/ }).waitFor();
    },
  },
  {
    name: 'model-downloading',
    async play(stage) {
      stage.runtime.language.set(noModel);
      stage.runtime.downloads.set({ jobs: [downloadJob()] });
      await stage.open();
      await stage.page.getByRole('button', { name: 'Pause' }).waitFor();
    },
  },
  {
    name: 'model-failed',
    async play(stage) {
      stage.runtime.language.set(noModel);
      stage.runtime.downloads.set({
        jobs: [
          downloadJob({
            phase: 'failed',
            bytesPerSec: 0,
            etaMs: null,
            error: { code: 'DISK_FULL', data: { neededBytes: 3_100_000_000, freeBytes: 412_000_000 } },
          }),
        ],
      });
      await stage.open();
      await stage.page.getByRole('button', { name: 'Go on with the download' }).waitFor();
    },
  },
  {
    name: 'model-cancel',
    async play(stage) {
      stage.runtime.language.set(noModel);
      stage.runtime.downloads.set({ jobs: [downloadJob()] });
      await stage.open();
      await stage.page.getByRole('button', { name: 'Cancel', exact: true }).click();
      await stage.page.getByRole('dialog').waitFor();
    },
  },
  {
    name: 'list',
    async play(stage) {
      someChats(stage.runtime);
      await stage.open();
      await showList(stage);
      await stage.page.getByRole('button', { name: 'Tax letter', exact: true }).focus();
      await stage.page.getByRole('button', { name: 'Menu of “Tax letter”' }).click();
      await stage.page.getByRole('menu').waitFor();
    },
  },
  {
    name: 'list-many',
    async play(stage) {
      for (let i = 0; i < 260; i++)
        stage.runtime.chat(
          `Chat number ${i} about something that has a rather long name`,
          [],
          new Date(Date.UTC(2026, 4, 3, 9, 0) - i * 3_600_000).toISOString(),
        );
      await stage.open();
      await showList(stage);
      await stage.page.getByText('260 chats').waitFor();
    },
  },
  {
    name: 'search',
    async play(stage) {
      someChats(stage.runtime);
      await stage.open();
      await showList(stage);
      await stage.page.getByRole('searchbox', { name: 'Search chats' }).fill('service');
      await stage.page.clock.runFor(300);
      await stage.page.locator('mark').first().waitFor();
    },
  },
  {
    name: 'search-none',
    async play(stage) {
      someChats(stage.runtime);
      await stage.open();
      await showList(stage);
      await stage.page.getByRole('searchbox', { name: 'Search chats' }).fill('zeppelin');
      await stage.page.clock.runFor(300);
      await stage.page.getByText('Nothing found').waitFor();
    },
  },
  {
    name: 'list-trashed',
    async play(stage) {
      someChats(stage.runtime);
      await stage.open();
      await showList(stage);
      await stage.page.getByRole('button', { name: 'Tax letter', exact: true }).focus();
      await stage.page.keyboard.press('Delete');
      await stage.page.getByText('is in the trash').waitFor();
    },
  },
  {
    name: 'trash',
    async play(stage) {
      someChats(stage.runtime);
      stage.runtime.trash(stage.runtime.chat('Old recipe for bread', [['How?', 'So.']], day(2, '10:00')));
      stage.runtime.trash(stage.runtime.chat('Draft of a letter to the landlord', [['How?', 'So.']], day(1, '10:00')));
      await stage.open();
      await showList(stage);
      await stage.page.getByRole('button', { name: 'Trash, 2' }).click();
      await stage.page.getByText('Old recipe for bread').waitFor();
    },
  },
  {
    name: 'trash-erase',
    async play(stage) {
      stage.runtime.trash(stage.runtime.chat('Old recipe for bread', [['How?', 'So.']], day(2, '10:00')));
      await stage.open();
      await showList(stage);
      await stage.page.getByRole('button', { name: 'Trash, 1' }).click();
      await stage.page.getByRole('button', { name: 'Erase “Old recipe for bread”' }).click();
      await stage.page.getByText('for good?').waitFor();
    },
  },
  {
    name: 'settings',
    async play(stage) {
      await stage.open();
      await stage.page.getByRole('textbox', { name: 'Message' }).waitFor();
      await stage.page.keyboard.press('Control+,');
      await stage.page.getByText('Send a message with').first().waitFor();
    },
  },
  {
    name: 'settings-contrast',
    async play(stage) {
      stage.runtime.settings.set({ ...stage.runtime.settings.get(), theme: 'contrast' });
      await stage.open();
      await stage.page.keyboard.press('Control+,');
      await stage.page.getByText('Send a message with').first().waitFor();
    },
  },
  {
    name: 'chat-contrast',
    async play(stage) {
      someChats(stage.runtime);
      stage.runtime.settings.set({ ...stage.runtime.settings.get(), theme: 'contrast' });
      await stage.open();
      await openChat(stage, 'Boiler service');
      await stage.page.getByRole('listitem').filter({ hasText: 'serial number' }).waitFor();
    },
  },
  {
    name: 'disconnected',
    loud: true,
    async play(stage) {
      someChats(stage.runtime);
      await stage.open();
      await openChat(stage, 'Boiler service');
      await stage.page.getByRole('listitem').filter({ hasText: 'serial number' }).waitFor();
      await stage.page.route('**/rpc', (route) => route.abort());
      await stage.page.routeWebSocket(/\/rpc$/, (socket) => socket.close());
      stage.server.dropAll();
      await stage.page.clock.runFor(2500);
      await stage.page.getByText('The connection to Sotto is lost.').first().waitFor();
    },
  },
  {
    name: 'runtime-failed',
    async play(stage) {
      await bridgeThatFails(stage, new AppError('DATA_DIR_IN_USE'));
      await stage.open();
      await stage.page.getByRole('button', { name: 'Start again' }).waitFor();
    },
  },
  {
    name: 'runtime-damaged',
    async play(stage) {
      await bridgeThatFails(stage, new AppError('DB_DAMAGED', { movedTo: 'sotto.damaged-1.db', backupAt: '2026-05-03T09:12:00.000Z' }));
      await stage.open();
      await stage.page.getByRole('button', { name: 'Restore' }).waitFor();
    },
  },
  {
    name: 'sign-in',
    async play(stage) {
      await stage.page.setContent(String(signInReply({ kind: 'first' }).body));
      await stage.page.getByRole('button', { name: 'Sign in' }).waitFor();
    },
  },
  {
    name: 'sign-in-wrong',
    async play(stage) {
      await stage.page.setContent(String(signInReply({ kind: 'wrong' }).body));
      await stage.page.getByText('That code does not work.').waitFor();
    },
  },
  {
    name: 'one-column',
    width: 420,
    async play(stage) {
      someChats(stage.runtime);
      await stage.open();
      await openChat({ ...stage, narrow: true }, 'Boiler service');
      await stage.page.getByRole('listitem').filter({ hasText: 'serial number' }).waitFor();
    },
  },
  {
    name: 'smallest',
    width: 320,
    async play(stage) {
      stage.runtime.chat('Report of heating costs', [['Compare the last three winters.', report]], day(3, '09:41'));
      await stage.open();
      await openChat({ ...stage, narrow: true }, 'Report of heating costs');
      await stage.page.locator('code span[style]').first().waitFor();
    },
  },
];

/** As the app's preload does when main could not start the runtime. */
async function bridgeThatFails(stage: Stage, error: AppError): Promise<void> {
  const answer = JSON.stringify({ status: 'failed', error: error.toWire() });
  await stage.page.addInitScript(`window.sotto = { connect: async () => (${answer}) };`);
}
