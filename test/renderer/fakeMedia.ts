import type { Media } from '../../src/renderer/audio/devices.ts';
import type { PlaybackNode } from '../../src/renderer/audio/playback.ts';
import type { PlaybackCore } from '../../src/renderer/audio/playbackCore.ts';

class FakeTrack extends EventTarget {
  readyState: 'live' | 'ended' = 'live';
  readonly label: string;
  constructor(label: string) {
    super();
    this.label = label;
  }
  stop(): void {
    this.readyState = 'ended';
  }
  /** As a plug that is pulled. */
  pull(): void {
    this.readyState = 'ended';
    this.dispatchEvent(new Event('ended'));
  }
}

/** The browser's devices, which come and go as a test says. */
export function createFakeMedia(outputs: string[] = []) {
  const target = new EventTarget();
  const inputs = ['Desk', 'Headset'];
  const tracks: FakeTrack[] = [];
  let refuse: string | null = null;
  let gate: Promise<void> = Promise.resolve();
  const rows = (names: readonly string[], kind: string) => [
    ...names.slice(0, 1).map((name) => ({ deviceId: 'default', label: `Default - ${name}`, groupId: name, kind })),
    ...names.map((name) => ({ deviceId: `id ${name}`, label: name, groupId: name, kind })),
  ];
  const media = {
    enumerateDevices: async () => [...rows(inputs, 'audioinput'), ...rows(outputs, 'audiooutput')],
    getUserMedia: async (wish: { audio: { deviceId?: { exact: string } } }) => {
      await gate;
      if (refuse !== null) throw Object.assign(new Error('refused'), { name: refuse });
      const found = rows(inputs, 'audioinput').find(({ deviceId }) => deviceId === (wish.audio.deviceId?.exact ?? 'default'));
      if (found === undefined) throw Object.assign(new Error('none'), { name: 'NotFoundError' });
      const track = new FakeTrack(found.label);
      tracks.push(track);
      return { getTracks: () => [track], getAudioTracks: () => [track] };
    },
    addEventListener: target.addEventListener.bind(target),
    removeEventListener: target.removeEventListener.bind(target),
  };
  return {
    media: media as object as Media,
    inputs,
    outputs,
    tracks,
    refuseWith(name: string | null) {
      refuse = name;
    },
    /** Keeps who asks for a microphone waiting. @returns what lets them go on. */
    hold() {
      let open = () => {};
      gate = new Promise((resolve) => {
        open = resolve;
      });
      return () => open();
    },
    changed: () => target.dispatchEvent(new Event('devicechange')),
  };
}

/** The commands of a page, as the playback worklet takes them. */
export function toCore(core: PlaybackCore): PlaybackNode['send'] {
  return (command) => {
    switch (command.type) {
      case 'enqueue':
        return core.enqueue(command.chunk);
      case 'finish':
        return core.finish(command.generation);
      case 'stop':
        return core.stop(command.generation);
      case 'pause':
        return core.pause();
      case 'resume':
        return core.resume();
    }
  };
}
