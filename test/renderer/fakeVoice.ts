import type { VoiceLink } from '../../src/renderer/lib/transport.ts';
import { type LineDown, type LineUp, parseLineUp } from '../../src/shared/contract/voiceLine.ts';
import type { AudioFrame, SoundChunk } from '../../src/shared/domain/audio.ts';
import type { LatencyRecord } from '../../src/shared/domain/voiceLatency.ts';
import type { VoiceView } from '../../src/shared/domain/voiceView.ts';
import { AppError } from '../../src/shared/errors/appError.ts';
import { decodeFrame, encodeChunk } from '../../src/shared/util/audioWire.ts';
import { deferred } from '../../src/shared/util/deferred.ts';
import { createLiveValue } from '../../src/shared/util/liveValue.ts';

export const voiceOff: VoiceView = {
  phase: 'off',
  guarded: false,
  mode: 'push-to-talk',
  muted: false,
  key: 'none',
  by: 'key',
  soundArrived: false,
  device: '',
  line: null,
  sessionId: null,
  turnId: null,
  caption: null,
  reply: null,
  stage: null,
  fault: null,
  notice: null,
  activity: null,
  latency: null,
};

/** A spoken turn as this machine might measure it: 0.9 s to the first sound. */
export const spokenTurn = (turnId: string, change: Partial<LatencyRecord['marks']> = {}): LatencyRecord => ({
  turnId,
  marks: {
    speechEnd: 0,
    endDecided: 120,
    asrFinal: 210,
    committed: 216,
    contextReady: 240,
    firstToken: 560,
    firstPhrase: 700,
    firstAudioMade: 880,
    firstAudioPlayed: 905,
    replyDone: 2_400,
    drained: 5_200,
    ...change,
  },
  bargeIn: null,
  models: { asr: 'moonshine-tiny', language: 'qwen3-1.7b-q4', tts: 'piper-joe' },
  device: 'Headset',
  speculated: false,
  words: 9,
});

/** The runtime's end of one voice line, moved by the test. */
export type FakeLine = {
  readonly id: string;
  /** What the page said, in order. */
  readonly up: LineUp[];
  readonly frames: AudioFrame[];
  down(message: LineDown): void;
  /** Any text, also one that is no message. */
  raw(text: string): void;
  say(chunk: SoundChunk): void;
  lose(): void;
  readonly isClosed: boolean;
};

/** The voice of the fake runtime: a view that the test sets, and lines that it holds the other end of. */
export function createFakeVoice() {
  const view = createLiveValue<VoiceView>(voiceOff);
  const lines: FakeLine[] = [];
  let records: LatencyRecord[] = [];
  let refuse: AppError | null = null;
  let named = true;

  const openLine = (receive: (data: string | Uint8Array<ArrayBuffer>) => void, onLost: () => void) => {
    const up: LineUp[] = [];
    const frames: AudioFrame[] = [];
    let closed = false;
    const lose = () => {
      if (closed) return;
      closed = true;
      if (view.get().line === line.id) view.set({ ...voiceOff });
      onLost();
    };
    const line: FakeLine & { take(data: string | Uint8Array<ArrayBuffer>): void } = {
      id: `line-${lines.length + 1}`,
      up,
      frames,
      down: (message) => closed || receive(JSON.stringify(message)),
      raw: (text) => closed || receive(text),
      say: (chunk) => closed || receive(encodeChunk(chunk)),
      lose,
      get isClosed() {
        return closed;
      },
      take(data) {
        if (closed) return;
        if (typeof data === 'string') up.push(parseLineUp(data));
        else frames.push(decodeFrame(data));
      },
    };
    lines.push(line);
    if (named) line.down({ t: 'line', id: line.id });
    return line;
  };
  return {
    view,
    lines,
    get line(): FakeLine {
      const line = lines.at(-1);
      if (line === undefined) throw new Error('the page has opened no line');
      return line;
    },
    /** The next snapshot with these fields changed. */
    show(change: Partial<VoiceView>) {
      view.set({ ...view.get(), ...change });
    },
    records: () => records,
    setRecords(next: LatencyRecord[]) {
      records = next;
    },
    /** Further lines are refused with this; null lets them through again. */
    refuseLines(error: AppError | null) {
      refuse = error;
    },
    /** Further lines do not say their name. */
    stayNameless() {
      named = false;
    },
    openLine,
    async openVoice(signal: AbortSignal): Promise<VoiceLink> {
      if (refuse !== null) throw refuse;
      const closed = deferred<void>();
      const early: (string | Uint8Array<ArrayBuffer>)[] = [];
      let deliver: ((data: string | Uint8Array<ArrayBuffer>) => void) | null = null;
      const line = openLine(
        (data) => {
          if (deliver === null) early.push(data);
          else deliver(data);
        },
        () => closed.resolve(),
      );
      signal.addEventListener('abort', line.lose, { once: true });
      return {
        send: (data) => line.take(structuredClone(data)),
        onMessage(listener) {
          deliver = listener;
          for (const data of early.splice(0)) listener(data);
        },
        waiting: () => 0,
        closed: closed.promise,
        close: line.lose,
      };
    },
    arm(line: string): VoiceView {
      if (!lines.some((each) => each.id === line && !each.isClosed)) throw new AppError('VOICE_LINE_UNKNOWN');
      view.set({ ...view.get(), phase: 'standby', line, device: 'Headset', soundArrived: true, fault: null, notice: null });
      return view.get();
    },
  };
}
export type FakeVoice = ReturnType<typeof createFakeVoice>;
