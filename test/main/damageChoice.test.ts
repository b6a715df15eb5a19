import { expect, it } from 'vitest';
import { type ConnectEvent, createConnectHandler } from '../../src/main/app/connect.ts';
import type { AskingFrame } from '../../src/main/app/origin.ts';
import { silentLog } from './fakes.ts';

const number = 'aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee';
const ours: AskingFrame = { url: 'app://sotto/', origin: 'app://sotto', parent: null };
const event: ConnectEvent = {
  senderFrame: ours,
  sender: { id: 1, mainFrame: ours, isDestroyed: () => false, postMessage: () => {}, send: () => {} },
};

it('what a person chose for damaged chats is passed on; anything else is refused before the runtime hears of it', async () => {
  const chosen: unknown[] = [];
  const connect = createConnectHandler({
    ports: {
      connect: async (_page, _number, options) => {
        chosen.push(options?.damaged);
        return { status: 'connected' };
      },
      settled: async () => {},
    },
    log: silentLog,
  });
  for (const damaged of [undefined, 'restore', 'empty']) expect(await connect(event, number, { damaged })).toEqual({ status: 'connected' });
  for (const damaged of ['refuse', '', null, 1, {}])
    expect(await connect(event, number, { damaged })).toMatchObject({
      status: 'failed',
      error: { code: 'INVALID_INPUT', data: { field: 'options' } },
    });
  expect(chosen).toEqual([undefined, 'restore', 'empty']);
});
