/**
 * What may not be cut. Each finder looks at one place of the text and says where the span ends: `null` = there is none, `'wait'` = more
 * text has to come first. `ended`: no more will come.
 */
type Found = number | null | 'wait';

/** A link or inline code that has not closed after so many characters is none. */
const longestLink = 2_000;
const longestCode = 200;

const hiddenTags = ['think', 'thinking', 'analysis', 'reasoning', 'tool_call', 'tool_response'];

/** A line of ``` or ~~~, a table, a formula block, each from the start of a line: the end is behind its last line break. */
export function blockEnd(text: string, at: number, ended: boolean): Found {
  const line = text.slice(at, at + 8);
  const lead = /^ {0,3}/.exec(line)?.[0].length ?? 0;
  const mark = line.slice(lead);
  for (const fence of ['```', '~~~', '$$']) {
    if (mark.startsWith(fence)) return fenceEnd(text, at + lead + fence.length, fence, ended);
    if (!ended && mark.length < fence.length && fence.startsWith(mark)) return 'wait';
  }
  return mark.startsWith('|') ? tableEnd(text, at, ended) : null;
}

function fenceEnd(text: string, from: number, fence: string, ended: boolean): Found {
  // "$$ a $$" may close on its own line, a code fence only on a later one.
  const close = fence === '$$' ? text.indexOf(fence, from) : closingLine(text, from, fence);
  if (close === -1) return ended ? text.length : 'wait';
  const end = text.indexOf('\n', close + fence.length);
  if (end === -1) return ended ? text.length : 'wait';
  return end + 1;
}

function closingLine(text: string, from: number, fence: string): number {
  for (let line = text.indexOf('\n', from); line !== -1; line = text.indexOf('\n', line + 1)) {
    let at = line + 1;
    while (text[at] === ' ' && at < line + 4) at += 1;
    if (text.startsWith(fence, at)) return at;
  }
  return -1;
}

function tableEnd(text: string, at: number, ended: boolean): Found {
  for (let line = at; ; ) {
    const end = text.indexOf('\n', line);
    if (end === -1) return ended ? text.length : 'wait';
    if (end + 1 === text.length) return ended ? end + 1 : 'wait';
    if (text[end + 1] !== '|') return end + 1;
    line = end + 1;
  }
}

/** `<think>` and its like, up to the closing tag: never spoken, also when it is never closed (VO-66). */
export function hiddenEnd(text: string, at: number, ended: boolean): Found {
  const rest = text.slice(at, at + 24).toLowerCase();
  for (const tag of hiddenTags) {
    const open = `<${tag}>`;
    if (rest.startsWith(open)) {
      const close = text.toLowerCase().indexOf(`</${tag}>`, at);
      if (close !== -1) return close + open.length + 1;
      return ended ? text.length : 'wait';
    }
    if (!ended && rest.length < open.length && open.startsWith(rest)) return 'wait';
  }
  return null;
}

/** Inline code, from its backtick to behind the closing one. */
export function codeEnd(text: string, at: number, ended: boolean): Found {
  let ticks = 1;
  while (text[at + ticks] === '`') ticks += 1;
  if (at + ticks >= text.length) return ended ? null : 'wait';
  const limit = Math.min(text.length, at + ticks + longestCode);
  const mark = '`'.repeat(ticks);
  const close = text.indexOf(mark, at + ticks);
  const lineEnd = text.indexOf('\n', at);
  if (close !== -1 && close < limit && (lineEnd === -1 || close < lineEnd)) {
    return close + ticks >= text.length && !ended ? 'wait' : close + ticks;
  }
  return ended || lineEnd !== -1 || text.length > at + ticks + longestCode ? null : 'wait';
}

/** `[text](address)` and `![text](address)`, from the bracket. */
export function linkEnd(text: string, at: number, ended: boolean): Found {
  const stop = (end: number): Found => (end >= text.length && !ended && end - at < longestLink ? 'wait' : null);
  let close = at + 1;
  while (close < text.length && text[close] !== ']' && text[close] !== '\n' && close - at < longestLink) close += 1;
  if (text[close] !== ']') return stop(close);
  if (close + 1 >= text.length) return ended ? null : 'wait';
  if (text[close + 1] !== '(') return null;
  let end = close + 2;
  while (end < text.length && text[end] !== ')' && text[end] !== '\n' && end - at < longestLink) end += 1;
  return text[end] === ')' ? end + 1 : stop(end);
}
