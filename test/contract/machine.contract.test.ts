import { describe, expect, it } from 'vitest';
import { createMachineInfo } from '../../src/runtime/compose/machineInfo.ts';
import { residentBytes } from '../../src/runtime/platform/machine.ts';
import { createTestRuntime } from '../helpers/testRuntime.ts';
import { transports } from './transports.ts';

describe.each(transports)('the first steps $name', (transport) => {
  it('what this machine is, what is loaded, and where a person stands', async () => {
    await using reach = await transport.open();
    const info = await reach.client.machine.info({});
    expect(info.platform).toBe(process.platform);
    expect(info.threads).toBeGreaterThan(0);
    expect(info.memory.freeBytes).toBeLessThanOrEqual(info.memory.totalBytes);
    expect(info.disk.freeBytes ?? 1).toBeGreaterThan(0);
    expect((await reach.client.models.loaded({})).engines).toEqual([]);
    expect(await reach.client.settings.set({ firstRun: 'machine', typeOnly: true })).toMatchObject({ firstRun: 'machine', typeOnly: true });
  });
});

// As a child of main it is main that lends it (test/main/microphoneHost.test.ts).
describe.each(transports.filter(({ name }) => name !== 'in a child process'))('the microphone test $name', (transport) => {
  it('the microphone is lent for as long as the caller follows, to one at a time', async () => {
    await using reach = await transport.open();
    const lease = await reach.client.voice.testMicrophone({});
    expect((await lease.next()).value).toEqual({ granted: true });
    const other = await reach.client.voice.testMicrophone({});
    await expect(other.next()).rejects.toMatchObject({ code: 'VOICE_BUSY' });
    await lease.return();
    await expect
      .poll(async () => {
        const again = await reach.client.voice.testMicrophone({});
        const first = await again.next().catch(() => null);
        await again.return();
        return first?.value;
      })
      .toEqual({ granted: true });
  });
});

describe('what is not known of a machine', () => {
  const machine = {
    totalBytes: () => 8e9,
    // A container may be told of more than it has.
    availableBytes: () => 9e9,
    physicalCores: () => 4,
    logicalCores: () => 8,
  };
  const language = { get: () => ({ cpuVariant: null }) } as never;

  it('is null, and never a guess', async () => {
    const info = await createMachineInfo({
      machine,
      files: { freeBytes: async () => null },
      modelsDir: '/models',
      language,
      offline: () => true,
      processor: () => null,
    })();
    expect(info).toMatchObject({ processor: null, cpuVariant: null, offline: true, threads: 8 });
    expect(info.disk.freeBytes).toBeNull();
    expect(info.memory).toEqual({ totalBytes: 8e9, freeBytes: 8e9 });
  });

  it('memory of a process: as the system says, else null', () => {
    const status = 'Name:\tnode\nVmPeak:\t  900000 kB\nVmRSS:\t  123456 kB\n';
    expect(residentBytes(7, (file) => (file === '/proc/7/status' ? status : null))).toBe(123_456 * 1024);
    expect(residentBytes(7, () => null)).toBeNull();
    expect(residentBytes(null)).toBeNull();
  });
});

describe('who updates', () => {
  it('is past the first steps with a chat, and led through them without one', async () => {
    await using first = await createTestRuntime();
    const stepOf = async (rt: typeof first) => {
      for await (const { value } of await rt.client.settings.watch({})) return value.firstRun;
      return null;
    };
    expect(await stepOf(first)).toBe('privacy');
    await first.client.sessions.start({ title: 'Boiler' });
    await first.stop();
    const second = await createTestRuntime({ dataDir: first.dataDir });
    expect(await stepOf(second)).toBe('done');
    await second.stop();
  });
});
