/**
 * Decodes G.722 sound at 64 kbit/s, the form in which Debian's recorded prompts come.
 *
 * @param bytes  one byte for two samples.
 * @returns      16 kHz mono, −1…1, two samples per byte.
 * @source       ITU-T Recommendation G.722 (1988), sections 3 and 4: sub-band ADPCM, quadrature mirror filter.
 */
export function decodeG722(bytes: Uint8Array): Float32Array<ArrayBuffer> {
  const out = new Float32Array(bytes.length * 2);
  const low = createBand(32);
  const high = createBand(8);
  const x = new Int32Array(24);
  for (const [at, code] of bytes.entries()) {
    const coarse = (code & 0x3f) >> 2;
    const lowSample = clamp(low.predicted() + scaled(low.step(), qm6[code & 0x3f]), -16_384, 16_383);
    low.take(scaled(low.step(), qm4[coarse]), wl[rl42[coarse] ?? 0] ?? 0, 18_432, 8);
    const upper = code >> 6;
    const difference = scaled(high.step(), qm2[upper]);
    const highSample = clamp(high.predicted() + difference, -16_384, 16_383);
    high.take(difference, wh[rh2[upper] ?? 0] ?? 0, 22_528, 10);
    x.copyWithin(0, 2);
    x[22] = lowSample + highSample;
    x[23] = lowSample - highSample;
    let [first, second] = [0, 0];
    for (let i = 0; i < 12; i += 1) {
      first += (x[2 * i + 1] ?? 0) * (qmf[11 - i] ?? 0);
      second += (x[2 * i] ?? 0) * (qmf[i] ?? 0);
    }
    out[2 * at] = saturate(first >> 11) / 0x8000;
    out[2 * at + 1] = saturate(second >> 11) / 0x8000;
  }
  return out;
}

const clamp = (value: number, least: number, most: number): number => Math.max(least, Math.min(most, value));
const saturate = (value: number): number => clamp(value, -0x8000, 0x7fff);
const scaled = (step: number, level = 0): number => (step * level) >> 15;

/** One of the two halves of the spectrum: an adaptive quantiser, and a predictor of two poles and six zeros. */
function createBand(firstStep: number) {
  let step = firstStep;
  let logStep = 0;
  let signal = 0;
  let zeros = 0;
  const [a, b] = [new Int32Array(3), new Int32Array(7)];
  const [d, p, r] = [new Int32Array(7), new Int32Array(3), new Int32Array(3)];
  const sameSign = (one = 0, other = 0) => one >> 15 === other >> 15;

  function adapt(difference: number): void {
    d[0] = difference;
    r[0] = saturate(signal + difference);
    p[0] = saturate(zeros + difference);
    const [, a1 = 0, a2 = 0] = a;
    const turned = sameSign(p[0], p[1]) ? -saturate(a1 << 2) : saturate(a1 << 2);
    const second = clamp((sameSign(p[0], p[2]) ? 128 : -128) + (Math.min(turned, 0x7fff) >> 7) + ((a2 * 32_512) >> 15), -12_288, 12_288);
    const most = saturate(15_360 - second);
    const first = clamp(saturate((sameSign(p[0], p[1]) ? 192 : -192) + ((a1 * 32_640) >> 15)), -most, most);
    const push = difference === 0 ? 0 : 128;
    for (let i = 1; i <= 6; i += 1) b[i] = saturate((sameSign(d[i], difference) ? push : -push) + (((b[i] ?? 0) * 32_640) >> 15));
    d.copyWithin(1, 0, 6);
    r.copyWithin(1, 0, 2);
    p.copyWithin(1, 0, 2);
    a[1] = first;
    a[2] = second;
    const doubled = (values: Int32Array, i: number) => saturate(2 * (values[i] ?? 0));
    const poles = saturate(((first * doubled(r, 1)) >> 15) + ((second * doubled(r, 2)) >> 15));
    zeros = 0;
    for (let i = 6; i >= 1; i -= 1) zeros += ((b[i] ?? 0) * doubled(d, i)) >> 15;
    zeros = saturate(zeros);
    signal = saturate(poles + zeros);
  }

  return {
    step: () => step,
    predicted: () => signal,
    take(difference: number, change: number, most: number, shift: number): void {
      logStep = clamp(((logStep * 127) >> 7) + change, 0, most);
      const right = shift - (logStep >> 11);
      const entry = ilb[(logStep >> 6) & 31] ?? 0;
      step = (right < 0 ? entry << -right : entry >> right) << 2;
      adapt(difference);
    },
  };
}

// Tables of the Recommendation, by its names.
const qmf = [3, -11, 12, 32, -210, 951, 3876, -805, 362, -156, 53, -11];
const wl = [-60, -30, 58, 172, 334, 538, 1198, 3042];
const rl42 = [0, 7, 6, 5, 4, 3, 2, 1, 7, 6, 5, 4, 3, 2, 1, 0];
const wh = [0, -214, 798];
const rh2 = [2, 1, 2, 1];
const ilb = [
  2048, 2093, 2139, 2186, 2233, 2282, 2332, 2383, 2435, 2489, 2543, 2599, 2656, 2714, 2774, 2834, 2896, 2960, 3025, 3091, 3158, 3228, 3298,
  3371, 3444, 3520, 3597, 3676, 3756, 3838, 3922, 4008,
];
const qm2 = [-7408, -1616, 7408, 1616];
const qm4 = [0, -20456, -12896, -8968, -6288, -4240, -2584, -1200, 20456, 12896, 8968, 6288, 4240, 2584, 1200, 0];
const qm6 = [
  -136, -136, -136, -136, -24808, -21904, -19008, -16704, -14984, -13512, -12280, -11192, -10232, -9360, -8576, -7856, -7192, -6576, -6000,
  -5456, -4944, -4464, -4008, -3576, -3168, -2776, -2400, -2032, -1688, -1360, -1040, -728, 24808, 21904, 19008, 16704, 14984, 13512, 12280,
  11192, 10232, 9360, 8576, 7856, 7192, 6576, 6000, 5456, 4944, 4464, 4008, 3576, 3168, 2776, 2400, 2032, 1688, 1360, 1040, 728, 432, 136,
  -432, -136,
];
