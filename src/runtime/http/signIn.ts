import { createHash } from 'node:crypto';
import { html, type Reply } from './replies.ts';

/** Why the form is shown. `again` is the moment of the next try. */
export type SignInNotice =
  | { readonly kind: 'first' }
  | { readonly kind: 'wrong' }
  | { readonly kind: 'wait'; readonly seconds: number; readonly at: string };

/**
 * The 401 of the page (UX-283): one field, where the code comes from, how long it lasts. No script, so that it works before anything
 * is trusted; the colours are those of the design's tokens.
 */
export function signInReply(notice: SignInNotice, headers: Readonly<Record<string, string>> = {}): Reply {
  const status = notice.kind === 'wait' ? 429 : 401;
  return html(status, page(notice), { 'content-security-policy': policy, ...headers });
}

const style = `
:root{color-scheme:light dark;--page:#f8fafc;--surface:#fff;--sunken:#f0f3f5;--line:#d8dde1;--control:#7e888e;--text:#171e23;--text-2:#4a545c;--accent:#136782;--on-accent:#fff;--danger:#ba2b28;--danger-soft:#feebeb}
@media (prefers-color-scheme:dark){:root{--page:#101316;--surface:#181c20;--sunken:#090d0f;--line:#2d3438;--control:#6d767d;--text:#e8ecef;--text-2:#aeb5bb;--accent:#77c9dd;--on-accent:#02141b;--danger:#f58079;--danger-soft:#41211e}}
@media (prefers-contrast:more){:root{--text:#000;--text-2:#000;--control:#000;--line:#000}}
@media (prefers-contrast:more) and (prefers-color-scheme:dark){:root{--text:#fff;--text-2:#fff;--control:#fff;--line:#fff}}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;display:grid;place-items:center;padding:1.5rem 1rem;background:var(--page);color:var(--text);font:400 .875rem/1.25rem system-ui,"Segoe UI Variable Text","Segoe UI","Noto Sans","Liberation Sans",sans-serif}
main{width:100%;max-width:25rem;padding:1.5rem;background:var(--surface);border:1px solid var(--line);border-radius:10px}
h1{margin:0 0 .5rem;font-size:1.25rem;line-height:1.75rem;font-weight:600}
p{margin:0 0 1rem;color:var(--text-2)}
code{white-space:nowrap;padding:.125rem .25rem;border-radius:4px;background:var(--sunken);color:var(--text);font:.8125rem/1.25rem ui-monospace,"SF Mono","Cascadia Mono","DejaVu Sans Mono",monospace}
label{display:block;margin-bottom:.25rem;font-weight:500}
input{width:100%;height:2.25rem;padding:0 .75rem;border:1px solid var(--control);border-radius:6px;background:var(--surface);color:var(--text);font:500 1rem/1.5rem ui-monospace,"SF Mono","Cascadia Mono","DejaVu Sans Mono",monospace;letter-spacing:.08em;text-transform:uppercase}
input[aria-invalid=true]{border-color:var(--danger)}
button{width:100%;height:2.25rem;margin-top:1rem;border:0;border-radius:6px;background:var(--accent);color:var(--on-accent);font:inherit;font-weight:500;cursor:pointer}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
.notice{margin:0 0 1rem;padding:.5rem .75rem;border-radius:6px;background:var(--danger-soft);color:var(--text);border-left:2px solid var(--danger)}
.hint{margin:.5rem 0 0}
`.trim();

const policy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

function noticeText(notice: SignInNotice): string {
  if (notice.kind === 'first') return '';
  if (notice.kind === 'wrong') return 'That code does not work.';
  const unit = notice.seconds === 1 ? 'second' : 'seconds';
  return `Too many tries. The next one is allowed in ${notice.seconds} ${unit}, at ${notice.at}.`;
}

function page(notice: SignInNotice): string {
  const text = noticeText(notice);
  const fault = text !== '';
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${fault ? 'Not signed in – Sotto' : 'Sign in – Sotto'}</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>Sign in to Sotto</h1>
<p id="where">Type a one-time code. To get one, run <code>sotto keys code</code> in a terminal on the machine that Sotto runs on. A code lasts 10 minutes and works once.</p>
${fault ? `<p class="notice" role="alert" id="fault">${text}</p>\n` : ''}<form method="post" action="/login">
<label for="code">One-time code</label>
<input id="code" name="code" type="text" required autofocus maxlength="32" autocomplete="one-time-code" autocapitalize="characters" spellcheck="false"${fault ? ' aria-invalid="true"' : ''} aria-describedby="${fault ? 'fault where' : 'where'}">
<button type="submit">Sign in</button>
<p class="hint">You stay signed in on this browser until 12 hours after you last used it.</p>
</form>
</main>
</body>
</html>
`;
}
