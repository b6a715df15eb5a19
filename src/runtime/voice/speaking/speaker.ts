import { isAppError, toAppError } from '../../../shared/errors/appError.ts';
import { detach } from '../../../shared/util/detach.ts';
import { voiceLimits as limits } from '../limits.ts';
import { createHeard } from './heard.ts';
import type { Speaker, SpeakerDeps, SpeakerOptions } from './ports.ts';
import { createScript, type Line } from './script.ts';

/** VO-63: one phrase sounds, two are ahead of it. */
const unplayedAtMost = 3;

type Making = { readonly line: Line; readonly phrase: number; isShown: boolean };

type Answer = {
  readonly generation: number;
  readonly options: SpeakerOptions;
  script: ReturnType<typeof createScript>;
  readonly heard: ReturnType<typeof createHeard>;
  /** Ends what makes its sound. */
  sound: AbortController;
  /** What comes next. */
  waiting: Line[];
  /** Without sound: the rest is captions. */
  silent: boolean;
  making: Making | null;
  stopped: boolean;
  ended: boolean;
  finished: boolean;
  begun: boolean;
  sounded: boolean;
  /** The time limit is over, but there is enough to say. */
  due: boolean;
  takeBack: (() => void) | null;
};

/** From a written answer that grows to its sound (voice page, section 10). It makes no sound itself: chunks go to the loudspeaker of a page. */
export function createSpeaker(deps: SpeakerDeps): Speaker {
  const { clock, log, textToSpeech } = deps;
  let current: Answer | null = null;
  let isHeld = false;
  /** Bounded by what may be ahead, and by the phrases of an answer without sound. */
  let held: (() => void)[] = [];

  const isPresent = (answer: Answer) => answer === current && !answer.stopped;

  function tell(answer: Answer, what: () => void): void {
    if (!isPresent(answer)) return;
    if (isHeld) held.push(() => tell(answer, what));
    else what();
  }

  function add(answer: Answer, lines: readonly Line[]): void {
    if (lines.length > 0) {
      answer.waiting.push(...lines);
      answer.due = false;
      stopTimer(answer);
      if (!answer.begun) {
        answer.begun = true;
        deps.onMark('firstPhrase');
      }
    }
    if (answer.ended || answer.silent) stopTimer(answer);
    else if (answer.takeBack === null && !answer.due && answer.script.hasRest()) {
      answer.takeBack = clock.setTimer(answer.begun ? limits.phraseMs : limits.firstPhraseMs, () => onTime(answer));
    }
    go(answer);
  }

  function stopTimer(answer: Answer): void {
    answer.takeBack?.();
    answer.takeBack = null;
  }

  /** A phrase is cut short so that nobody waits; while there is something else to say, nobody does. */
  function onTime(answer: Answer): void {
    answer.takeBack = null;
    answer.due = true;
    flushIfDry(answer);
  }

  function flushIfDry(answer: Answer): void {
    if (!answer.due || answer.ended || answer.waiting.length > 0 || answer.heard.unplayed() > 1) return;
    answer.due = false;
    const lines = answer.script.flush();
    // Without a whole word there is nothing to wait for but more text.
    if (lines.length > 0) add(answer, lines);
  }

  function caption(answer: Answer, phrase: number, line: Line): void {
    tell(answer, () => deps.onCaption({ phrase, from: line.start, to: line.end, text: line.form.spoken }));
  }

  function take(answer: Answer, state: 'sound' | 'over'): { line: Line; phrase: number } | null {
    const line = answer.waiting.shift();
    if (line === undefined) return null;
    return { line, phrase: answer.heard.begin(line, state) };
  }

  function go(answer: Answer): void {
    if (!isPresent(answer)) return;
    if (answer.silent) {
      for (let next = take(answer, 'over'); next !== null; next = take(answer, 'over')) caption(answer, next.phrase, next.line);
    } else if (answer.making === null && answer.heard.unplayed() < unplayedAtMost) {
      const next = take(answer, 'sound');
      if (next !== null) {
        answer.making = { ...next, isShown: false };
        detach(make(answer, answer.making), log, 'voice.speak');
      }
    }
    if (answer.ended && !answer.finished && answer.making === null && answer.waiting.length === 0) {
      answer.finished = true;
      tell(answer, () => deps.onFinish(answer.generation));
    }
  }

  async function make(answer: Answer, making: Making): Promise<void> {
    const { options, heard, generation, sound: ending } = answer;
    const { line, phrase } = making;
    const isWanted = () => isPresent(answer) && answer.making === making;
    let rateHz: number | null = null;
    let failure: unknown = null;
    try {
      const sounds = textToSpeech.speak(
        { text: line.form.spoken, voiceId: options.voiceId ?? undefined, language: options.language, speed: options.speed },
        { signal: ending.signal },
      );
      for await (const sound of sounds) {
        if (!isWanted()) return;
        show(answer, making);
        rateHz = sound.sampleRate;
        const chunk = heard.add(generation, sound);
        if (!answer.sounded) deps.onMark('firstAudioMade');
        answer.sounded = true;
        tell(answer, () => deps.onChunk(chunk));
      }
    } catch (error) {
      failure = error;
    }
    if (!isWanted()) return;
    const last = rateHz === null ? null : heard.close(generation, rateHz);
    if (last !== null) tell(answer, () => deps.onChunk(last));
    if (rateHz === null) heard.pass(phrase);
    show(answer, making);
    answer.making = null;
    // A phrase of signs only is no fault.
    if (failure !== null && !isAppError(failure, 'TEXT_UNSPEAKABLE')) fail(answer, failure);
    go(answer);
  }

  function show(answer: Answer, making: Making): void {
    if (!making.isShown) caption(answer, making.phrase, making.line);
    making.isShown = true;
  }

  /** What is left is captions (VO-64); never another voice. */
  function fail(answer: Answer, cause: unknown): void {
    answer.silent = true;
    stopTimer(answer);
    const error = toAppError(cause);
    log.warn('voice.unspoken', { code: error.code });
    deps.onFailed(error);
  }

  function stop(): void {
    held = [];
    if (current === null || current.stopped) return;
    stopTimer(current);
    current.stopped = true;
    current.waiting = [];
    current.sound.abort();
  }

  return {
    begin(generation, options) {
      stop();
      current = {
        generation,
        options,
        script: createScript(languageOf(options)),
        heard: createHeard(),
        sound: new AbortController(),
        waiting: [],
        silent: false,
        making: null,
        stopped: false,
        ended: false,
        finished: false,
        begun: false,
        sounded: false,
        due: false,
        takeBack: null,
      };
    },
    push(text) {
      if (current !== null && !current.stopped && !current.ended) add(current, current.script.push(text));
    },
    restart() {
      const answer = current;
      if (answer === null || answer.stopped || answer.ended) return;
      stopTimer(answer);
      answer.heard.restart(answer.making?.phrase ?? null);
      answer.script = createScript(languageOf(answer.options));
      answer.waiting = [];
      answer.making = null;
      answer.due = false;
      answer.sound.abort();
      answer.sound = new AbortController();
    },
    end() {
      if (current === null || current.stopped || current.ended) return;
      current.ended = true;
      add(current, current.script.end());
    },
    hold() {
      isHeld = true;
    },
    release() {
      isHeld = false;
      for (const what of held.splice(0)) what();
    },
    stop,
    quiet() {
      const answer = current;
      if (answer === null || answer.stopped || answer.silent) return;
      answer.silent = true;
      stopTimer(answer);
      answer.heard.passAll();
      if (answer.making !== null) show(answer, answer.making);
      answer.making = null;
      answer.sound.abort();
      go(answer);
    },
    played(heard, done) {
      if (current === null) return;
      current.heard.mark(heard, done);
      if (current.stopped) return;
      go(current);
      flushIfDry(current);
    },
    heardUnits() {
      if (current === null) return 0;
      const { script, heard, finished } = current;
      return finished && heard.unplayed() === 0 ? script.written.length : heard.units(script.written);
    },
  };
}

const languageOf = ({ language }: SpeakerOptions): string => language.split('-')[0]?.toLowerCase() ?? language;
