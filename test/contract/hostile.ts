import { traverseContractProcedures } from '@orpc/server';
import { z } from 'zod';
import { contract } from '../../src/shared/contract/index.ts';
import { newId } from '../../src/shared/domain/ids.ts';
import type { Reach } from './transports.ts';

const at = Date.UTC(2026, 0, 1);
const sessionId = newId('session', at);
const turnId = newId('turn', at);
const jobId = newId('job', at);
const modelId = 'model-a';

/** A valid input of every procedure of the contract; a test proves that the list is whole and that each one is valid. */
export const samples: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'runtime.health': {},
  'sessions.start': { sessionId: 'my-session', title: 'A title', metadata: { a: 1 }, origin: 'app' },
  'sessions.get': { sessionId },
  'sessions.list': { limit: 10, trash: false },
  'sessions.watchList': {},
  'sessions.setTitle': { sessionId, title: 'A title' },
  'sessions.trash': { sessionId },
  'sessions.restore': { sessionId },
  'sessions.erase': { sessionId, confirm: true },
  'sessions.search': { query: 'words', limit: 10 },
  'sessions.getDraft': { sessionId },
  'sessions.setDraft': { sessionId, text: 'a draft' },
  'turns.send': { sessionId, content: 'Hello', idempotencyKey: 'key-1', mode: 'reject' },
  'turns.retry': { sessionId, turnId, idempotencyKey: 'key-1' },
  'turns.cancel': { sessionId, turnId },
  'turns.get': { sessionId, turnId },
  'turns.decide': { sessionId, turnId, choice: 'resume' },
  'turns.history': { sessionId, limit: 10 },
  'events.list': { sessionId, after: 0, limit: 10 },
  'events.watch': { sessionId, after: 0 },
  'models.catalogue': {},
  'models.installed': {},
  'models.startDownload': { modelId },
  'models.pauseDownload': { jobId },
  'models.resumeDownload': { jobId },
  'models.cancelDownload': { jobId },
  'models.downloads': {},
  'models.language': {},
  'models.enableLanguage': { modelId },
  'ledger.list': { limit: 10, before: 5 },
  'settings.watch': {},
  'settings.set': { theme: 'dark' },
  'server.keys': {},
  'server.createKey': { name: 'a key' },
  'server.revokeKey': { keyId: newId('key', at) },
  'server.oneTimeCode': {},
  'speech.transcribe': { pcm: Buffer.alloc(32_000).toString('base64') },
  'speech.voices': { language: 'en', gender: 'male', installed: true, first: 'en-GB' },
  'speech.measure': { modelId },
  'speech.say': { text: 'Good morning.', voiceId: 'joe', language: 'en', speed: 1 },
  'models.loaded': {},
  'machine.info': {},
  'voice.phase': {},
  'voice.arm': { line: 'line-1', mode: 'push-to-talk' },
  'voice.disarm': {},
  'voice.mute': { muted: true },
  'voice.cancel': {},
  'voice.latency': { limit: 10 },
  'voice.testMicrophone': {},
};

export type Procedure = { readonly path: string; accepts(input: unknown): boolean };

export function allProcedures(): Procedure[] {
  const found: Procedure[] = [];
  traverseContractProcedures({ router: contract, path: [] }, ({ contract: procedure, path }) => {
    found.push({
      path: path.join('.'),
      accepts(input) {
        const schema: unknown = procedure['~orpc'].inputSchema;
        return schema instanceof z.ZodType && schema.safeParse(input).success;
      },
    });
  });
  return found;
}

export type Trial = { readonly what: string; readonly input: unknown; readonly reasons: readonly string[]; readonly field?: string };

/** The wrong inputs of RB-03 for one valid sample. A cycle cannot be written as text: the in-process test has it. */
export function wrongInputs(
  sample: Readonly<Record<string, unknown>>,
  required: readonly string[],
  options: { hugeCharacters: number },
): Trial[] {
  const trials: Trial[] = [
    { what: 'no object at all', input: 'text', reasons: ['type'] },
    { what: 'an array', input: [], reasons: ['type'] },
    { what: 'null', input: null, reasons: ['type'] },
    { what: 'one field too many', input: { ...sample, surplus: 1 }, reasons: ['unknown'], field: 'surplus' },
    {
      what: 'a prototype key',
      input: JSON.parse(`{"__proto__":{"polluted":true},"x":${JSON.stringify(sample)}}`), // oRPC's own client drops the key while it writes; raw frames are tried apart.
      reasons: ['unknown', 'missing'],
    },
    { what: 'a constructor key', input: { ...sample, constructor: { prototype: { polluted: true } } }, reasons: ['unknown'] },
    { what: 'nesting of 100', input: { ...sample, surplus: nested(100) }, reasons: ['depth'] },
  ];
  for (const field of required) {
    const { [field]: _, ...rest } = sample;
    trials.push({ what: `no ${field}`, input: rest, reasons: ['missing'], field });
  }
  for (const field of Object.keys(sample)) {
    trials.push(
      {
        what: `${field} of a wrong type`,
        input: { ...sample, [field]: typeof sample[field] === 'object' ? 7 : { wrong: true } },
        reasons: ['type', 'range', 'unknown'],
      },
      { what: `${field} not a number`, input: { ...sample, [field]: Number.NaN }, reasons: ['not_finite'], field },
    );
  }
  const text = Object.keys(sample).find((field) => typeof sample[field] === 'string');
  if (text !== undefined)
    trials.push({
      what: `a huge ${text}`,
      // The last sign keeps it from being base64, which may be as long as this.
      input: { ...sample, [text]: `${'x'.repeat(options.hugeCharacters)}…` },
      reasons: ['range', 'format', 'type'],
    });
  return trials;
}

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let i = 0; i < depth; i++) value = { a: value };
  return value;
}

/** Calls by path, past the types. */
export function callByPath(
  client: Reach['client'],
  path: string,
  input: unknown,
  options: { signal?: AbortSignal } = {},
): Promise<unknown> {
  let target: unknown = client;
  for (const segment of path.split('.')) target = Reflect.get(target as object, segment);
  return (target as (input: unknown, options: object) => Promise<unknown>)(input, options);
}
