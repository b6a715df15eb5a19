import { oc } from '@orpc/contract';
import { z } from 'zod';
import { KeyId } from '../domain/ids.ts';
import { Timestamp } from '../domain/time.ts';
import { errors } from './errors.ts';

/** A key or a signed-in page (SV-07, SV-10); the secret itself is shown once, at creation. */
export const KeyInfo = z.strictObject({
  id: KeyId,
  kind: z.enum(['key', 'page']),
  name: z.string(),
  createdAt: Timestamp,
  lastUsedAt: Timestamp.nullable(),
  expiresAt: Timestamp.nullable(),
  revokedAt: Timestamp.nullable(),
});
export type KeyInfo = z.infer<typeof KeyInfo>;

export const server = {
  keys: oc
    .errors(errors())
    .input(z.strictObject({}))
    .output(z.strictObject({ keys: z.array(KeyInfo) })),
  createKey: oc
    .errors(errors())
    .input(z.strictObject({ name: z.string().trim().min(1).max(100) }))
    .output(z.strictObject({ key: KeyInfo, secret: z.string() })),
  revokeKey: oc
    .errors(errors('NOT_FOUND'))
    .input(z.strictObject({ keyId: KeyId }))
    .output(KeyInfo),
  /** A one-time sign-in code of 10 minutes. */
  oneTimeCode: oc
    .errors(errors())
    .input(z.strictObject({}))
    .output(z.strictObject({ code: z.string(), expiresAt: Timestamp })),
};
