import { MicOff, Pause, TriangleAlert } from 'lucide-react';
import type { VoiceWord } from '../../shared/domain/voice.ts';

/** The colour of each state's sign (UX-175); the shape says it too. */
export const voiceTone: Record<VoiceWord, string> = {
  off: 'text-text-3',
  trouble: 'text-danger',
  muted: 'text-danger',
  opening: 'text-text-2',
  ready: 'text-text-2',
  listening: 'text-accent',
  thinking: 'text-text-2',
  speaking: 'text-accent',
  paused: 'text-warn',
};

/** The shape of each state (UX-175). It stands beside its word, so it says nothing to a reader by itself. */
export function VoiceSign({ word }: { word: VoiceWord }) {
  return (
    <span data-sign={word} className={`inline-flex shrink-0 ${voiceTone[word]}`}>
      <Shape word={word} />
    </span>
  );
}

function Shape({ word }: { word: VoiceWord }) {
  switch (word) {
    case 'trouble':
      return <TriangleAlert size={16} strokeWidth={1.75} aria-hidden="true" />;
    case 'muted':
      return <MicOff size={16} strokeWidth={1.75} aria-hidden="true" />;
    case 'paused':
      return <Pause size={16} strokeWidth={1.75} fill="currentColor" aria-hidden="true" />;
    case 'off':
      return (
        <Plain>
          <circle cx="8" cy="8" r="5.5" />
        </Plain>
      );
    case 'opening':
      // A ring that fills: half of it stands in full weight.
      return (
        <Plain>
          <circle cx="8" cy="8" r="5.5" strokeOpacity="0.35" />
          <path d="M8 2.5a5.5 5.5 0 0 1 0 11" strokeWidth="3" />
        </Plain>
      );
    case 'ready':
      return (
        <Plain>
          <circle cx="8" cy="8" r="5.5" />
          <circle cx="8" cy="8" r="2" fill="currentColor" stroke="none" />
        </Plain>
      );
    case 'listening':
      return (
        <Plain>
          <circle cx="8" cy="8" r="6.25" fill="currentColor" stroke="none" />
        </Plain>
      );
    case 'thinking':
      return (
        <Plain>
          {[3, 8, 13].map((cx) => (
            <circle key={cx} cx={cx} cy="8" r="1.75" fill="currentColor" stroke="none" />
          ))}
        </Plain>
      );
    case 'speaking':
      return (
        <Plain>
          <circle cx="4.25" cy="8" r="3" fill="currentColor" stroke="none" />
          <path d="M9 4.75a4.6 4.6 0 0 1 0 6.5M11.75 2.5a7.8 7.8 0 0 1 0 11" />
        </Plain>
      );
  }
}

function Plain({ children }: { children: React.ReactNode }) {
  return (
    <svg
      width="16"
      height="16"
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.75"
      strokeLinecap="round"
      aria-hidden="true"
      className="block"
    >
      {children}
    </svg>
  );
}
