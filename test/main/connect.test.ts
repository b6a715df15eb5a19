import { describe, expect, it } from 'vitest';
import { type ConnectEvent, createConnectHandler } from '../../src/main/app/connect.ts';
import type { AskingFrame } from '../../src/main/app/origin.ts';
import type { Page, PagePorts } from '../../src/main/processes/pagePorts.ts';
import { verifies } from '../helpers/verifies.ts';
import { FakePort, silentLog } from './fakes.ts';

const number = 'aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee';
const ours: AskingFrame = { url: 'app://sotto/', origin: 'app://sotto', parent: null };
const foreign: AskingFrame[] = [
  { url: 'data:text/html,x', origin: 'null', parent: null },
  { url: 'app://sotto.evil/', origin: 'app://sotto.evil', parent: null },
  { url: 'app://sotto/', origin: 'app://sotto', parent: {} },
];

function setUp(frame: AskingFrame | null) {
  const sent: unknown[][] = [];
  const window = { frame: frame ?? ours, gone: false };
  const event: ConnectEvent = {
    senderFrame: frame,
    sender: {
      id: 1,
      get mainFrame() {
        return window.frame;
      },
      isDestroyed: () => window.gone,
      postMessage: (...args) => void sent.push(args),
      send: (...args) => void sent.push(args),
    },
  };
  const pages: Page[] = [];
  const purposes: unknown[] = [];
  const ports: PagePorts = {
    connect: async (page, _number, options) => {
      pages.push(page);
      purposes.push(options?.purpose);
      return { status: 'connected' };
    },
    settled: async () => {},
  };
  return { event, window, sent, pages, purposes, ports };
}

describe('connect', () => {
  it('RB-02: a foreign frame gets no port, whatever number it brings', async () => {
    verifies('RB-02');
    for (const frame of [...foreign, null]) {
      const { event, pages, ports } = setUp(frame);
      const reply = await createConnectHandler({ ports, log: silentLog })(event, number);
      expect(reply).toMatchObject({ status: 'failed', error: { code: 'FORBIDDEN_SENDER' } });
      expect(pages).toEqual([]);
    }
  });

  it('RB-02, negative control: with a guard that lets everyone through the same frames do get one', async () => {
    verifies('RB-02');
    for (const frame of foreign) {
      const { event, pages, ports } = setUp(frame);
      expect(await createConnectHandler({ ports, log: silentLog, mayAsk: () => true })(event, number)).toEqual({ status: 'connected' });
      expect(pages).toHaveLength(1);
    }
  });

  it('refuses what is no one-time number', async () => {
    for (const bad of ['', 'short', 'x'.repeat(65), 'has spaces in the middle', 7, null, undefined, { toString: () => number }]) {
      const { event, pages, ports } = setUp(ours);
      const reply = await createConnectHandler({ ports, log: silentLog })(event, bad);
      expect(reply).toMatchObject({ status: 'failed', error: { code: 'INVALID_INPUT' } });
      expect(pages).toEqual([]);
    }
  });

  it('passes on what the port is for, and refuses what is no purpose of ours', async () => {
    const { event, purposes, ports } = setUp(ours);
    const connect = createConnectHandler({ ports, log: silentLog });
    for (const options of [undefined, {}, { purpose: 'calls' }, { purpose: 'voice' }])
      expect(await connect(event, number, options)).toEqual({ status: 'connected' });
    for (const bad of ['voice', 7, [], { purpose: 'admin' }, { purpose: null }, { purpose: 'voice', more: 1 }])
      expect(await connect(event, number, bad)).toMatchObject({ error: { code: 'INVALID_INPUT', data: { field: 'options' } } });
    expect(purposes).toEqual(['calls', 'calls', 'calls', 'voice']);
  });

  it('hands nothing to a window that went elsewhere while the runtime started', async () => {
    const { event, window, sent, pages, ports } = setUp(ours);
    await createConnectHandler({ ports, log: silentLog })(event, number);
    window.frame = { url: 'about:blank', origin: 'null', parent: null };
    const port = new FakePort();
    pages[0]?.givePort(number, port);
    pages[0]?.tellClosed(number);
    expect(sent).toEqual([]);
    expect(port.closed).toBe(true);
    window.frame = ours;
    window.gone = true;
    pages[0]?.tellClosed(number);
    expect(sent).toEqual([]);
  });
});
