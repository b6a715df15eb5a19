import { expect, it } from 'vitest';
import type { Vad, VadStream } from '../../../src/runtime/inference/vad.ts';
import { join, silence } from '../../helpers/audio.ts';

type Sound = Float32Array<ArrayBuffer>;
const { signal } = new AbortController();
const FRAME = 512;

/** What everything behind the activity port promises. */
export function vadSuite(subject: () => { vad: Vad; speech: Sound }): void {
  const open = () => subject().vad.open({ signal });
  /** A second of nothing, what somebody says, a second of nothing; whole frames. */
  const said = () => {
    const whole = join(silence(1_000), subject().speech, silence(1_000));
    return whole.slice(0, whole.length - (whole.length % FRAME));
  };
  async function alone(stream: VadStream, sound: Sound): Promise<number[]> {
    const found: number[] = [];
    for (let at = 0; at < sound.length; at += FRAME) {
      const one = await stream.probabilities(sound.slice(at, at + FRAME), { signal });
      expect(one).toHaveLength(1);
      found.push(...one);
    }
    return found;
  }
  const near = (found: readonly number[], wanted: readonly number[]) => {
    expect(found).toHaveLength(wanted.length);
    for (const [i, value] of found.entries()) expect(value, `frame ${i}`).toBeCloseTo(wanted[i] ?? Number.NaN, 4);
  };

  it('names its model and two thresholds, of which the offset is the lower', async () => {
    const model = await subject().vad.ready({ signal });
    expect(model.modelId).not.toBe('');
    expect(model.offset).toBeGreaterThan(0);
    expect(model.offset).toBeLessThan(model.onset);
    expect(model.onset).toBeLessThan(1);
    const stream = await open();
    expect(stream.model).toEqual(model);
    await stream.close();
  });

  it('ABI-10: gives one probability for each frame of 512 samples: high where somebody speaks, low before and after', async () => {
    const stream = await open();
    const { onset, offset } = stream.model;
    const found = await alone(stream, said());
    for (const probability of found) expect(probability >= 0 && probability <= 1).toBe(true);
    const speech = subject().speech.length / FRAME;
    expect(Math.max(...found.slice(0, 28))).toBeLessThan(onset);
    expect(found.slice(31, 31 + speech).filter((probability) => probability >= onset).length).toBeGreaterThan(speech / 3);
    expect(Math.max(...found.slice(-10))).toBeLessThan(offset);
    await stream.close();
  });

  it('many frames at once are the same as one after the other', async () => {
    const [one, many] = [await open(), await open()];
    near([...(await many.probabilities(said(), { signal }))], await alone(one, said()));
    await one.close();
    await many.close();
  });

  it('VO-15: after a reset it knows nothing of what was said, and streams know nothing of one another', async () => {
    const [one, other] = [await open(), await open()];
    const first = [...(await one.probabilities(said(), { signal }))];
    await one.probabilities(subject().speech.slice(0, FRAME * 8), { signal });
    one.reset();
    const halves = said();
    const middle = Math.floor(halves.length / 2 / FRAME) * FRAME;
    const again = [...(await one.probabilities(halves.slice(0, middle), { signal }))];
    await other.probabilities(subject().speech.slice(0, FRAME * 8), { signal });
    again.push(...(await one.probabilities(halves.slice(middle), { signal })));
    near(again, first);
    await one.close();
    await other.close();
  });

  it('what was given up is CANCELLED, and the next frame is judged', async () => {
    const stream = await open();
    const abort = new AbortController();
    abort.abort();
    await expect(stream.probabilities(new Float32Array(FRAME), { signal: abort.signal })).rejects.toMatchObject({ code: 'CANCELLED' });
    await expect(subject().vad.open({ signal: abort.signal })).rejects.toMatchObject({ code: 'CANCELLED' });
    expect(await stream.probabilities(new Float32Array(FRAME), { signal })).toHaveLength(1);
    await stream.close();
  });

  it('does not change the samples that it is given', async () => {
    const stream = await open();
    const speech = subject().speech.slice(0, FRAME * 4);
    const before = Float32Array.from(speech);
    await stream.probabilities(speech, { signal });
    expect(speech).toEqual(before);
    await stream.close();
  });
}
