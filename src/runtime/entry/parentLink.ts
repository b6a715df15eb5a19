import type { ParentPortLike, PortLike } from '../platform/electronStarter.ts';

/** The runtime's line to main, whatever started it. */
export type ParentLink = {
  /** Structured clone. `sent` is called once the message is on its way, also when it cannot be. */
  post(message: unknown, sent?: () => void): void;
  /** `port`: a page's port that came with the message, where main can transfer one. */
  onMessage(listener: (message: unknown, port: PortLike | null) => void): void;
  /** Main is gone. */
  onGone(listener: () => void): void;
};

type ForkedProcess = {
  send?(message: unknown, callback: (error: Error | null) => void): boolean;
  on(event: 'message', listener: (message: unknown) => void): unknown;
  on(event: 'disconnect', listener: () => void): unknown;
};

/** @throws Error if nobody started this process with an IPC channel. */
export function forkLink(child: ForkedProcess): ParentLink {
  if (child.send === undefined) throw new Error('this file is started by the app, as its child');
  return {
    post(message, sent) {
      try {
        child.send?.(message, () => sent?.());
      } catch {
        // The channel is closed: `disconnect` tells it.
        sent?.();
      }
    },
    onMessage: (listener) => void child.on('message', (message) => listener(message, null)),
    onGone: (listener) => void child.on('disconnect', listener),
  };
}

/** A utilityProcess ends with its parent by itself. */
export function utilityLink(parent: ParentPortLike): ParentLink {
  return {
    post(message, sent) {
      parent.postMessage(message);
      sent?.();
    },
    onMessage: (listener) => void parent.on('message', (event) => listener(event.data, event.ports[0] ?? null)),
    onGone() {},
  };
}
