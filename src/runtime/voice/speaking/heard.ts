import { msOf, type SoundChunk } from '../../../shared/domain/audio.ts';
import type { SpokenPhrase } from '../../inference/textToSpeech.ts';
import { writtenLength } from '../spoken/spoken.ts';
import type { HeardMark } from './ports.ts';
import type { Line } from './script.ts';

type Piece = { readonly from: number; readonly to: number; readonly spokenTo: number; readonly endMs: number };

type Said = {
  readonly line: Line;
  readonly pieces: Piece[];
  /** Pieces that have sounded to their end. */
  done: number;
  /** Characters of the spoken text that were said. */
  spokenAt: number;
  state: 'sound' | 'over';
  /** Its text was taken back. */
  isVoid: boolean;
};

/** The phrases of one answer in the order in which they are said, and how far the loudspeaker is with them. */
export function createHeard() {
  const said: Said[] = [];

  const spokenTo = (phrase: Said) => phrase.pieces.at(-1)?.spokenTo ?? 0;

  return {
    /** @returns its number. */
    begin(line: Line, state: 'sound' | 'over'): number {
      said.push({ line, pieces: [], done: 0, spokenAt: 0, state, isVoid: false });
      return said.length - 1;
    },
    /** A piece of sound of the newest phrase. Its pieces lie side by side in the written text; the last one reaches to its end. */
    add(generation: number, sound: SpokenPhrase): SoundChunk {
      const phrase = said.at(-1);
      if (phrase === undefined) throw new Error('no phrase was begun');
      const { line } = phrase;
      const end = Math.max(spokenTo(phrase), sound.textRange[1]);
      const last = !/[\p{L}\p{N}]/u.test(line.form.spoken.slice(end));
      return piece(phrase, generation, sound.sampleRate, new Float32Array(sound.samples), last ? null : end);
    },
    /** Ends the newest phrase, if none of its pieces was the last one. `null`: there is nothing to end. */
    close(generation: number, rateHz: number): SoundChunk | null {
      const phrase = said.at(-1);
      if (phrase === undefined || phrase.pieces.length === 0 || phrase.pieces.at(-1)?.to === phrase.line.end) return null;
      return piece(phrase, generation, rateHz, new Float32Array(0), null);
    },
    /** It makes no sound. */
    pass(number: number): void {
      const phrase = said[number];
      if (phrase !== undefined) phrase.state = 'over';
    },
    /** Their text is void; what is with the loudspeaker sounds to its end. @param making  the one that is not there yet, if any. */
    restart(making: number | null): void {
      for (const phrase of said) phrase.isVoid = true;
      if (making !== null) this.pass(making);
    },
    /** None of them sounds any more. */
    passAll(): void {
      for (const phrase of said) phrase.state = 'over';
    },
    mark({ phrase: number, from, to, ms }: HeardMark, isDone: boolean): void {
      const phrase = said[number];
      if (phrase === undefined) return;
      for (const before of said.slice(0, number)) before.state = 'over';
      const at = phrase.pieces.findIndex((each, i) => i >= phrase.done && each.from === from && each.to === to);
      const now = phrase.pieces[at];
      if (now === undefined) return;
      const before = phrase.pieces[at - 1];
      const [spokenFrom, startMs] = [before?.spokenTo ?? 0, before?.endMs ?? 0];
      const share = isDone ? 1 : Math.min(1, Math.max(0, (ms - startMs) / Math.max(1, now.endMs - startMs)));
      phrase.spokenAt = Math.max(phrase.spokenAt, spokenFrom + Math.floor(share * (now.spokenTo - spokenFrom)));
      if (!isDone) return;
      phrase.done = at + 1;
      if (now.to === phrase.line.end) phrase.state = 'over';
    },
    /** Phrases whose sound is not over, the one that sounds included. */
    unplayed: (): number => said.filter(({ state }) => state === 'sound').length,
    /** UTF-16 units of the written text, whole words only, without gap from its beginning. */
    units(written: string): number {
      let units = 0;
      for (const { line, state, spokenAt, isVoid } of said) {
        if (isVoid) continue;
        if (state === 'over') units = Math.max(units, line.end);
        else if (spokenAt === 0) return units;
        else return Math.max(units, wholeWords(written, line.start + writtenLength(line.form, spokenAt), line.start));
      }
      return units;
    },
  };

  function piece(
    phrase: Said,
    generation: number,
    rateHz: number,
    pcm: Float32Array<ArrayBuffer>,
    /** Null: to the end of the phrase. */
    upTo: number | null,
  ): SoundChunk {
    const { line, pieces } = phrase;
    const from = pieces.at(-1)?.to ?? line.start;
    // Only the last one ends with the phrase: that is what tells them apart.
    const isLast = upTo === null || from === line.end;
    const to = isLast ? line.end : Math.min(line.end - 1, Math.max(from, line.start + writtenLength(line.form, upTo)));
    pieces.push({
      from,
      to,
      spokenTo: upTo ?? line.form.spoken.length,
      endMs: (pieces.at(-1)?.endMs ?? 0) + msOf(pcm.length, rateHz),
    });
    return { generation, phrase: said.indexOf(phrase), last: isLast, range: { from, to }, rateHz, pcm };
  }
}

const letter = /[\p{L}\p{N}]/u;

/** Half a word was not heard. */
function wholeWords(text: string, units: number, start: number): number {
  let at = units;
  if (letter.test(text[at] ?? '')) while (at > start && letter.test(text[at - 1] ?? '')) at -= 1;
  return start + text.slice(start, at).trimEnd().length;
}
