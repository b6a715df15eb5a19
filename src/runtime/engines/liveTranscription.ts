import { speechLimits, type TranscribeResult } from '../../engine/contract/speech.ts';
import { AppError } from '../../shared/errors/appError.ts';
import { type LiveTranscription, type PartialTranscript, pieceSeconds, type Transcript } from '../inference/speechToText.ts';
import type { Clock } from '../platform/ports.ts';
import { quietestPlace } from '../speech/cuts.ts';

export type Decode = (
  samples: Float32Array<ArrayBuffer>,
  options: { signal: AbortSignal; speech: boolean; draft: readonly number[] },
) => Promise<TranscribeResult>;

const { sampleRate } = speechLimits;
/** Partial readings take at most a quarter of a core (speech facts, section 4). Samples, ms. */
const MAX_PIECE = pieceSeconds.max * sampleRate;
const FROM = pieceSeconds.from * sampleRate;
const FIRST_PARTIAL = sampleRate / 2;
const BETWEEN_MS = 300;
const COST_FACTOR = 3;

/**
 * Reads an utterance while it is spoken. Partial readings verify the one before as a draft; the closed pieces and the end are read anew, so
 * that the final words never depend on when a partial one happened to run.
 */
export function createLiveTranscription(deps: {
  clock: Clock;
  decode: Decode;
  signal: AbortSignal;
  onPartial: (partial: PartialTranscript) => void;
  finished: (results: readonly TranscribeResult[], length: number) => Promise<Transcript>;
}): LiveTranscription {
  const { clock, decode, onPartial } = deps;
  const giveUp = new AbortController();
  const signal = AbortSignal.any([deps.signal, giveUp.signal]);
  let piece = new Float32Array(MAX_PIECE * 2);
  let held = 0;
  let total = 0;
  /** Closed pieces, read in order; a failure is thrown by `finish`. */
  let closedPieces: Promise<TranscribeResult[]> = Promise.resolve([]);
  closedPieces.catch(() => {});
  let closedText = '';
  let pieces = 0;
  let partial: Promise<void> | null = null;
  let partialStop = new AbortController();
  let notBeforeMs = 0;
  let draft: readonly number[] = [];
  let lastText = '';
  let over = false;

  function read(samples: Float32Array<ArrayBuffer>, speech: boolean): void {
    const before = closedPieces;
    const next = before.then(async (results) => {
      const result = await decode(samples, { signal, speech, draft: [] });
      closedText = joined(closedText, result.text);
      return [...results, result];
    });
    // Thrown again by whoever waits for it.
    next.catch(() => {});
    closedPieces = next;
  }

  function closePiece(): void {
    const end = quietestPlace(piece.subarray(0, held), FROM, MAX_PIECE, sampleRate);
    stopPartial();
    read(piece.slice(0, end), true);
    piece.copyWithin(0, end, held);
    held -= end;
    pieces += 1;
    draft = [];
    lastText = '';
  }

  function stopPartial(): void {
    partialStop.abort();
    partialStop = new AbortController();
  }

  async function readPartial(): Promise<void> {
    const startMs = clock.monotonicMs();
    const mine = pieces;
    try {
      const stop = AbortSignal.any([signal, partialStop.signal]);
      const result = await decode(piece.slice(0, held), { signal: stop, speech: true, draft });
      if (over || mine !== pieces) return;
      draft = result.tokens.slice(0, speechLimits.draftTokens);
      const stable = joined(closedText, commonWords(lastText, result.text));
      lastText = result.text;
      onPartial({ text: joined(closedText, result.text), stable });
    } catch {
      // The next reading or the end tells: a partial one that fails costs nothing but itself.
    } finally {
      const nowMs = clock.monotonicMs();
      notBeforeMs = nowMs + Math.max(BETWEEN_MS, COST_FACTOR * (nowMs - startMs));
      partial = null;
    }
  }

  return {
    feed(samples) {
      if (over) return;
      for (let at = 0; at < samples.length; ) {
        const room = Math.min(samples.length - at, MAX_PIECE - held);
        piece.set(samples.subarray(at, at + room), held);
        held += room;
        total += room;
        at += room;
        if (held >= MAX_PIECE) closePiece();
      }
      if (partial === null && held >= FIRST_PARTIAL && clock.monotonicMs() >= notBeforeMs) partial = readPartial();
    },
    async finish({ speech }) {
      if (over) throw new AppError('CANCELLED');
      over = true;
      stopPartial();
      if (total < speechLimits.minSoundSeconds * sampleRate) throw new AppError('AUDIO_TOO_SHORT');
      if (held >= speechLimits.minSoundSeconds * sampleRate) read(piece.slice(0, held), speech);
      piece = new Float32Array(0);
      return deps.finished(await closedPieces, total);
    },
    close() {
      over = true;
      giveUp.abort();
      piece = new Float32Array(0);
    },
  };
}

function joined(before: string, after: string): string {
  return before === '' || after === '' ? before + after : `${before} ${after}`;
}

/** The words that both begin with. */
function commonWords(one: string, other: string): string {
  const words = one.split(' ');
  const others = other.split(' ');
  let same = 0;
  while (same < words.length && words[same] === others[same]) same += 1;
  return words.slice(0, same).join(' ');
}
