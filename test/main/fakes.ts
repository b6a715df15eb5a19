import { EventEmitter } from 'node:events';
import type { MainLog } from '../../src/main/log.ts';

export const silentLog: MainLog = { info() {}, warn() {}, error() {} };

/** One end of Electron's message channel; what is posted at one end is an event at the other. */
export class FakePort extends EventEmitter {
  closed = false;
  other: FakePort | null = null;
  readonly got: unknown[] = [];

  postMessage(message: unknown): void {
    if (this.closed || this.other === null) return;
    this.other.got.push(message);
    this.other.emit('message', { data: message, ports: [] });
  }

  start(): void {}

  close(): void {
    if (this.closed) return;
    this.closed = true;
    if (this.other !== null && !this.other.closed) {
      this.other.closed = true;
      this.other.emit('close');
    }
  }
}

export function fakeChannel(): { port1: FakePort; port2: FakePort } {
  const [port1, port2] = [new FakePort(), new FakePort()];
  port1.other = port2;
  port2.other = port1;
  return { port1, port2 };
}
