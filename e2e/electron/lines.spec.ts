import type { Page } from '@playwright/test';
import { encodeFrame } from '../../src/shared/util/audioWire.ts';
import { expect, test } from '../helpers/test.ts';

/** What a page of the test knows of a line that it opened; they lie in `window.lines`. */
type Line = { readonly heard: string[]; port: MessagePort | null; closed: boolean };

/** Opens one more line as the page itself would; its place among them is the answer. */
function openLine(page: Page, options: unknown = { purpose: 'voice' }) {
  return page.evaluate(async (asked) => {
    const lines = (Reflect.get(window, 'lines') ?? []) as Line[];
    Reflect.set(window, 'lines', lines);
    const number = crypto.randomUUID();
    const line: Line = { heard: [], port: null, closed: false };
    addEventListener('message', (event) => {
      const { sotto, number: of } = event.data as { sotto?: string; number?: string };
      if (of !== number) return;
      if (sotto === 'closed') line.closed = true;
      const [port] = event.ports;
      if (port === undefined) return;
      line.port = port;
      port.onmessage = ({ data }) => line.heard.push(data instanceof Uint8Array ? `${data.byteLength} bytes` : String(data));
    });
    const bridge = Reflect.get(window, 'sotto') as {
      connect(number: string, options: unknown): Promise<{ status: string; error?: { code: string } }>;
    };
    const { status, error } = await bridge.connect(number, asked);
    return status === 'connected' ? lines.push(line) - 1 : (error?.code ?? status);
  }, options);
}

/** One that the runtime has named. */
async function namedLine(page: Page): Promise<number> {
  const at = await openLine(page);
  if (typeof at === 'string') throw new Error(at);
  await expect.poll(async () => (await seen(page, at)).heard.map((text) => (JSON.parse(text) as { t: string }).t)).toEqual(['line']);
  return at;
}

const seen = (page: Page, at: number) =>
  page.evaluate((i) => {
    const { heard, closed } = (Reflect.get(window, 'lines') as Line[])[i] as Line;
    return { heard, closed };
  }, at);
/** An array of numbers goes as bytes. */
const say = (page: Page, at: number, data: unknown) =>
  page.evaluate(
    ([i, one]) => {
      const { port } = (Reflect.get(window, 'lines') as Line[])[i as number] as Line;
      port?.postMessage(Array.isArray(one) ? Uint8Array.from(one as number[]) : one);
    },
    [at, data],
  );

const frame = () => [
  ...encodeFrame({ seq: 0, captureMs: 0, clipped: false, zero: false, gap: false, samples: new Float32Array(512).fill(0.1) }),
];

test('a page gets voice lines beside its calls: sound and words pass, and what is none ends the line and nothing else', async ({
  sotto: { page },
}) => {
  await expect(page.getByRole('textbox', { name: 'Message' })).toBeVisible();
  const good = await namedLine(page);
  await say(page, good, frame());
  await say(page, good, '{"t":"outputLost"}');
  for (const bad of ['{"t":"key"}', '', { t: 'outputLost' }, null, [1, 2, 3], 'x'.repeat(5_000), [...frame(), 0]]) {
    const doomed = await namedLine(page);
    await say(page, doomed, bad);
    await expect.poll(async () => (await seen(page, doomed)).closed, { message: JSON.stringify(bad).slice(0, 40) }).toBe(true);
  }
  // All of this went through one channel, in order: had the frame not come across as it was, its line would be closed by now.
  expect(await seen(page, good)).toMatchObject({ closed: false });
  await expect(page.getByText('The connection to Sotto is lost.')).toHaveCount(0);
});

test('a port for anything else is refused', async ({ sotto: { page } }) => {
  await expect(page.getByRole('textbox', { name: 'Message' })).toBeVisible();
  for (const bad of ['voice', { purpose: 'admin' }, { purpose: 'voice', more: true }, 7])
    expect(await openLine(page, bad)).toBe('INVALID_INPUT');
});
