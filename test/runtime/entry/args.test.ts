import { describe, expect, it } from 'vitest';
import { parseCommand } from '../../../src/runtime/entry/cli/args.ts';
import { helpText } from '../../../src/runtime/entry/cli/help.ts';
import { UsageError } from '../../../src/runtime/entry/cli/io.ts';
import { bytes, errorText } from '../../../src/runtime/entry/cli/texts.ts';
import { AppError } from '../../../src/shared/errors/appError.ts';
import { codes, type ErrorCode } from '../../../src/shared/errors/codes.ts';

function parse(argv: readonly string[], env: Record<string, string> = {}) {
  const warnings: string[] = [];
  return { command: parseCommand(argv, env, (text) => warnings.push(text)), warnings };
}

describe('command line', () => {
  it('SV-03: a flag beats the environment, the environment beats the default', () => {
    const env = { SOTTO_PORT: '4000', SOTTO_HOST: '127.0.0.2', SOTTO_LOG: 'warn', SOTTO_DATA_DIR: '/from/env', SOTTO_OFFLINE: '1' };
    expect(parse(['serve']).command).toMatchObject({
      port: 17717,
      host: '127.0.0.1',
      logLevel: 'info',
      offline: false,
      auth: true,
      data: undefined,
    });
    expect(parse(['serve'], env).command).toMatchObject({
      port: 4000,
      host: '127.0.0.2',
      logLevel: 'warn',
      offline: true,
      data: '/from/env',
    });
    expect(parse(['serve', '--port', '0', '--host', '::1', '--log-level', 'error', '--data', '/flag'], env).command).toMatchObject({
      port: 0,
      host: '::1',
      logLevel: 'error',
      data: '/flag',
    });
    expect(
      parse(['serve', '--allowed-host', 'a.example', '--allowed-host', 'b.example:8443'], { SOTTO_ALLOWED_HOSTS: 'c.example' }).command,
    ).toMatchObject({
      allowedHosts: ['a.example', 'b.example:8443'],
    });
    expect(parse(['serve'], { SOTTO_ALLOWED_HOSTS: 'c.example, d.example' }).command).toMatchObject({
      allowedHosts: ['c.example', 'd.example'],
    });
  });

  it('SV-03: a wrong variable is a warning and the default', () => {
    const { command, warnings } = parse(['serve'], { SOTTO_PORT: '99999', SOTTO_LOG: 'loud', SOTTO_OFFLINE: 'maybe' });
    expect(command).toMatchObject({ port: 17717, logLevel: 'info', offline: false });
    expect(warnings).toHaveLength(3);
  });

  it.each([
    ['serve', '--bogus'],
    ['serve', '--port', '70000'],
    ['serve', '--port', '-1'],
    ['serve', '--port', '1e3'],
    ['serve', '--port', ''],
    ['serve', '--port'],
    ['serve', '--log-level', 'loud'],
    ['serve', '--data', ''],
    ['serve', '--json=yes'],
    ['serve', 'extra'],
    ['serve', '--allowed-host', 'http://evil.test/'],
    ['serve', '--allowed-host', '*'],
    ['keys'],
    ['keys', 'burn'],
    ['keys', 'code', 'now'],
    ['keys', 'revoke'],
    ['keys', 'revoke', 'a', 'b'],
    ['keys', 'list', '--name', 'x'],
    ['keys', 'create', '--name', ' '],
    ['models'],
    ['models', 'pull'],
    ['models', 'list', 'all'],
    ['ask'],
    ['ask', ' '],
    ['transcribe'],
    ['transcribe', 'a.wav', 'b.wav'],
    ['say', 'Hello.'],
    ['say', '--out', 'a.wav'],
    ['say', 'Hello.', '--out', ''],
    ['say', 'Hello.', '--out', 'a.wav', '--speed', '3'],
    ['say', 'Hello.', '--out', 'a.wav', '--speed', 'fast'],
    ['converse'],
    ['converse', '--in', 'q.wav'],
    ['converse', '--out', 'a.wav'],
    ['converse', '--in', '', '--out', 'a.wav'],
    ['converse', 'q.wav', '--in', 'q.wav', '--out', 'a.wav'],
    ['dance'],
    ['--dance'],
    ['__proto__'],
  ])('is not understood: %s %s %s', (...argv) => {
    expect(() => parse(argv.filter((word) => word !== undefined))).toThrow(UsageError);
  });

  it('a file to transcribe, a text to say', () => {
    expect(parse(['transcribe', 'talk.wav', '--json']).command).toMatchObject({
      name: 'transcribe',
      file: 'talk.wav',
      common: { json: true },
    });
    expect(parse(['say', 'Good', 'morning.', '-o', 'a.wav', '--speed', '1.5', '--voice', 'joe']).command).toMatchObject({
      name: 'say',
      text: 'Good morning.',
      out: 'a.wav',
      voiceId: 'joe',
      speed: 1.5,
    });
    expect(parse(['say', 'Hello.', '--out', 'a.wav']).command).toMatchObject({ voiceId: undefined, speed: 1 });
    for (const [into, out] of [
      ['--in', '--out'],
      ['-i', '-o'],
    ] as const)
      expect(parse(['converse', into, 'q.wav', out, 'a.wav', '--json']).command).toMatchObject({
        name: 'converse',
        file: 'q.wav',
        out: 'a.wav',
        common: { json: true },
      });
  });

  it('never repeats control bytes of the command line to the terminal', () => {
    expect(() => parse(['\u001b]0;owned\u0007'])).toThrow(/^There is no command '\?\]0;owned\?'\.$/);
  });

  it('CLI-07: each command has a help page with one worked example', () => {
    for (const topic of [null, 'serve', 'keys', 'models', 'ask', 'chat', 'transcribe', 'say', 'converse'])
      expect(helpText(topic)?.match(/^Example: sotto /gm)).toHaveLength(1);
    expect(parse(['keys', '--help']).command).toEqual({ name: 'help', topic: 'keys' });
    expect(parse(['serve', '-h']).command).toEqual({ name: 'help', topic: 'serve' });
    expect(helpText('dance')).toBe(null);
    expect(helpText('constructor')).toBe(null);
  });
});

describe('what a person reads', () => {
  it('every code has a text that ends with it, and none shows odd data', () => {
    for (const code of Object.keys(codes) as ErrorCode[]) {
      const text = errorText(new AppError(code, { host: '\u001b[31m', modelId: { a: 1 }, incident: 'ABCD1234' }));
      if (code === 'INTERNAL') expect(text).toContain('Number ABCD1234.');
      else expect(text.trimEnd()).toMatch(new RegExp(`\\(${code}\\)$`));
      expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f]|undefined|\[object/);
    }
  });

  it('sizes have a unit, and what is not known is a question mark', () => {
    expect([0, 999, 1000, 98_400_000, 1.5e12, null, Number.NaN].map(bytes)).toEqual([
      '0 B',
      '999 B',
      '1.0 KB',
      '98.4 MB',
      '1.5 TB',
      '?',
      '?',
    ]);
  });
});
