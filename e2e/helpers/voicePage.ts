// What runs inside the page before anything of its own: a microphone whose every sample the test knows, and a tap on what the playback
// worklet gives to the loudspeaker. The page's own worklets, contexts and resampling stay as they are.

/** Set on `window` as `soundUnderTest`. */
export type SoundUnderTest = {
  readonly microphone: {
    /** What the next `getUserMedia` does. */
    answer: 'opens' | 'denied' | 'missing' | 'unreadable';
    /** Name of the device that opens. */
    name: string;
    /** Streams that were opened so far. */
    opened: number;
    /** Tracks that are not ended. */
    live(): number;
    /** Room noise under everything; 0 gives exact zeros. */
    setRoom(level: number): void;
    /** Plays samples into the microphone. Resolves when the last one is out. @param pcm base64 of 16-bit samples. */
    play(pcm: string, rateHz: number, gain?: number): Promise<void>;
    /** Silences at once what plays. */
    hush(): void;
    /** Its own clock, s. */
    now(): number;
    /**
     * One scripted press of the talk key over a sound that begins `offsetMs` after it (before it, if negative), ended by Esc.
     *
     * @returns  how long after the press the sound began, by the microphone's own clock, and the frames that the page sent for it.
     */
    pressOver(pcm: string, rateHz: number, offsetMs: number, holdMs: number): Promise<{ beganMs: number; frames: string }>;
    /** As if the plug was pulled. @param back another one is there at once. */
    unplug(back: string | null): void;
  };
  /** Frames of sound that the page sent to the runtime so far. */
  readonly sent: { count(): number };
  readonly speaker: {
    /** Loudspeakers that the system lists. */
    setOutputs(names: readonly string[]): void;
    /** All that a playback worklet put out, one entry for each context, oldest first. */
    takes(): { rateHz: number; frames: number; first: number }[];
    /** Frames of a take from a frame on, as base64 of 16-bit samples. */
    read(take: number, from: number): string;
    /** The last frame at or after `from` that is not silent; -1 if there is none. */
    lastSound(take: number, from: number): number;
    /** Where the clock of each take stood at the presses so far. */
    presses: { take: number; frame: number }[];
  };
};

/** To be given to `addInitScript`; it may use nothing from outside itself. */
export function putSoundUnderTest(exactMicrophone: boolean): void {
  const recorder = `registerProcessor('sink-under-test', class extends AudioWorkletProcessor {
    constructor() { super(); this.data = new Float32Array(2048); this.at = 0; this.first = 0; }
    process([input]) {
      if (this.at === 0) this.first = currentFrame;
      const channel = input[0];
      if (channel !== undefined) this.data.set(channel, this.at); else this.data.fill(0, this.at, this.at + 128);
      this.at += 128;
      if (this.at === this.data.length) { this.port.postMessage({ first: this.first, data: this.data.slice() }); this.at = 0; }
      return true;
    }
  });`;
  const toBase64 = (samples: Float32Array): string => {
    const bytes = new Uint8Array(samples.length * 2);
    const view = new DataView(bytes.buffer);
    samples.forEach((x, i) => view.setInt16(i * 2, Math.round(Math.max(-1, Math.min(1, x)) * 32_767), true));
    let text = '';
    for (let at = 0; at < bytes.length; at += 32_768) text += String.fromCharCode(...bytes.subarray(at, at + 32_768));
    return btoa(text);
  };
  const fromBase64 = (text: string): Float32Array<ArrayBuffer> => {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const view = new DataView(bytes.buffer);
    return Float32Array.from({ length: bytes.length / 2 }, (_, i) => view.getInt16(i * 2, true) / 32_768);
  };

  // What leaves the page: 16 bytes before 512 samples of 32 bits (shared/util/audioWire.ts)
  const frameBytes = 16 + 512 * 4;
  let frames: Float32Array[] = [];
  let count = 0;
  const seeSent = (data: unknown) => {
    if (!(data instanceof Uint8Array) || data.byteLength !== frameBytes) return;
    count += 1;
    frames = [...frames.slice(-400), new Float32Array(data.slice().buffer, 16)];
  };
  const sendOn = WebSocket.prototype.send;
  WebSocket.prototype.send = function seen(this: WebSocket, data) {
    seeSent(data);
    return sendOn.call(this, data);
  };
  const post = MessagePort.prototype.postMessage as (this: MessagePort, ...args: unknown[]) => void;
  Reflect.set(MessagePort.prototype, 'postMessage', function seen(this: MessagePort, ...args: unknown[]) {
    seeSent(args[0]);
    return post.apply(this, args);
  });

  // The loudspeaker
  type Take = { context: BaseAudioContext; rateHz: number; first: number; pieces: { first: number; data: Float32Array }[] };
  const takes: Take[] = [];
  const presses: { take: number; frame: number }[] = [];
  const addModule = AudioWorklet.prototype.addModule;
  AudioWorklet.prototype.addModule = async function addBoth(this: AudioWorklet, ...args) {
    const url = URL.createObjectURL(new Blob([recorder], { type: 'text/javascript' }));
    await addModule.call(this, url);
    URL.revokeObjectURL(url);
    return addModule.apply(this, args);
  };
  const connect = AudioNode.prototype.connect as (this: AudioNode, to: AudioNode | AudioParam, ...rest: number[]) => AudioNode;
  Reflect.set(AudioNode.prototype, 'connect', function connectBoth(this: AudioNode, to: AudioNode | AudioParam, ...rest: number[]) {
    // Speech alone: tones come from a source of their own.
    if (to instanceof AudioDestinationNode && this instanceof AudioWorkletNode) {
      const tap = new AudioWorkletNode(this.context, 'sink-under-test', { numberOfInputs: 1, numberOfOutputs: 0 });
      const take: Take = { context: this.context, rateHz: this.context.sampleRate, first: -1, pieces: [] };
      takes.push(take);
      tap.port.onmessage = ({ data }: MessageEvent<{ first: number; data: Float32Array }>) => {
        if (take.first < 0) take.first = data.first;
        take.pieces.push(data);
      };
      connect.call(this, tap);
    }
    return connect.call(this, to, ...rest);
  });
  const frameOf = (take: Take | undefined) => (take === undefined ? 0 : Math.round(take.context.currentTime * take.rateHz));
  const note = () => presses.push({ take: takes.length - 1, frame: frameOf(takes.at(-1)) });
  addEventListener('pointerdown', note, true);
  addEventListener('keydown', (event) => event.repeat || note(), true);
  const framesOf = (take: Take) => (take.pieces.at(-1)?.first ?? 0) + (take.pieces.at(-1)?.data.length ?? 0);

  // The microphone
  let outputs: readonly string[] = ['Speaker under test'];
  let context: AudioContext | null = null;
  let room: GainNode | null = null;
  let bus: GainNode | null = null;
  let roomLevel = 0.0005;
  let playing: AudioBufferSourceNode[] = [];
  const tracks: MediaStreamTrack[] = [];
  const media = navigator.mediaDevices as MediaDevices | undefined;
  const open = (): { context: AudioContext; bus: GainNode } => {
    if (context !== null && bus !== null) return { context, bus };
    const made = new AudioContext({ sampleRate: 48_000 });
    bus = made.createGain();
    room = made.createGain();
    room.gain.value = roomLevel;
    const noise = made.createBuffer(1, made.sampleRate * 2, made.sampleRate);
    let seed = 1;
    noise.getChannelData(0).forEach((_, i, all) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      all[i] = seed / 1_073_741_824 - 1;
    });
    const source = made.createBufferSource();
    source.buffer = noise;
    source.loop = true;
    connect.call(source, room);
    connect.call(room, bus);
    source.start();
    context = made;
    return { context: made, bus };
  };
  const microphone: SoundUnderTest['microphone'] = {
    answer: 'opens',
    name: 'Microphone under test',
    opened: 0,
    live: () => tracks.filter(({ readyState }) => readyState === 'live').length,
    setRoom(level) {
      roomLevel = level;
      if (room !== null) room.gain.value = level;
    },
    async play(pcm, rateHz, gain = 1) {
      const { context: to, bus: into } = open();
      const samples = fromBase64(pcm).map((x) => Math.max(-1, Math.min(1, x * gain)));
      const buffer = to.createBuffer(1, samples.length, rateHz);
      buffer.copyToChannel(samples, 0);
      const source = to.createBufferSource();
      source.buffer = buffer;
      connect.call(source, into);
      playing.push(source);
      await new Promise<void>((resolve) => {
        source.onended = () => resolve();
        source.start();
      });
      playing = playing.filter((one) => one !== source);
    },
    hush() {
      for (const source of playing) source.stop();
    },
    now: () => context?.currentTime ?? 0,
    async pressOver(pcm, rateHz, offsetMs, holdMs) {
      const { context: to, bus: into } = open();
      const samples = fromBase64(pcm);
      const buffer = to.createBuffer(1, samples.length, rateHz);
      buffer.copyToChannel(samples, 0);
      const source = to.createBufferSource();
      source.buffer = buffer;
      connect.call(source, into);
      const key = (type: string, init: KeyboardEventInit) => window.dispatchEvent(new KeyboardEvent(type, { ...init, bubbles: true }));
      const chord = { code: 'Space', key: ' ', ctrlKey: true, altKey: true };
      const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
      const from = count;
      const startAt = to.currentTime + 0.05 + Math.max(0, offsetMs) / 1_000;
      source.start(startAt);
      await pause(50 + Math.max(0, -offsetMs));
      const pressedAt = to.currentTime;
      key('keydown', chord);
      await pause(holdMs);
      key('keydown', { code: 'Escape', key: 'Escape' });
      key('keyup', chord);
      const mine = frames.slice(Math.max(0, frames.length - (count - from)));
      const all = new Float32Array(mine.length * 512);
      mine.forEach((frame, i) => all.set(frame, i * 512));
      return { beganMs: (startAt - pressedAt) * 1_000, frames: toBase64(all) };
    },
    unplug(back) {
      microphone.answer = back === null ? 'missing' : 'opens';
      if (back !== null) microphone.name = back;
      for (const track of tracks) {
        if (track.readyState !== 'live') continue;
        track.stop();
        track.dispatchEvent(new Event('ended'));
      }
      media?.dispatchEvent(new Event('devicechange'));
    },
  };
  if (exactMicrophone && media !== undefined) {
    media.getUserMedia = async () => {
      const refuse = { denied: 'NotAllowedError', missing: 'NotFoundError', unreadable: 'NotReadableError' } as const;
      if (microphone.answer !== 'opens') throw new DOMException('under test', refuse[microphone.answer]);
      const { context: from, bus: out } = open();
      await from.resume();
      const end = from.createMediaStreamDestination();
      connect.call(out, end);
      const [track] = end.stream.getAudioTracks();
      if (track === undefined) throw new DOMException('under test', 'NotReadableError');
      Object.defineProperty(track, 'label', { value: microphone.name });
      tracks.push(track);
      microphone.opened += 1;
      return end.stream;
    };
    const device = (kind: MediaDeviceKind, label: string): MediaDeviceInfo => {
      const it = { kind, label, deviceId: `${kind} ${label}`, groupId: `group ${label}` };
      return { ...it, toJSON: () => it };
    };
    media.enumerateDevices = async () => [
      ...(microphone.answer === 'missing' ? [] : [device('audioinput', microphone.name)]),
      ...outputs.map((name) => device('audiooutput', name)),
    ];
  }
  const under: SoundUnderTest = {
    microphone,
    sent: { count: () => count },
    speaker: {
      setOutputs(names) {
        outputs = names;
        media?.dispatchEvent(new Event('devicechange'));
      },
      takes: () => takes.map((take) => ({ rateHz: take.rateHz, frames: framesOf(take), first: take.first })),
      read(index, from) {
        const take = takes[index];
        if (take === undefined) return '';
        const end = framesOf(take);
        const whole = new Float32Array(Math.max(0, end - from));
        for (const { first, data } of take.pieces) {
          const at = first - from;
          if (at >= 0) whole.set(data, at);
          else if (at + data.length > 0) whole.set(data.subarray(-at), 0);
        }
        return toBase64(whole);
      },
      lastSound(index, from) {
        const pieces = takes[index]?.pieces ?? [];
        for (let piece = pieces.at(-1), i = pieces.length; piece !== undefined && i > 0; i -= 1, piece = pieces[i - 1]) {
          for (let at = piece.data.length - 1; at >= 0; at -= 1) {
            if (piece.first + at < from) return -1;
            if (Math.abs(piece.data[at] ?? 0) > 1e-4) return piece.first + at;
          }
        }
        return -1;
      },
      presses,
    },
  };
  Reflect.set(window, 'soundUnderTest', under);
}
