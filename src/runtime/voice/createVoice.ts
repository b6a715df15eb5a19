import type { LineUp } from '../../shared/contract/voiceLine.ts';
import type { VoiceView } from '../../shared/domain/voiceView.ts';
import { AppError, toAppError } from '../../shared/errors/appError.ts';
import { assertNever } from '../../shared/util/assertNever.ts';
import { type Deferred, deferred } from '../../shared/util/deferred.ts';
import { detach } from '../../shared/util/detach.ts';
import { createAnswers } from './driver/answers.ts';
import { createEars } from './driver/ears.ts';
import { createDetails, figuresOf, isCode, isEngineLost, isFinal, isMemory, micError } from './driver/faults.ts';
import { createLatencyBook } from './driver/latencyBook.ts';
import { createLeases } from './driver/leases.ts';
import { createLines } from './driver/lines.ts';
import { createMicrophone } from './driver/microphone.ts';
import { createSaying } from './driver/saying.ts';
import { createShown } from './driver/shown.ts';
import { createSilentWatch } from './driver/silentWatch.ts';
import { createTimers } from './driver/timers.ts';
import { createView } from './driver/view.ts';
import { inputOf } from './hearing/inputs.ts';
import { isNothing } from './hearing/nothingHeard.ts';
import { voiceLimits as limits } from './limits.ts';
import type { Voice, VoiceDeps } from './ports.ts';
import { reduceVoice } from './turn/reduce.ts';
import { initialVoice, type VoiceEffect, type VoiceInput } from './turn/state.ts';

/**
 * The voice of the runtime: runs the reducer of spoken turns and does what it asks for, with the microphone and loudspeaker of the page
 * that armed it, the speech ports and the agent.
 */
export function createVoice(deps: VoiceDeps): Voice {
  const { clock, log, choices, gate } = deps;
  let state = initialVoice({ muted: choices.get().muted });
  gate.setMuted(state.muted);
  const queue: VoiceInput[] = [];
  let running = false;
  /** The listening cue waits for the first sound (VO-07). */
  let cueWaits = false;
  /** The page that plays: also after it gave the microphone back. */
  let player: string | null = null;
  const armings: Deferred<void>[] = [];
  const counts = { whileMuted: 0, foreign: 0, underruns: 0 };

  const shown = createShown();
  const saying = createSaying(`voice-${crypto.randomUUID()}`);
  const book = createLatencyBook();
  const details = createDetails(() => mic.device());
  const timers = createTimers(clock, (name, id) => dispatch({ type: 'timer', name, id }));
  const lines = createLines({
    log,
    on: {
      up,
      frame(id, frame) {
        if (state.muted) counts.whileMuted += 1;
        else if (id !== lines.owner()) counts.foreign += 1;
        else mic.frame(frame);
      },
      gone(id) {
        if (id === player) player = null;
        if (id === lines.owner()) dispatch({ type: 'pageGone' });
      },
    },
  });
  const mic = createMicrophone({
    gate,
    chosen: () => choices.get().microphone,
    send: (down) => lines.send(down),
    errorOf: micError,
    on: {
      opened: () => perhapsArmed(),
      failed(error) {
        const code = details.note(error);
        if (state.phase === 'arming') dispatch({ type: 'armFailed', lease: state.lease, code });
        else dispatch({ type: 'deviceLost', code });
      },
      live() {
        if (cueWaits && isAwaited()) lines.send({ t: 'cue', kind: 'listening' });
        cueWaits = false;
        refresh();
      },
      silent: () => silentWatch.silent(),
      changed() {
        dispatch({ type: 'deviceChanged' });
        // What was begun ended with the old device; listening goes on with the new one.
        if (state.asrOpen && state.phase !== 'committing') mic.begin(0);
      },
      lost: () => dispatch({ type: 'deviceLost' }),
      frame: (frame) => ears.frame(frame),
    },
  });
  const silentWatch = createSilentWatch({
    clock,
    isSilent: () => mic.isSilent(),
    isAwaited,
    onSilent: () => dispatch({ type: 'micSilent' }),
    onIdle() {
      tell('MIC_SILENT');
      refresh();
    },
  });
  const ears = createEars({
    clock,
    log,
    speechToText: deps.speechToText,
    on: {
      segment(event, probabilities) {
        const input = inputOf(event, { probabilities, falseHolds: state.falseHolds, sinceVoicedMs: sinceVoicedMs() });
        if (input !== null) dispatch(input);
      },
      partial(utterance, partial) {
        shown.stable(partial.stable);
        dispatch({ type: 'partial', utterance, text: partial.text, stable: partial.text === partial.stable });
      },
      activityLost(error) {
        log.warn('voice.activity_lost', { code: error.code });
        if (!engineFault(error)) tell(details.note(error));
        refresh();
      },
    },
  });
  const leases = createLeases({
    ...deps,
    on: {
      ready(_lease, held) {
        ears.use(held.activity);
        // A change of who decides is never a silent one (VO-103).
        if (shown.activity(held.activity?.model ?? null)) tell('VOICE_ACTIVITY_SPARE');
        perhapsArmed();
      },
      missing(error) {
        tell(details.note(error));
        refresh();
      },
      failed: (lease, error) => dispatch({ type: 'armFailed', lease, code: details.note(error) }),
    },
  });
  const answers = createAnswers({
    clock,
    log,
    conversation: deps.conversation,
    textToSpeech: deps.textToSpeech,
    voice: choices.get,
    facts() {
      const held = leases.held();
      const models = { asr: held?.listen.modelId ?? null, language: deps.languageModel(), tts: held?.speak?.modelId ?? null };
      return { models, device: mic.device() === '' ? null : mic.device() };
    },
    send: (down) => lines.send(down),
    sendBytes: (bytes) => lines.sendBytes(bytes),
    on: {
      input: (input) => void dispatch(input),
      changed: refresh,
      failed: (turn, error) => void dispatch({ type: 'replyFailed', turn, code: details.note(error) }),
      voiceFailed(error) {
        // That there is no voice was said when voice was switched on.
        const isKnown = error.code === 'TTS_UNAVAILABLE' && leases.held()?.speak === null;
        if (!engineFault(error) && !isKnown) tell(details.note(error));
        refresh();
      },
      recorded(record, spokenToItsEnd) {
        if (spokenToItsEnd) shown.spoken(record);
        const slower = book.add(record);
        if (slower !== null) tell('VOICE_SLOWER', { stage: slower });
        log.info('voice.turn', { spoken: spokenToItsEnd, ms: Math.round(record.marks.firstAudioPlayed ?? -1) });
        refresh();
      },
    },
  });
  const view = createView(clock, read);

  function dispatch(input: VoiceInput): readonly number[] {
    queue.push(input);
    // Whoever is told of an effect may answer at once: its input waits for its turn.
    if (running) return [];
    running = true;
    let rows: readonly number[] | null = null;
    try {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
        const taken = step(next);
        rows ??= taken;
      }
    } finally {
      running = false;
    }
    refresh();
    return rows ?? [];
  }

  function step(input: VoiceInput): readonly number[] {
    const atMs = clock.monotonicMs();
    const { state: after, effects, rows } = reduceVoice(state, input, atMs);
    state = after;
    for (const effect of effects) {
      try {
        perform(effect);
      } catch (error) {
        log.error('voice.effect', { effect: effect.do }, error);
      }
    }
    mic.settle();
    answers.keep([state.turn, state.playing].flatMap((ours) => (ours === null ? [] : [ours.id])));
    if (state.phase === 'off' || state.phase === 'failed') lines.own(null);
    if (state.phase !== 'arming') for (const waiting of armings.splice(0)) waiting.resolve();
    deps.onStep?.({ atMs, input, state, effects });
    return rows;
  }

  function perform(effect: VoiceEffect): void {
    switch (effect.do) {
      case 'takeLeases':
        leases.take(effect.lease, {
          withoutActivity: effect.for === 'dictate' || state.mode === 'push-to-talk',
          speaks: effect.for === 'talk',
        });
        return;
      case 'releaseLeases':
        ears.use(null);
        return leases.release(effect.lease);
      case 'openMic':
        return mic.open();
      case 'closeMic':
        cueWaits = false;
        return mic.close();
      case 'cue':
        if (effect.kind !== 'listening' || mic.soundArrived()) lines.send({ t: 'cue', kind: effect.kind });
        cueWaits = effect.kind === 'listening' && !mic.soundArrived();
        return;
      case 'openAsr':
        saying.opened(effect.utterance);
        shown.listening();
        ears.open(effect.utterance);
        mic.begin(effect.preRollMs);
        return silentWatch.listen();
      case 'flushAsr':
        return detach(flush(effect.utterance, effect.tailMs), log, 'voice.flush');
      case 'closeAsr':
      case 'drop':
        mic.abandon();
        ears.close();
        return shown.forget();
      case 'caption':
        return shown.partial(effect.utterance, effect.text);
      case 'prewarm':
        return deps.prewarm();
      case 'commit':
        return commit(effect);
      case 'holdSound':
        return answers.hold();
      case 'releaseSound':
        return answers.release();
      case 'pausePlayback':
        return answers.pause();
      case 'resumePlayback':
        return answers.resume();
      case 'flushPlayback':
        return answers.flush();
      case 'storeHeard':
        return answers.storeHeard(effect.turn);
      case 'cancelTurn':
        return answers.cancel(effect.turn, effect.reason);
      case 'startTimer':
        return timers.start(effect.name, effect.id, effect.ms + (effect.name === 'flush' ? readingMs() : 0));
      case 'stopTimer':
        return timers.stop(effect.name);
      case 'notice':
        return tell(effect.code, effect.figures);
      case 'mark':
        if (effect.name !== 'committed') answers.mark(effect.name);
        return;
      // Nothing asks for these yet: speculation, a detector of turn ends, dictation and read-aloud have no caller.
      case 'askEndOfTurn':
      case 'speculate':
      case 'promote':
      case 'abortSpeculation':
      case 'insert':
      case 'ignored':
      case 'say':
      case 'refuse':
      case 'count':
        return;
      default:
        assertNever(effect);
    }
  }

  async function flush(utterance: number, tailMs: number): Promise<void> {
    saying.ended(clock.monotonicMs());
    await mic.end(tailMs);
    const isOpen = () => state.asrOpen && state.utterance === utterance;
    if (!isOpen()) return;
    try {
      const { transcript, ...facts } = await ears.finish();
      const { text, language, noSpeechProb } = transcript;
      const nothing = isNothing({ ...facts, text, language, noSpeechProb, unsure: transcript.verdict === 'unsure' });
      final(utterance, nothing ? '' : text, language);
    } catch (thrown) {
      const error = toAppError(thrown);
      if (!isOpen() || error.code === 'CANCELLED') return;
      if (error.code === 'AUDIO_TOO_SHORT') return final(utterance, '', 'und');
      log.warn('voice.asr_failed', { code: error.code });
      if (!engineFault(error)) dispatch({ type: 'asrFailed', utterance, code: details.note(error) });
    }
  }

  function final(utterance: number, text: string, language: string): void {
    saying.heard(language, clock.monotonicMs());
    dispatch({ type: 'final', utterance, text, language, verdict: { kind: text === '' ? 'nothing' : 'answer' } });
  }

  /** Whether the fault is one of the engine itself or of memory: then all of voice has it. */
  function engineFault(error: AppError): boolean {
    if (isEngineLost(error)) dispatch({ type: 'engineLost', code: details.note(error), final: isFinal(error) });
    else if (isMemory(error)) dispatch({ type: 'memoryDisarm', figures: figuresOf(error) });
    else return false;
    return true;
  }

  function commit(effect: Extract<VoiceEffect, { do: 'commit' }>): void {
    shown.said(effect.utterance, effect.text);
    try {
      shown.committed(answers.commit(saying.request(effect, clock.monotonicMs(), ears.lastVoicedMs())));
    } catch (error) {
      dispatch({ type: 'replyFailed', turn: effect.turn, code: details.note(toAppError(error)) });
    }
  }

  function up(id: string, message: LineUp): void {
    const isOwner = id === lines.owner();
    switch (message.t) {
      case 'key':
        if (!isOwner && lines.owner() !== null) return;
        // Dictation has no place to write to yet.
        if (message.key !== 'talk') return;
        if (message.down) saying.pressed(message.sessionId);
        return void dispatch({ type: message.down ? 'keyDown' : 'keyUp', key: message.key });
      case 'mic':
        return isOwner ? mic.up(message) : undefined;
      case 'ended':
        return isOwner ? mic.ended() : undefined;
      default:
        if (id === player) fromLoudspeaker(message);
    }
  }

  function fromLoudspeaker(message: Exclude<LineUp, { t: 'key' | 'mic' | 'ended' }>): void {
    switch (message.t) {
      case 'played':
        return answers.played(message.generation, message.heard, message.done);
      case 'drained':
        return answers.pageDrained(message.generation);
      case 'stopped':
        return answers.pageStopped(message.generation, message.heard);
      case 'underrun':
        counts.underruns += 1;
        return;
      case 'outputLost':
        answers.outputLost();
        tell('DEVICE_LOST', { kind: 'output' });
        return refresh();
    }
  }

  function perhapsArmed(): void {
    if (state.phase === 'arming' && leases.held() !== null && mic.isOpen()) dispatch({ type: 'armed', lease: state.lease });
  }

  /** What the end of a long utterance may take beside the limit of every one. */
  function readingMs(): number {
    return (ears.unreadMs() / 1_000) * limits.flushPerSecondMs;
  }

  /** Somebody may be talking. */
  function isAwaited(): boolean {
    return state.phase === 'listening' || state.phase === 'hearing' || state.phase === 'pausing';
  }

  function sinceVoicedMs(): number {
    const lastMs = ears.lastVoicedMs();
    return lastMs === null ? 0 : clock.monotonicMs() - lastMs;
  }

  function tell(code: string, given?: Readonly<Record<string, number | string>>): void {
    const level = ears.level();
    const heard = { device: mic.device(), level: level === null ? null : Math.round(level * 10) / 10 };
    shown.notice(code, given ?? (code === 'NOTHING_HEARD' ? heard : details.of(code)));
    log.info('voice.notice', { code });
  }

  function read(): VoiceView {
    return shown.view(state, {
      soundArrived: mic.soundArrived(),
      device: mic.device(),
      line: lines.owner(),
      answer: answers.view(),
      dataOf: details.of,
    });
  }

  function refresh(): void {
    view.refresh();
  }

  return {
    view: view.value,
    async arm({ line, mode }) {
      if (!lines.has(line)) throw new AppError('VOICE_LINE_UNKNOWN');
      const owner = lines.owner();
      if (owner !== null && owner !== line) throw new AppError('VOICE_BUSY');
      // The reducer knows the others; nothing listens all the time yet, and a "listening" that hears nothing would be a lie.
      if (mode !== undefined && mode !== 'push-to-talk') throw new AppError('UNSUPPORTED', { what: mode });
      if (state.phase === 'off' || state.phase === 'failed') {
        lines.own(line);
        player = line;
        dispatch({ type: 'arm' });
      }
      if (state.phase === 'arming') {
        const waiting = deferred<void>();
        armings.push(waiting);
        await waiting.promise;
      }
      if (state.phase === 'off' || state.phase === 'failed') throw whyNot();
      return read();
    },
    disarm() {
      dispatch({ type: 'disarm' });
      return read();
    },
    setMuted(muted) {
      if (muted) {
        // First the sound, then the note of it: a full disk is no reason to go on listening.
        gate.setMuted(true);
        dispatch({ type: 'muteOn' });
        choices.setMuted(true);
      } else {
        choices.setMuted(false);
        gate.setMuted(false);
        dispatch({ type: 'muteOff' });
      }
      return read();
    },
    cancel: () => ({ cancelled: dispatch({ type: 'cancel', reason: 'user-cancel' }).some((row) => row !== 52) }),
    latency: (limit) => book.read(limit),
    connect: (wire) => lines.connect(wire),
    counts() {
      const { taken, unasked, filled, stale } = mic.counts();
      const { whileMuted, foreign, underruns } = counts;
      const rest = { unjudged: ears.skipped(), lateChunks: answers.late(), ignored: state.ignored };
      return { taken, unasked, filled, stale, whileMuted, foreign, underruns, ...rest };
    },
    async [Symbol.asyncDispose]() {
      dispatch({ type: 'disarm' });
      lines.close();
      timers.stopAll();
      silentWatch.stop();
      answers.dispose();
      ears.close();
      view.close();
    },
  };

  function whyNot(): AppError {
    if (state.fault !== null && isCode(state.fault.code)) return new AppError(state.fault.code, details.of(state.fault.code));
    if (state.muted) return new AppError('MIC_MUTED');
    return new AppError('CANCELLED');
  }
}
