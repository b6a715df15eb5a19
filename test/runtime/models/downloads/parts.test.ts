import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { firstLine, isNotAModel } from '../../../../src/runtime/models/downloads/firstBytes.ts';
import { openPart } from '../../../../src/runtime/models/downloads/part.ts';
import { decideResume, parseContentRange, validatorOf } from '../../../../src/runtime/models/downloads/resume.ts';
import { retryAfterMs } from '../../../../src/runtime/models/downloads/retryAfter.ts';
import { createSpeed, etaMs } from '../../../../src/runtime/models/downloads/speed.ts';
import { watchTransfer } from '../../../../src/runtime/models/downloads/watchdog.ts';
import { safeFolder } from '../../../../src/runtime/models/folders.ts';
import { createFiles } from '../../../../src/runtime/platform/files.ts';
import { ModelId } from '../../../../src/shared/domain/ids.ts';
import { createFakeClock } from '../../../helpers/fakeClock.ts';
import { noise } from '../../../helpers/ggufBytes.ts';
import { verifies } from '../../../helpers/verifies.ts';
import { sha256 } from '../harness.ts';

// Loopback and real files on a machine that may be busy: a wait is bounded by its state, not by the default of 5 s.
vi.setConfig({ testTimeout: 30_000 });

describe('a part file', () => {
  it('any cut and any way of going on gives the same bytes and the same hash', async () => {
    const body = noise(700_000, 5);
    const folder = mkdtempSync(join(tmpdir(), 'sotto-part-'));
    const files = createFiles();
    const { signal } = new AbortController();
    let n = 0;
    try {
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.record({ bytes: fc.integer({ min: 1, max: 300_000 }), remembers: fc.boolean() }), { minLength: 1, maxLength: 6 }),
          fc.integer({ min: 1, max: 90_000 }),
          async (cuts, step) => {
            const path = join(folder, `${n++}.part`);
            let memo: Awaited<ReturnType<Awaited<ReturnType<typeof openPart>>['close']>> = null;
            for (const cut of [...cuts, { bytes: body.length, remembers: true }]) {
              const part = await openPart(files, path, cut.remembers ? memo : null, signal);
              const end = Math.min(body.length, part.bytes() + cut.bytes);
              while (part.bytes() < end) await part.append(body.subarray(part.bytes(), Math.min(end, part.bytes() + step)));
              memo = await part.close();
            }
            const last = await openPart(files, path, memo, signal);
            expect(last.written()).toBe(body.length);
            expect(await last.digest()).toBe(sha256(body));
            await last.close();
          },
        ),
        { numRuns: 25 },
      );
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('speed and time left (DL-18)', () => {
  it('is the average of 5 s, 0 after 2 s without a byte, and then there is no time left to tell', () => {
    verifies('DL-18');
    const speed = createSpeed();
    expect(speed.at(0)).toBe(0);
    for (let at = 0; at <= 10_000; at += 100) speed.add(at < 5000 ? 1000 : 3000, at);
    expect(speed.at(10_000)).toBeGreaterThan(28_000);
    expect(speed.at(10_000)).toBeLessThan(32_000);
    expect(speed.at(11_999)).toBeGreaterThan(0);
    expect(speed.at(12_000)).toBe(0);
    expect(etaMs(50, 100, 0)).toBeNull();
    expect(etaMs(50, null, 10)).toBeNull();
    expect(etaMs(50, 100, 10)).toBe(5000);
  });

  it('an old silence does not press the average after the line came back', () => {
    const speed = createSpeed();
    speed.add(1000, 0);
    speed.add(50_000, 60_000);
    speed.add(50_000, 60_500);
    expect(speed.at(60_500)).toBeGreaterThan(100_000);
  });
});

describe('table 9.3 as a function', () => {
  const asked = {
    partBytes: 500,
    expectedBytes: 1000,
    hashKnown: true,
    sentRange: true,
    sentIfRange: false,
    firstAnswerNamesHash: false,
    rangeAloneTried: false,
  };
  it.each([
    ['206 fitting', {}, { status: 206, contentRange: 'bytes 500-999/1000' }, { kind: 'append' }],
    ['206, total not said', {}, { status: 206, contentRange: 'bytes 500-999/*' }, { kind: 'append' }],
    ['206, other start', {}, { status: 206, contentRange: 'bytes 0-999/1000' }, { kind: 'askAnew', restarted: 'range' }],
    ['206, other total', {}, { status: 206, contentRange: 'bytes 500-999/1001' }, { kind: 'askAnew', restarted: 'range' }],
    ['206 without a range', {}, { status: 206, contentRange: null }, { kind: 'askAnew', restarted: 'range' }],
    ['206 compressed', {}, { status: 206, contentRange: 'bytes 500-999/1000', encoded: true }, { kind: 'askAnew', restarted: 'range' }],
    [
      '206 without any proof',
      { hashKnown: false },
      { status: 206, contentRange: 'bytes 500-999/1000' },
      { kind: 'askAnew', restarted: 'range' },
    ],
    [
      '206 never asked for',
      { sentRange: false, partBytes: 0 },
      { status: 206, contentRange: 'bytes 0-999/1000' },
      { kind: 'askAnew', restarted: 'range' },
    ],
    ['200, still named', { sentIfRange: true, firstAnswerNamesHash: true }, { status: 200 }, { kind: 'rangeAlone' }],
    [
      '200, named, tried',
      { sentIfRange: true, firstAnswerNamesHash: true, rangeAloneTried: true },
      { status: 200 },
      { kind: 'fromStart', restarted: 'changed' },
    ],
    ['200, not named', { sentIfRange: true }, { status: 200 }, { kind: 'fromStart', restarted: 'changed' }],
    ['200 to a first request', { sentRange: false, partBytes: 0 }, { status: 200 }, { kind: 'fromStart', restarted: null }],
    ['416, whole', { partBytes: 1000 }, { status: 416, contentRange: 'bytes */1000' }, { kind: 'verify' }],
    ['416, not whole', {}, { status: 416, contentRange: 'bytes */400' }, { kind: 'askAnew', restarted: 'range' }],
    [
      '416, size from the server',
      { partBytes: 400, expectedBytes: null },
      { status: 416, contentRange: 'bytes */400' },
      { kind: 'verify' },
    ],
    ['another status', {}, { status: 404 }, null],
  ])('%s', (_name, request, answer, decision) => {
    verifies('DL-10');
    expect(decideResume({ ...asked, ...request }, { contentRange: null, encoded: false, ...answer })).toEqual(decision);
  });

  it('reads what servers write, and nothing else', () => {
    expect(parseContentRange('bytes 5-9/10')).toEqual({ start: 5, end: 9, total: 10 });
    expect(parseContentRange('bytes */10')).toEqual({ start: null, end: null, total: 10 });
    for (const odd of ['bytes 5-9', 'octets 5-9/10', 'bytes -5/10', '', null]) expect(parseContentRange(odd)).toBeNull();
    expect(validatorOf('h', { etag: '"a"' })).toEqual({ host: 'h', etag: '"a"' });
    for (const weak of ['W/"a"', 'a', '""']) expect(validatorOf('h', { etag: weak })).toBeNull();
    expect(retryAfterMs('4', 0)).toBe(4000);
    expect(retryAfterMs('Fri, 02 Jan 1970 00:00:00 GMT', 0)).toBe(86_400_000);
    expect(retryAfterMs('Thu, 01 Jan 1970 00:00:00 GMT', 5000)).toBe(0);
    for (const odd of [undefined, 'soon', '-4', '']) expect(retryAfterMs(odd, 0)).toBeNull();
  });
});

describe('first bytes', () => {
  it('tells pages and messages from models by type and by content', () => {
    const text = (value: string) => new TextEncoder().encode(value);
    expect(isNotAModel(text(''), undefined)).toBe(true);
    expect(isNotAModel(text('\uFEFF  <html>'), undefined)).toBe(true);
    expect(isNotAModel(text('anything'), 'application/json; charset=utf-8')).toBe(true);
    expect(isNotAModel(text('GGUF\u0003'), 'text/html')).toBe(false);
    expect(isNotAModel(Uint8Array.from([0x3c, 0, 1, 2]), 'application/octet-stream')).toBe(false);
    expect(firstLine(text(`\n\n${'é'.repeat(300)}\nx`))).toBe('é'.repeat(120));
    expect(firstLine(text('a\u202eb\u0000'))).toBe('a\\u{202e}b\\u{0}');
  });
});

describe('the watch over a transfer (DL-17)', () => {
  it('hardly any bytes for 60 s is a stall, a slow but steady line is none', () => {
    const run = (bytesPerSecond: number) => {
      const clock = createFakeClock();
      let verdict: string | null = null;
      const watch = watchTransfer(clock, (said) => {
        verdict = said;
      });
      for (let s = 0; s < 200 && verdict === null; s++) {
        watch.bytes(bytesPerSecond);
        clock.advance(1000);
      }
      watch.stop();
      return verdict;
    };
    expect(run(1000)).toBe('slow');
    expect(run(1100)).toBeNull();
  });
});

describe('folder names (REG-09)', () => {
  it('are safe on every system and never shared by two models', () => {
    const name = (id: string) => safeFolder(ModelId.parse(id));
    expect(name('smollm2-135m-instruct-q4_1')).toBe('smollm2-135m-instruct-q4_1');
    expect(name('con')).toMatch(/^_con-[0-9a-f]{8}$/);
    expect(name('nul.gguf')).toMatch(/^_nul\.gguf-[0-9a-f]{8}$/);
    expect(name('dot.')).toMatch(/^dot_-[0-9a-f]{8}$/);
    expect(name('dot.')).not.toBe(name('dot_'));
  });
});
