/** Turns a stream of one rate into a stream of another. Cutting the input elsewhere gives the same output. */
export type Resampler = {
  /** @returns what is certain by now; it lags by the half width of the filter (1.6 ms of the slower rate). A fresh array. */
  push(pcm: Float32Array): Float32Array<ArrayBuffer>;
  /** @returns the rest, as if silence followed; in all ⌈n · to / from⌉ samples came out. The stream begins anew after it. */
  flush(): Float32Array<ArrayBuffer>;
};

// 24 crossings on each side and Kaiser's β = 9: −80 dB from 0.56 of the slower rate on; up to 0.44 of it all passes.
const crossings = 24;
const rolloff = 0.94;
const beta = 9;
/** Points of the kernel per input sample; between them a line, which errs by less than 10⁻⁵. */
const steps = 512;

/**
 * @param fromHz  integer rate of what comes, ≥ 1.
 * @param toHz    integer rate of what goes out, ≥ 1.
 * @source windowed sinc: J. O. Smith, "Digital Audio Resampling Home Page" (CCRMA).
 */
export function createResampler(fromHz: number, toHz: number): Resampler {
  if (fromHz === toHz) return { push: (pcm) => Float32Array.from(pcm), flush: () => new Float32Array(0) };
  const scale = Math.min(1, toHz / fromHz) * rolloff;
  const half = Math.ceil(crossings / scale);
  const kernel = makeKernel(scale, half);
  let buffer = new Float32Array(half * 2 + 4_096);
  let filled = half;
  // Where the next output stands in `buffer`: a whole number and a fraction in units of 1 / toHz, so that no error adds up.
  let at = half;
  let part = 0;
  let taken = 0;
  let made = 0;

  const append = (pcm: Float32Array) => {
    if (filled + pcm.length > buffer.length) {
      const grown = new Float32Array((filled + pcm.length) * 2);
      grown.set(buffer.subarray(0, filled));
      buffer = grown;
    }
    buffer.set(pcm, filled);
    filled += pcm.length;
  };
  const make = (): Float32Array<ArrayBuffer> => {
    const room = Math.max(0, Math.ceil(((filled - half - at) * toHz) / fromHz) + 1);
    const out = new Float32Array(room);
    let n = 0;
    while (at + half < filled) {
      out[n] = convolve(buffer, at, part / toHz, half, kernel);
      n += 1;
      part += fromHz;
      at += Math.floor(part / toHz);
      part %= toHz;
    }
    const used = Math.min(at - half, filled);
    if (used > 0) {
      buffer.copyWithin(0, used, filled);
      filled -= used;
      at -= used;
    }
    made += n;
    return out.slice(0, n);
  };
  return {
    push(pcm) {
      append(pcm);
      taken += pcm.length;
      return make();
    },
    flush() {
      const wanted = Math.ceil((taken * toHz) / fromHz) - made;
      append(new Float32Array(half * 2 + Math.ceil(fromHz / toHz)));
      const rest = make().slice(0, wanted);
      buffer.fill(0);
      filled = half;
      at = half;
      part = 0;
      taken = 0;
      made = 0;
      return rest;
    },
  };
}

/** One whole recording at another rate: ⌈n · to / from⌉ samples. */
export function resample(pcm: Float32Array, fromHz: number, toHz: number): Float32Array<ArrayBuffer> {
  const resampler = createResampler(fromHz, toHz);
  const body = resampler.push(pcm);
  const rest = resampler.flush();
  const all = new Float32Array(body.length + rest.length);
  all.set(body);
  all.set(rest, body.length);
  return all;
}

function convolve(buffer: Float32Array, at: number, fraction: number, half: number, kernel: Float32Array): number {
  let sum = 0;
  for (let j = 1 - half; j <= half; j += 1) {
    const place = Math.abs(j - fraction) * steps;
    const index = Math.floor(place);
    const low = kernel[index] ?? 0;
    const weight = low + ((kernel[index + 1] ?? 0) - low) * (place - index);
    sum += (buffer[at + j] ?? 0) * weight;
  }
  return sum;
}

function makeKernel(scale: number, half: number): Float32Array {
  const kernel = new Float32Array(half * steps + 2);
  const edge = bessel(beta);
  for (let i = 0; i <= half * steps; i += 1) {
    const t = i / steps;
    const x = Math.PI * scale * t;
    const window = bessel(beta * Math.sqrt(Math.max(0, 1 - (t / half) ** 2))) / edge;
    kernel[i] = scale * (x === 0 ? 1 : Math.sin(x) / x) * window;
  }
  return kernel;
}

/** Modified Bessel function of the first kind, order 0. */
function bessel(x: number): number {
  let [sum, term] = [1, 1];
  for (let k = 1; term > sum * 1e-12; k += 1) {
    term *= (x / (2 * k)) ** 2;
    sum += term;
  }
  return sum;
}
