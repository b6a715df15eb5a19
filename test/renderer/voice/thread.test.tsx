import { afterEach, describe, expect, it } from 'vitest';
import { isReadInPart } from '../../../src/renderer/lib/reader.ts';
import { verifies } from '../../helpers/verifies.ts';
import { createFakeSound } from '../fakeSound.ts';
import { spokenTurn } from '../fakeVoice.ts';
import { speakingVoice } from '../fakeVoices.ts';
import { fireEvent, openChat, openPage, type PageUnderTest, screen, within } from '../page.tsx';

let page: PageUnderTest | null = null;
afterEach(() => page?.close());

const listed = 'Two ways:\n\n```sh\nmake\n```\n\n- **one**\n- two, with a [link](https://example.org)';

async function open(answer: string) {
  const sound = createFakeSound();
  const opened = await openPage({ sound: sound.sound });
  page = opened;
  const id = opened.runtime.chat('Boiler', [['When?', answer]]);
  const stored = opened.runtime.stored.get(id);
  const message = stored?.messages.at(-1);
  if (stored === undefined || message === undefined) throw new Error('no answer');
  await opened.pass(0);
  return {
    ...opened,
    sound,
    id,
    message,
    show: () => openChat(opened, 'Boiler'),
    article: () => screen.getByRole('article', { name: /Sotto/ }),
  };
}

const unheard = (article: HTMLElement) => [...article.querySelectorAll('.unheard')].map((part) => part.textContent).join('|');

describe('a spoken answer in the thread', () => {
  it('UX-43: what was not heard is grey, to the letter, through marks and lists; a word says so too', async () => {
    const text = 'It was on **3 May**. The next one is due.\n\n- call first\n- then wait';
    const one = await open(text);
    one.message.heard = text.indexOf('next one');
    await one.show();
    expect(unheard(one.article())).toBe('next one is due.|call first|then wait');
    expect(one.article().textContent).toContain('It was on 3 May. The next one is due.');
    expect(one.article().textContent).toContain('What is grey was not heard.');
  });

  it('nothing heard at all is all grey; heard to the end, or typed, is as ever', async () => {
    const one = await open('In May.');
    one.message.heard = 0;
    await one.show();
    expect(unheard(one.article())).toBe('In May.');
    expect(one.article().textContent).toContain('None of this was heard.');
    page?.close();
    const two = await open('In May.');
    two.message.heard = 'In May.'.length;
    await two.show();
    expect(unheard(two.article())).toBe('');
    expect(two.article().textContent).not.toContain('not heard');
  });

  it('UX-134: its details show where the time went, also after the page was loaded anew', async () => {
    verifies('UX-134');
    const one = await open('In May.');
    one.runtime.voice.setRecords([spokenTurn(one.message.turnId)]);
    await one.show();
    expect(one.article().textContent).toContain('0.9 s to first word');
    fireEvent.click(within(one.article()).getByRole('button', { name: 'Details' }));
    await one.pass(0);
    await screen.findByRole('table', { name: 'Time from your last word to the first sound' });
    // What is known of it now stands under the answer as well.
    expect(one.article().textContent).toContain('0.9 s to first sound');
    expect(one.runtime.callsOf('voice.latency')).toHaveLength(1);
  });

  it('the newest turn needs no asking: the live view carries it', async () => {
    const one = await open('In May.');
    await one.show();
    await one.change(() => one.runtime.voice.show({ latency: spokenTurn(one.message.turnId) }));
    expect(one.article().textContent).toContain('0.9 s to first sound');
    expect(one.runtime.callsOf('voice.latency')).toEqual([]);
  });

  it('UX-44: what talk left out can be read in full by one press, and stopped by another, by Esc, or by talking', async () => {
    verifies('UX-44');
    const one = await open(listed);
    one.runtime.voices.set([speakingVoice({ voiceId: 'joe', state: 'installed' })]);
    await one.change(() => one.runtime.settings.set({ ...one.runtime.settings.get(), voiceId: 'joe', loudspeaker: 'Headset' }));
    await one.show();
    // Typed: nothing of it was said, so there is nothing to complete.
    expect(screen.queryByRole('button', { name: 'Read it in full' })).toBeNull();
    await one.change(() => one.runtime.voice.show({ phase: 'standby', latency: spokenTurn(one.message.turnId) }));
    const press = async (name: string) => {
      fireEvent.click(screen.getByRole('button', { name }));
      for (let i = 0; i < 6; i += 1) await one.pass(0);
    };
    await press('Read it in full');
    expect(one.runtime.callsOf('speech.say')).toEqual([{ text: listed, voiceId: 'joe', speed: 1, written: true }]);
    expect(one.sound.loudspeakers.at(-1)?.output).toBe('id Headset');
    await press('Stop reading');
    expect(one.sound.loudspeakers.at(-1)?.closed).toBe(true);
    await press('Read it in full');
    one.key('Escape');
    await one.pass(0);
    expect(screen.queryByRole('button', { name: 'Stop reading' })).toBeNull();
    await press('Read it in full');
    await one.change(() => one.runtime.voice.show({ phase: 'listening' }));
    expect(screen.queryByRole('button', { name: 'Stop reading' })).toBeNull();
    expect(one.sound.loudspeakers.every(({ closed }) => closed)).toBe(true);
  });

  it('a voice that cannot read says why', async () => {
    const one = await open(listed);
    await one.show();
    await one.change(() => one.runtime.voice.show({ phase: 'standby', latency: spokenTurn(one.message.turnId) }));
    fireEvent.click(screen.getByRole('button', { name: 'Read it in full' }));
    for (let i = 0; i < 6; i += 1) await one.pass(0);
    expect(screen.getByRole('region', { name: 'Voice' }).textContent).toContain('This voice is not here.');
  });

  it('code, tables and long lists are read in part; a short list and plain words are not', () => {
    expect(isReadInPart(listed)).toBe(true);
    expect(isReadInPart('| a | b |\n|---|---|\n| 1 | 2 |')).toBe(true);
    expect(isReadInPart(Array.from({ length: 30 }, (_, i) => `- row number ${i} of a long list`).join('\n'))).toBe(true);
    expect(isReadInPart('- one\n- two')).toBe(false);
    expect(isReadInPart('It was in May. `make` builds it.')).toBe(false);
  });
});
