/** The engine's line to its parent, whatever started it. */
export type Transport = {
  /** Structured clone. `sent` is called when the message is on its way, also when it cannot be. */
  post(message: unknown, sent?: () => void): void;
  onMessage(listener: (message: unknown) => void): void;
  /** The parent is gone or has let go. */
  onGone(listener: () => void): void;
};

/** What we use of Electron's `process.parentPort` and of a `MessagePortMain`, without Electron's types in the engine. */
export type ElectronPort = {
  postMessage(message: unknown): void;
  on(event: 'message', listener: (event: { data: unknown; ports: ElectronPort[] }) => void): void;
  on(event: 'close', listener: () => void): void;
  start?(): void;
};

type ForkedProcess = {
  send?(message: unknown, callback: (error: Error | null) => void): boolean;
  on(event: 'message', listener: (message: unknown) => void): unknown;
  on(event: 'disconnect', listener: () => void): unknown;
  readonly parentPort?: ElectronPort;
};

/** @returns null if nobody started this process as a child. */
export function openTransport(child: ForkedProcess): Transport | null {
  if (child.parentPort !== undefined) return electronTransport(child.parentPort);
  if (child.send !== undefined) return forkTransport(child);
  return null;
}

function forkTransport(child: ForkedProcess): Transport {
  return {
    post(message, sent) {
      try {
        child.send?.(message, () => sent?.());
      } catch {
        // The channel is closed: `disconnect` says so.
        sent?.();
      }
    },
    onMessage: (listener) => void child.on('message', listener),
    onGone: (listener) => void child.on('disconnect', listener),
  };
}

/**
 * Under Electron the parent port is main's. Main hands over one port straight to the runtime, and from then on frames go that way only
 * (`shared/supervision/electronEngine.ts`).
 */
function electronTransport(parent: ElectronPort): Transport {
  const messages: ((message: unknown) => void)[] = [];
  const gone: (() => void)[] = [];
  let line = parent;
  const listen = (port: ElectronPort) => {
    port.on('message', (event) => {
      const straight = event.ports[0];
      if (straight !== undefined && line === parent) {
        line = straight;
        listen(straight);
        straight.start?.();
        return;
      }
      if (port === line) for (const listener of messages) listener(event.data);
    });
    port.on('close', () => {
      for (const listener of gone) listener();
    });
  };
  listen(parent);
  return {
    post(message, sent) {
      line.postMessage(message);
      sent?.();
    },
    onMessage: (listener) => void messages.push(listener),
    onGone: (listener) => void gone.push(listener),
  };
}
