import { createRouterClient } from '@orpc/server';
import { appErrors } from '../../../shared/contract/clientErrors.ts';
import { AppError } from '../../../shared/errors/appError.ts';
import { connectToServer, type RuntimeClient } from '../../http/client.ts';
import { findServer, readToken } from '../../http/discovery.ts';
import type { Local } from './local.ts';

/**
 * The runtime of a data folder (CLI-01): the server that runs there, else one of our own in this process.
 *
 * @throws AppError DATA_DIR_IN_USE when something else holds the folder, UNAUTHORIZED when the server refuses the key.
 */
export async function openClient(
  local: Local,
  env: Readonly<Record<string, string | undefined>>,
): Promise<{ client: RuntimeClient; close(): Promise<void> }> {
  const server = await findServer(local.paths);
  if (server !== null) {
    const key = env.SOTTO_KEY || (await readToken(local.paths));
    if (key === null) throw new AppError('UNAUTHORIZED');
    const { client, close } = await connectToServer(server.url, key);
    return { client, close: async () => close() };
  }
  const runtime = await local.compose();
  return {
    client: createRouterClient(runtime.router, { interceptors: [appErrors] }),
    close: () => runtime[Symbol.asyncDispose](),
  };
}
