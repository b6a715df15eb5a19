import { expect, it } from 'vitest';
import { createPageWires } from '../../../src/runtime/entry/pageWires.ts';
import type { PortFrame } from '../../../src/shared/contract/hostLink.ts';
import { type LineWire, maxLineText } from '../../../src/shared/contract/voiceLine.ts';
import { frameBytes } from '../../../src/shared/util/audioWire.ts';
import { createTestLog } from '../../helpers/testRuntime.ts';
import { fakeChannel } from '../../main/fakes.ts';

function setUp() {
  const posted: PortFrame[] = [];
  const calls: unknown[] = [];
  const lines: { wire: LineWire; heard: unknown[]; closed: boolean }[] = [];
  const wires = createPageWires({
    post: (body) => void posted.push(structuredClone(body)),
    serve: (wire) => wire.onMessage((message) => calls.push(message)),
    serveVoice(wire) {
      const line = { wire, heard: [] as unknown[], closed: false };
      lines.push(line);
      wire.onMessage((data) => line.heard.push(data));
      wire.onClose(() => {
        line.closed = true;
      });
    },
    log: createTestLog(),
  });
  return { wires, posted, calls, lines };
}

/** A relayed line, and one whose port main transferred: what goes up, what came down, and how its page goes. */
const carriers = [
  [
    'relayed',
    (on: ReturnType<typeof setUp>) => {
      on.wires.receive({ k: 'port', id: 1, purpose: 'voice' }, null);
      return {
        up: (data: unknown) => on.wires.receive({ k: 'port.data', id: 1, data }, null),
        down: () => on.posted.flatMap((frame) => (frame.k === 'port.data' ? [frame.data] : [])),
        leave: () => on.wires.receive({ k: 'port.close', id: 1 }, null),
      };
    },
  ],
  [
    'transferred',
    (on: ReturnType<typeof setUp>) => {
      const { port1, port2 } = fakeChannel();
      on.wires.receive({ k: 'port', id: 1, purpose: 'voice' }, port1);
      return { up: (data: unknown) => port2.postMessage(data), down: () => port2.got, leave: () => port2.close() };
    },
  ],
] as const;

it.each(carriers)('a %s line carries texts and sound in their order, bytes in buffers of their own', (_name, open) => {
  const on = setUp();
  const { up, down } = open(on);
  const channel = new TextEncoder().encode('0123456789');
  up('{"t":"ended"}');
  up(channel.subarray(2, 5));
  up('after');
  const [line] = on.lines;
  expect(line?.heard).toEqual(['{"t":"ended"}', new TextEncoder().encode('234'), 'after']);
  expect((line?.heard[1] as Uint8Array).buffer.byteLength).toBe(3);
  line?.wire.send('{"t":"closeMic"}');
  line?.wire.send(channel.subarray(0, 2));
  expect(down()).toEqual(['{"t":"closeMic"}', new TextEncoder().encode('01')]);
  expect((down()[1] as Uint8Array).buffer.byteLength).toBe(2);
  expect(on.calls).toEqual([]);
});

it.each(carriers)('a %s line ends with its page, and once', (_name, open) => {
  const on = setUp();
  const { leave, down } = open(on);
  leave();
  expect(on.lines[0]?.closed).toBe(true);
  on.lines[0]?.wire.send('late');
  on.lines[0]?.wire.close('over');
  expect(down()).toEqual([]);
  expect(on.posted.filter(({ k }) => k === 'port.close').length).toBeLessThanOrEqual(1);
});

it.each(carriers)('a %s line that the runtime closes is told to main, which tells the page', (_name, open) => {
  const on = setUp();
  const { up } = open(on);
  on.lines[0]?.wire.close('bad');
  expect(on.posted).toEqual([{ k: 'port.close', id: 1 }]);
  expect(on.lines[0]?.closed).toBe(true);
  up('late');
  expect(on.lines[0]?.heard).toEqual([]);
});

it('what is no message of a line reaches nobody; over a port of its own it ends the line', () => {
  for (const bad of [
    { t: 'ended' },
    null,
    7,
    new ArrayBuffer(8),
    new Float32Array(2),
    'x'.repeat(maxLineText + 1),
    new Uint8Array(frameBytes + 1),
  ]) {
    const on = setUp();
    const { port1, port2 } = fakeChannel();
    on.wires.receive({ k: 'port', id: 1, purpose: 'voice' }, port1);
    port2.postMessage(bad);
    expect([bad, on.lines[0]?.heard, on.lines[0]?.closed]).toEqual([bad, [], true]);
    expect(on.posted).toEqual([{ k: 'port.close', id: 1 }]);
    expect(port1.closed).toBe(true);

    const relayed = setUp();
    relayed.wires.receive({ k: 'port', id: 1, purpose: 'voice' }, null);
    relayed.wires.receive({ k: 'port.data', id: 1, data: bad }, null);
    expect([bad, relayed.lines[0]?.heard]).toEqual([bad, []]);
  }
});

it('a port of calls takes no sound, and a port without a purpose is none', () => {
  const on = setUp();
  on.wires.receive({ k: 'port', id: 1, purpose: 'calls' }, null);
  on.wires.receive({ k: 'port.data', id: 1, data: Uint8Array.of(1, 2) }, null);
  expect(on.calls).toEqual([]);
  expect(on.wires.receive({ k: 'port', id: 2 }, null)).toBe(false);
  expect(on.wires.receive({ k: 'port', id: 2, purpose: 'admin' }, null)).toBe(false);
  expect(on.lines).toEqual([]);
});
