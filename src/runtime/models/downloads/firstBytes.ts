import { downloadLimits as limits } from '../limits.ts';

/** What the first bytes of an answer are looked at for (DL-12). Bytes. */
export const peekBytes = 512;

/**
 * Whether an answer is a page or a message where a model was asked for: HTML, XML or JSON by its type or by its leading bytes, or
 * nothing at all.
 *
 * @param head         up to `peekBytes` bytes from the start of the decoded body; empty only if the body is.
 * @param contentType  header of the answer.
 */
export function isNotAModel(head: Uint8Array, contentType: string | undefined): boolean {
  if (head.length === 0) return true;
  if (startsWithGguf(head)) return false;
  const type = (contentType ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  if (/^(text\/html|text\/xml|application\/(xhtml\+xml|xml|json|problem\+json))$/.test(type)) return true;
  const start = /^\uFEFF?\s*(.)/s.exec(text(head))?.[1];
  return (start === '<' || start === '{' || start === '[') && !head.includes(0);
}

export function startsWithGguf(head: Uint8Array): boolean {
  return head.length >= 4 && head[0] === 0x47 && head[1] === 0x47 && head[2] === 0x55 && head[3] === 0x46;
}

/** The first line that holds something, for a person: control signs escaped, at most 120 characters. */
export function firstLine(head: Uint8Array): string {
  const line = text(head)
    .split(/\r\n|\r|\n/)
    .find((one) => one.trim() !== '');
  const escaped = (line ?? '').trim().replace(/[\p{C}\u2028\u2029]/gu, (sign) => `\\u{${(sign.codePointAt(0) ?? 0).toString(16)}}`);
  return [...escaped].slice(0, limits.firstLineCharacters).join('');
}

function text(head: Uint8Array): string {
  return new TextDecoder('utf-8').decode(head);
}
