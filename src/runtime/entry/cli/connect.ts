import { createRouterClient } from '@orpc/server';
import { appErrors } from '../../../shared/contract/clientErrors.ts';
import type { LineWire } from '../../../shared/contract/voiceLine.ts';
import { AppError } from '../../../shared/errors/appError.ts';
import { connectToServer, connectVoiceLine, type RuntimeClient } from '../../http/client.ts';
import { findServer, readToken } from '../../http/discovery.ts';
import type { Local } from './local.ts';
import { createMemoryLine } from './memoryLine.ts';

/** The runtime that a command talks to. */
export type Reach = {
  readonly client: RuntimeClient;
  /** A voice line to it. @throws AppError RUNTIME_UNAVAILABLE. */
  openLine(): Promise<LineWire>;
};

/**
 * The runtime of a data folder (CLI-01): the server that runs there, else one of our own in this process.
 *
 * @throws AppError DATA_DIR_IN_USE when something else holds the folder, UNAUTHORIZED when the server refuses the key.
 */
export async function openClient(
  local: Local,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Reach & { close(): Promise<void> }> {
  const server = await findServer(local.paths);
  if (server !== null) {
    const key = env.SOTTO_KEY || (await readToken(local.paths));
    if (key === null) throw new AppError('UNAUTHORIZED');
    const { client, close } = await connectToServer(server.url, key);
    return { client, openLine: () => connectVoiceLine(server.url, key), close: async () => close() };
  }
  const runtime = await local.compose();
  return {
    client: createRouterClient(runtime.router, { interceptors: [appErrors] }),
    async openLine() {
      const { near, far } = createMemoryLine();
      runtime.services.voice.connect(far);
      return near;
    },
    close: () => runtime[Symbol.asyncDispose](),
  };
}
