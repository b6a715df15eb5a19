import type { LineDown } from '../../../shared/contract/voiceLine.ts';
import type { SoundChunk } from '../../../shared/domain/audio.ts';
import type { SessionId, TurnId } from '../../../shared/domain/ids.ts';
import type { LatencyMark, LatencyRecord } from '../../../shared/domain/voiceLatency.ts';
import { type SpokenCaption, viewPhrases } from '../../../shared/domain/voiceView.ts';
import { type AppError, toAppError } from '../../../shared/errors/appError.ts';
import { encodeChunk } from '../../../shared/util/audioWire.ts';
import { detach } from '../../../shared/util/detach.ts';
import type { TextToSpeech } from '../../inference/textToSpeech.ts';
import type { Clock, Logger } from '../../platform/ports.ts';
import { createTurnWatch, type TurnWatch } from '../latency.ts';
import { voiceLimits as limits } from '../limits.ts';
import type { Conversation, ReplyItem, SpokenTurn } from '../ports.ts';
import type { HeardMark } from '../speaking/ports.ts';
import { createSpeaker } from '../speaking/speaker.ts';
import type { CancelReason, VoiceInput } from '../turn/state.ts';
import { createTurnHandle, type TurnHandle } from './turnHandle.ts';

/** How long a page may take to say what it had sounded when it was stopped; then what it said before counts. */
const stoppedMs = 500;

type Answer = {
  readonly turn: number;
  readonly spoken: SpokenTurn;
  readonly handle: TurnHandle;
  readonly watch: TurnWatch;
  readonly words: number;
  stage: Extract<ReplyItem, { kind: 'stage' }> | null;
  phrases: SpokenCaption[];
  /** The agent is done. */
  written: boolean;
  /** No more sound is made. */
  made: boolean;
  chunks: number;
  sounds: boolean;
  drained: boolean;
  /** No loudspeaker: what is left is captions. */
  mute: boolean;
  isDone: boolean;
  isRecorded: boolean;
  stopSlow: () => void;
};

export type AnswerView = {
  readonly generation: number;
  readonly turnId: TurnId;
  readonly phrases: readonly SpokenCaption[];
  readonly stage: Extract<ReplyItem, { kind: 'stage' }> | null;
};

export type CommitRequest = {
  readonly turn: number;
  readonly runId: string;
  readonly sessionId: SessionId | null;
  readonly text: string;
  /** The turn that these words go on from. */
  readonly replaces: number | null;
  readonly language: string;
  /** Monotonic. */
  readonly lastVoicedMs: number;
  readonly marks: Readonly<Partial<Record<Exclude<LatencyMark, 'speechEnd'>, number>>>;
};

export type Answers = {
  /** Sends what was said and follows what is answered. @throws AppError as `Conversation.send`. */
  commit(request: CommitRequest): SpokenTurn;
  hold(): void;
  release(): void;
  pause(): void;
  resume(): void;
  /** All sound of now is thrown away. */
  flush(): void;
  /** After `flush`: how much was heard is stored when the page has said it. */
  storeHeard(turn: number): void;
  cancel(turn: number, reason: CancelReason): void;
  mark(name: 'firstAudioPlayed' | 'drained'): void;
  /** The turns that are still ours; what another one still does is of no interest any more. */
  keep(turns: readonly number[]): void;
  played(generation: number, heard: HeardMark, done: boolean): void;
  pageDrained(generation: number): void;
  pageStopped(generation: number, heard: HeardMark | null): void;
  outputLost(): void;
  /** What the page shows of the answer. */
  view(): AnswerView | null;
  /** Chunks of an answer that is over. */
  late(): number;
  dispose(): void;
};

/** From the commit to the last sound: the agent's answer, its voice and what the page played of it. One answer at a time. */
export function createAnswers(deps: {
  clock: Clock;
  log: Logger;
  conversation: Conversation;
  textToSpeech: TextToSpeech;
  voice: () => { voiceId: string | null; speed: number };
  facts: () => Pick<LatencyRecord, 'models' | 'device'>;
  send: (down: LineDown) => void;
  sendBytes: (bytes: Uint8Array<ArrayBuffer>) => void;
  on: {
    input(input: VoiceInput): void;
    /** Something that only the view shows has changed. */
    changed(): void;
    failed(turn: number, error: AppError): void;
    /** It cannot be spoken; the reply goes on as captions. */
    voiceFailed(error: AppError): void;
    recorded(record: LatencyRecord, spokenToItsEnd: boolean): void;
  };
}): Answers {
  const { clock, log, conversation, send, sendBytes, on } = deps;
  let generations = 0;
  let late = 0;
  let present: Answer | null = null;
  /** Of the last commit: what is joined can only be joined to that one. */
  const ids = new Map<number, SpokenTurn>();
  /** Stopped; the page is about to say what it had sounded. */
  let stopping: { answer: Answer; units: number; store: boolean; tell: () => void } | null = null;

  const isNow = (generation: number): boolean => present?.handle.generation === generation;
  const speaker = createSpeaker({
    clock,
    log,
    textToSpeech: deps.textToSpeech,
    onChunk: (chunk) => play(chunk),
    onFinish: (generation) => madeAll(generation),
    onCaption(caption) {
      if (present === null) return;
      present.phrases = [...present.phrases, caption].slice(-viewPhrases);
      on.changed();
    },
    onMark: (mark) => present?.watch.mark(mark, clock.monotonicMs()),
    onFailed: (error) => on.voiceFailed(error),
  });

  function play(chunk: SoundChunk): void {
    if (present === null || !isNow(chunk.generation)) {
      late += 1;
      return;
    }
    present.chunks += 1;
    sendBytes(encodeChunk(chunk));
  }

  function madeAll(generation: number): void {
    if (present === null || !isNow(generation)) return;
    present.made = true;
    if (present.chunks > 0 && !present.mute) send({ t: 'finish', generation });
    perhapsDone(present);
  }

  function perhapsDone(answer: Answer): void {
    if (answer !== present || !answer.written || !answer.made || answer.isDone) return;
    answer.isDone = true;
    const hadSound = answer.chunks > 0 && !answer.drained && !answer.mute;
    if (!hadSound) record(answer, false);
    on.input({ type: 'replyDone', turn: answer.turn, hadSound });
  }

  function record(answer: Answer, spokenToItsEnd: boolean): void {
    if (answer.isRecorded) return;
    answer.isRecorded = true;
    answer.stopSlow();
    const { models, device } = deps.facts();
    const record = answer.watch.record({ turnId: answer.spoken.turnId, models, device, speculated: false, words: answer.words });
    on.recorded(record, spokenToItsEnd);
  }

  async function follow(answer: Answer): Promise<void> {
    const { handle, spoken, watch } = answer;
    try {
      for await (const item of conversation.follow(spoken, handle.signal)) {
        if (handle.signal.aborted || answer !== present) return;
        take(answer, item);
        if (item.kind === 'ended') return;
      }
    } catch (error) {
      if (handle.signal.aborted || answer !== present) return;
      watch.mark('replyDone', clock.monotonicMs());
      on.failed(answer.turn, toAppError(error));
    }
  }

  function take(answer: Answer, item: ReplyItem): void {
    const now = clock.monotonicMs();
    switch (item.kind) {
      case 'stage':
        if (item.stage === 'reading') answer.watch.mark('contextReady', now);
        answer.stage = item;
        return on.changed();
      case 'delta':
        answer.watch.mark('firstToken', now);
        return speaker.push(item.text);
      case 'replaced':
        return speaker.restart();
      case 'ended':
        answer.stage = null;
        answer.watch.mark('replyDone', now);
        if (item.how === 'failed') return on.failed(answer.turn, item.error);
        if (item.how === 'cancelled') {
          // Somebody ended it elsewhere: that holds for its sound too (VO-73).
          answer.handle.abort('external');
          return on.input({ type: 'cancel', reason: 'external' });
        }
        answer.written = true;
        speaker.end();
        return perhapsDone(answer);
    }
  }

  function tellHeard(): void {
    const waiting = stopping;
    if (waiting === null) return;
    stopping = null;
    waiting.tell();
    record(waiting.answer, false);
    if (waiting.store) conversation.heard(waiting.answer.spoken, waiting.units);
  }

  function drop(answer: Answer): void {
    if (answer !== present) return;
    speaker.stop();
    // A page that was told to stop first says when it was silent.
    if (stopping?.answer !== answer) record(answer, false);
    present = null;
  }

  return {
    commit(request) {
      const { sessionId, text, runId: key, replaces } = request;
      const before = replaces === null ? undefined : ids.get(replaces)?.turnId;
      const spoken = conversation.send({ sessionId, text, key, replaces: before });
      ids.clear();
      ids.set(request.turn, spoken);
      if (present !== null) drop(present);
      generations += 1;
      const generation = generations;
      const handle = createTurnHandle({ runId: request.runId, turnId: spoken.turnId, generation });
      const watch = createTurnWatch(request.lastVoicedMs);
      for (const [name, atMs] of Object.entries(request.marks)) watch.mark(name as Exclude<LatencyMark, 'speechEnd'>, atMs);
      const { voiceId, speed } = deps.voice();
      const answer: Answer = {
        turn: request.turn,
        spoken,
        handle,
        watch,
        words: request.text.split(/\s+/u).length,
        stage: null,
        phrases: [],
        written: false,
        made: false,
        chunks: 0,
        sounds: false,
        drained: false,
        mute: false,
        isDone: false,
        isRecorded: false,
        stopSlow: clock.setTimer(limits.earconMs, () => {
          if (answer === present && !answer.sounds) send({ t: 'cue', kind: 'slow' });
        }),
      };
      present = answer;
      handle.onAbort((reason) => {
        if (answer === present) speaker.stop();
        // What ended in the agent has ended there.
        if (reason !== 'external') conversation.cancel(spoken, reason);
      });
      speaker.begin(generation, { voiceId, language: request.language, speed });
      detach(follow(answer), log, 'voice.follow');
      return spoken;
    },
    hold: () => speaker.hold(),
    release: () => speaker.release(),
    pause: () => send({ t: 'pause' }),
    resume: () => send({ t: 'resume' }),
    flush() {
      const answer = present;
      speaker.stop();
      tellHeard();
      if (answer === null) return;
      const { generation } = answer.handle;
      if (answer.sounds) answer.watch.bargeIn(clock.monotonicMs());
      send({ t: 'stop', generation });
      stopping = {
        answer,
        units: speaker.heardUnits(),
        store: false,
        tell: clock.setTimer(stoppedMs, tellHeard),
      };
    },
    storeHeard(turn) {
      if (stopping?.answer.turn === turn) stopping.store = true;
    },
    cancel(turn, reason) {
      if (present?.turn === turn) present.handle.abort(reason);
    },
    mark(name) {
      if (present === null) return;
      present.watch.mark(name, clock.monotonicMs());
      if (name === 'drained') record(present, true);
    },
    keep(turns) {
      if (present !== null && !turns.includes(present.turn)) drop(present);
    },
    played(generation, heard, done) {
      if (present === null || !isNow(generation)) return;
      speaker.played(heard, done);
      if (present.sounds) return;
      present.sounds = true;
      present.stopSlow();
      on.input({ type: 'firstSound', turn: present.turn });
    },
    pageDrained(generation) {
      if (present === null || !isNow(generation)) return;
      present.drained = true;
      on.input({ type: 'drained', turn: present.turn });
    },
    pageStopped(generation, heard) {
      if (stopping?.answer.handle.generation !== generation) return;
      stopping.answer.watch.silent(clock.monotonicMs());
      if (heard !== null) {
        // Only while no newer answer has taken the voice over.
        if (present === null || isNow(generation)) {
          speaker.played(heard, false);
          stopping.units = Math.max(stopping.units, speaker.heardUnits());
        }
      }
      tellHeard();
    },
    outputLost() {
      if (present === null) return;
      present.mute = true;
      speaker.quiet();
    },
    view() {
      if (present === null) return null;
      const { handle, phrases, stage } = present;
      return { generation: handle.generation, turnId: handle.turnId, phrases, stage };
    },
    late: () => late,
    dispose() {
      speaker.stop();
      present?.stopSlow();
      present = null;
      tellHeard();
    },
  };
}
