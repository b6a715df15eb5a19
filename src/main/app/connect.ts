import type { MessagePortMain } from 'electron';
import { z } from 'zod';
import { type ConnectReply, channels, isLinkNumber } from '../../shared/contract/pageLink.ts';
import { AppError } from '../../shared/errors/appError.ts';
import type { MainLog } from '../log.ts';
import type { Page, PagePorts } from '../processes/pagePorts.ts';
import { type AskingFrame, isOurMainFrame } from './origin.ts';

/** The event of the one invoke channel, as far as it is looked at; Electron's own fits. */
export type ConnectEvent = {
  readonly senderFrame: AskingFrame | null;
  readonly sender: {
    readonly id: number;
    readonly mainFrame: AskingFrame;
    isDestroyed(): boolean;
    postMessage(channel: string, message: unknown, transfer?: MessagePortMain[]): void;
    send(channel: string, ...args: unknown[]): void;
  };
};

const Options = z.strictObject({
  purpose: z.enum(['calls', 'voice']).default('calls'),
  damaged: z.enum(['restore', 'empty']).optional(),
});

/**
 * Answers `connect` of the preload. Who asks is read from the frame, never from the input (RB-02).
 *
 * @param mayAsk  the guard of the sender; tests give another one to see that their check would notice.
 */
export function createConnectHandler(deps: { ports: PagePorts; log: MainLog; mayAsk?: typeof isOurMainFrame }) {
  const { ports, log, mayAsk = isOurMainFrame } = deps;
  return async (event: ConnectEvent, number: unknown, options?: unknown): Promise<ConnectReply> => {
    if (!mayAsk(event.senderFrame)) {
      log.warn('sender.refused');
      return { status: 'failed', error: new AppError('FORBIDDEN_SENDER').toWire() };
    }
    if (!isLinkNumber(number)) {
      return { status: 'failed', error: new AppError('INVALID_INPUT', { field: 'number', reason: 'type' }).toWire() };
    }
    const asked = Options.safeParse(options ?? {});
    if (!asked.success) {
      return { status: 'failed', error: new AppError('INVALID_INPUT', { field: 'options', reason: 'type' }).toWire() };
    }
    const { sender } = event;
    // Looked at again before anything is handed out: the runtime may take seconds, and the page may have gone by then.
    const present = () => !sender.isDestroyed() && mayAsk(sender.mainFrame);
    const page: Page = {
      key: String(sender.id),
      givePort(one, port) {
        if (present()) sender.postMessage(channels.port, one, [port]);
        else port.close();
      },
      tellClosed(one) {
        if (present()) sender.send(channels.closed, one);
      },
    };
    return ports.connect(page, number, asked.data);
  };
}
