import { earlyLineMessages } from '../../../shared/contract/lineData.ts';
import type { LineWire } from '../../../shared/contract/voiceLine.ts';
import { createInbox } from '../../../shared/util/inbox.ts';

type Data = string | Uint8Array<ArrayBuffer>;

/** The two ends of a voice line within one process: what is sent is copied and arrives later, in order. */
export function createMemoryLine(): { near: LineWire; far: LineWire } {
  let isOpen = true;
  const closes: (() => void)[] = [];
  const close = () => {
    if (!isOpen) return;
    isOpen = false;
    queueMicrotask(() => {
      for (const listener of closes.splice(0)) listener();
    });
  };
  const inboxes = [createInbox<Data>(earlyLineMessages, close), createInbox<Data>(earlyLineMessages, close)] as const;
  const end = (own: 0 | 1, other: 0 | 1): LineWire => ({
    send(data) {
      if (!isOpen) return;
      const copy = structuredClone(data);
      queueMicrotask(() => {
        if (isOpen) inboxes[other].put(copy);
      });
    },
    onMessage: inboxes[own].listen,
    onClose(listener) {
      if (isOpen) closes.push(listener);
      else queueMicrotask(listener);
    },
    close,
  });
  return { near: end(0, 1), far: end(1, 0) };
}
