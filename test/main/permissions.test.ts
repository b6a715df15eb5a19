import { describe, expect, it } from 'vitest';
import { createMicrophonePolicy } from '../../src/main/os/microphone.ts';
import { guardPermissions, mayHave } from '../../src/main/os/permissions.ts';
import { silentLog } from './fakes.ts';

const ours = { addresses: ['app://sotto/'], mainFrame: true, kinds: [] };
const audio = { permission: 'media', addresses: ['app://sotto/', 'app://sotto'], mainFrame: true, kinds: ['audio'] };

describe('what the page may have', () => {
  it('the clipboard to write and the choice of a loudspeaker, for the main frame of our page; nothing else', () => {
    for (const permission of ['clipboard-sanitized-write', 'speaker-selection']) {
      expect(mayHave({ ...ours, permission }, false)).toBe(true);
      expect(mayHave({ ...ours, permission, mainFrame: false }, true)).toBe(false);
      for (const other of ['app://sotto.evil/', 'app://sotto:1/', 'https://sotto/', 'about:blank', ''])
        expect(mayHave({ ...ours, permission, addresses: [other] }, true), other).toBe(false);
      expect(mayHave({ ...ours, permission, addresses: [] }, true)).toBe(false);
    }
    for (const permission of [
      ...['clipboard-read', 'geolocation', 'notifications', 'display-capture', 'midi', 'midiSysex', 'usb', 'hid', 'serial', 'bluetooth'],
      ...['openExternal', 'local-network', 'fileSystem', 'idle-detection', 'mediaKeySystem', 'unknown', ''],
    ])
      for (const kinds of [[], ['audio']]) expect(mayHave({ ...ours, permission, kinds }, true), permission).toBe(false);
  });

  it('the microphone while its policy is open, and sound alone', () => {
    expect(mayHave(audio, true)).toBe(true);
    expect(mayHave(audio, false)).toBe(false);
    for (const kinds of [['video'], ['audio', 'video'], [], ['unknown']])
      expect(mayHave({ ...audio, kinds }, true), kinds.join()).toBe(false);
    expect(mayHave({ ...audio, mainFrame: false }, true)).toBe(false);
    // Both of its names must be ours.
    for (const addresses of [['app://sotto.evil/'], ['app://sotto/', 'https://example.com/'], ['https://example.com/', 'app://sotto/']])
      expect(mayHave({ ...audio, addresses }, true)).toBe(false);
  });

  it('PV-09: the policy is closed until a lease, and a mute takes the lease away and gives none', () => {
    const policy = createMicrophonePolicy();
    expect(policy.isOpen()).toBe(false);
    expect(policy.grant()).toBe(true);
    expect(policy.isOpen()).toBe(true);
    policy.setMuted(true);
    expect(policy.isOpen()).toBe(false);
    expect(policy.grant()).toBe(false);
    expect(policy.isOpen()).toBe(false);
    policy.setMuted(false);
    expect([policy.isOpen(), policy.isMuted()]).toEqual([false, false]);
    expect(policy.grant()).toBe(true);
    policy.release();
    expect(policy.isOpen()).toBe(false);
  });

  it('both of Electron’s questions are answered by it, each time anew', () => {
    type Handlers = Parameters<typeof guardPermissions>[0];
    let request: Parameters<Handlers['setPermissionRequestHandler']>[0] = null;
    let check: Parameters<Handlers['setPermissionCheckHandler']>[0] = null;
    const device: Parameters<Handlers['setDevicePermissionHandler']>[0][] = [];
    const policy = createMicrophonePolicy();
    guardPermissions(
      {
        setPermissionRequestHandler: (handler) => {
          request = handler;
        },
        setPermissionCheckHandler: (handler) => {
          check = handler;
        },
        setDevicePermissionHandler: (handler) => void device.push(handler),
        setDisplayMediaRequestHandler: () => {},
      },
      policy,
      silentLog,
    );
    const asked = (mediaTypes: ('audio' | 'video')[], requestingUrl = 'app://sotto/') => {
      let answer: boolean | null = null;
      const reply = (granted: boolean) => {
        answer = granted;
      };
      request?.(null as never, 'media', reply, { requestingUrl, isMainFrame: true, mediaTypes, securityOrigin: 'app://sotto/' });
      return answer;
    };
    const checked = (mediaType: 'audio' | 'video' | 'unknown', securityOrigin = 'app://sotto/') =>
      check?.(null, 'media', 'app://sotto/', { isMainFrame: true, mediaType, securityOrigin, requestingUrl: 'app://sotto/' });
    expect([asked(['audio']), checked('audio')]).toEqual([false, false]);
    policy.grant();
    expect([asked(['audio']), checked('audio')]).toEqual([true, true]);
    expect([asked(['video']), asked(['audio', 'video']), asked([]), asked(['audio'], 'app://sotto.evil/')]).toEqual([
      false,
      false,
      false,
      false,
    ]);
    expect([checked('video'), checked('unknown'), checked('audio', 'https://example.com/')]).toEqual([false, false, false]);
    policy.setMuted(true);
    expect([asked(['audio']), checked('audio')]).toEqual([false, false]);
    expect(device.map((handler) => handler?.({ deviceType: 'usb', origin: 'app://sotto', device: {} as never }))).toEqual([false]);
  });
});
