import { describe, expect, it } from 'vitest';
import { errorAction, errorWords } from '../../../src/renderer/lib/errorTexts.ts';
import { createTexts } from '../../../src/renderer/lib/texts.ts';
import { en } from '../../../src/renderer/texts/en.ts';
import { errorTexts } from '../../../src/renderer/texts/errors.en.ts';
import { codes, type ErrorCode } from '../../../src/shared/errors/codes.ts';
import { verifies } from '../../helpers/verifies.ts';

const all = Object.keys(codes) as ErrorCode[];
const words = (error: { code: string; data: Record<string, unknown> }) => {
  const { key, values } = errorWords(error);
  const t = createTexts().t;
  return { what: t(`errors.${key}.what`, values), means: t(`errors.${key}.means`, values), do: t(`errors.${key}.do`, values) };
};

/** All strings of a nested record, with their keys. */
function flat(value: object, prefix = ''): [key: string, text: string][] {
  return Object.entries(value).flatMap(([key, inner]) =>
    typeof inner === 'string' ? [[`${prefix}${key}`, inner] as [string, string]] : flat(inner as object, `${prefix}${key}.`),
  );
}

describe('errors', () => {
  it('every code says what happened, what it means, what to do, and has a button', () => {
    verifies('UX-06', 'UX-108');
    for (const code of all) {
      const key = codes[code].textKey.slice('errors.'.length);
      const text = (errorTexts as Record<string, { what: string; means: string; do: string }>)[key];
      expect(text, `${code} (${key})`).toBeDefined();
      for (const part of [text?.what, text?.means, text?.do]) expect(part ?? '', code).toMatch(/^\S.*[.}]$/);
      expect(en.actions[errorAction[code]], code).toMatch(/\S/);
    }
  });

  it('no text asks for a figure that its error does not carry', () => {
    verifies('UX-06', 'UX-09');
    const made: Record<string, readonly string[]> = {
      DB_DAMAGED: ['backupTime'],
      DOWNLOAD_SIZE_MISMATCH: ['expectedSize', 'actualSize'],
      ENGINE_BREAKER_OPEN: ['retryAfter'],
    };
    for (const code of all) {
      const key = codes[code].textKey.slice('errors.'.length);
      const text = (errorTexts as Record<string, object>)[key] ?? {};
      const known = [...Object.keys(codes[code].data.shape), ...(made[code] ?? [])];
      for (const [, part] of flat(text))
        for (const match of part.matchAll(/\{\{(\w+)\}\}/g)) expect(known, `${code}: ${part}`).toContain(match[1]);
    }
  });

  it('the thing and its figures come first; sizes have units, and what is not known is "?"', () => {
    verifies('UX-109', 'UX-09');
    expect(words({ code: 'MODEL_DOES_NOT_FIT', data: { needBytes: 7_200_000_000, freeBytes: 5_900_000_000 } }).what).toBe(
      'The model needs about 7.2 GB of memory; 5.9 GB are free.',
    );
    expect(words({ code: 'STORE_FULL', data: { freeBytes: null } }).what).toBe('The disk is full (? free).');
    expect(words({ code: 'DISK_FULL', data: {} }).what).toBe('The disk is full: ? are needed, ? are free.');
    expect(words({ code: 'ENGINE_CRASHED', data: { engineKey: 'language', stage: 'decode' } }).what).toBe(
      'The model stopped while answering.',
    );
    expect(words({ code: 'DB_DAMAGED', data: { movedTo: 'x', backupAt: null } }).means).toContain('Newest backup: none.');
  });

  it('a code that this page does not know reads as an unknown error with that code as its number', () => {
    verifies('UX-113');
    const unknown = words({ code: 'FROM_THE_FUTURE', data: { secret: 'x' } });
    expect(unknown.what).toBe('Something went wrong.');
    expect(unknown.means).toBe('Your text is safe.');
    expect(unknown.do).toContain('FROM_THE_FUTURE');
  });
});

describe('words', () => {
  const texts = flat(en);

  it('blame nobody and shout at nobody', () => {
    verifies('UX-108');
    for (const [key, text] of texts) {
      expect(text, key).not.toMatch(/!/);
      expect(text, key).not.toMatch(/\b(oops|sorry|please|invalid|illegal|fatal|failure|unexpected|abort(ed)?|user|inference|VRAM|LLM)\b/i);
    }
  });

  it('buttons name the deed', () => {
    verifies('UX-110');
    for (const [key, text] of flat(en.actions)) expect(text, key).not.toMatch(/^(ok|okay|yes|no|cancel|submit|confirm|continue)$/i);
    for (const text of [en.trash.eraseDo, en.trash.eraseKeep, en.model.cancelAsk, en.model.cancelKeep, en.chats.trash, en.cut.resume])
      expect(text).not.toMatch(/^(ok|yes|no|cancel)$/i);
  });

  it('are never more certain than the program: what leaves the machine names its host', () => {
    verifies('UX-112');
    expect(en.model.goesTo).toContain('{{hosts}}');
    expect(en.link2.open).toContain('{{host}}');
    for (const [key, text] of texts) expect(text, key).not.toMatch(/\b(cloud|guaranteed|100% (safe|private)|never fails)\b/i);
  });

  it('memory is only a number, what the assistant knows has another name', () => {
    for (const [key, text] of texts) if (/\bmemory\b/i.test(text)) expect(text, key).toMatch(/GB|MB|\{\{\w*Bytes\}\}|out of memory/);
  });

  it('every plural has both forms', () => {
    const keys = new Set(texts.map(([key]) => key));
    for (const key of keys) if (key.endsWith('_one')) expect(keys.has(key.replace(/_one$/, '_other')), key).toBe(true);
  });
});
