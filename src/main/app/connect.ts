import { ipcMain } from 'electron';
import { type ConnectReply, channels, isLinkNumber } from '../../shared/contract/pageLink.ts';
import { AppError } from '../../shared/errors/appError.ts';
import type { MainLog } from '../log.ts';
import type { Page, PagePorts } from '../processes/pagePorts.ts';
import { isOurMainFrame } from './origin.ts';

/** The one invoke channel. Who asks is read from the frame, never from the input (RB-02). */
export function answerPages(ports: PagePorts, log: MainLog): void {
  ipcMain.handle(channels.connect, async (event, number: unknown): Promise<ConnectReply> => {
    const frame = event.senderFrame;
    if (frame === null || !isOurMainFrame(frame)) {
      log.warn('sender.refused');
      return { status: 'failed', error: new AppError('FORBIDDEN_SENDER').toWire() };
    }
    if (!isLinkNumber(number)) {
      return { status: 'failed', error: new AppError('INVALID_INPUT', { field: 'number', reason: 'type' }).toWire() };
    }
    // It is checked again before anything is handed out: the runtime may take seconds, and the page may have gone by then.
    const contents = event.sender;
    const present = () => !contents.isDestroyed() && isOurMainFrame(contents.mainFrame);
    const page: Page = {
      key: String(contents.id),
      givePort(one, port) {
        if (present()) contents.postMessage(channels.port, one, [port]);
        else port.close();
      },
      tellClosed(one) {
        if (present()) contents.send(channels.closed, one);
      },
    };
    return ports.connect(page, number);
  });
}
