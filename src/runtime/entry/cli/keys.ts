import type { KeyInfo } from '../../../shared/contract/server.ts';
import { KeyId } from '../../../shared/domain/ids.ts';
import { AppError } from '../../../shared/errors/appError.ts';
import type { RuntimeClient } from '../../http/client.ts';
import type { Command } from './args.ts';
import type { Io } from './io.ts';

/** `sotto keys …` (SV-07, SV-10). */
export async function keysCommand(command: Extract<Command, { name: 'keys' }>, client: RuntimeClient, io: Io): Promise<number> {
  const { json } = command.common;
  const show = (value: unknown, text: string) => io.out(json ? `${JSON.stringify(value)}\n` : text);
  switch (command.action) {
    case 'code': {
      const code = await client.server.oneTimeCode({});
      show(code, `${code.code}\n`);
      if (!json) io.err(`Type it on the sign-in page. It works once, until ${code.expiresAt.slice(11, 16)} UTC.\n`);
      return 0;
    }
    case 'list': {
      const { keys } = await client.server.keys({});
      if (json) for (const key of keys) io.out(`${JSON.stringify(key)}\n`);
      else io.out(keys.length === 0 ? 'There are no keys.\n' : keys.map(line).join(''));
      return 0;
    }
    case 'create': {
      const made = await client.server.createKey({ name: command.keyName });
      show(made, `${made.secret}\n`);
      if (!json) io.err(`This is the only time it is shown. Its id is ${made.key.id}.\n`);
      return 0;
    }
    case 'revoke': {
      const id = KeyId.safeParse(command.keyId);
      if (!id.success) throw new AppError('NOT_FOUND');
      const key = await client.server.revokeKey({ keyId: id.data });
      show(key, `${key.name} is revoked; its connections are closed.\n`);
      return 0;
    }
  }
}

function line(key: KeyInfo): string {
  const state = key.revokedAt !== null ? 'revoked' : key.kind === 'page' ? 'signed-in page' : 'key';
  const used = key.lastUsedAt === null ? 'never used' : `last used ${key.lastUsedAt.slice(0, 16).replace('T', ' ')} UTC`;
  return `${key.id}  ${state.padEnd(14)}  ${used.padEnd(30)}  ${key.name}\n`;
}
