/**
 * Whether the page may open the microphone now. Main alone decides it: a lease is granted before a capture (PV-08), and a hard mute
 * takes it away and refuses every new one until a person lifts it (PV-09). It is closed until somebody opens it.
 */
export type MicrophonePolicy = {
  isOpen(): boolean;
  /** @returns false while muted: then there is no lease. */
  grant(): boolean;
  release(): void;
  /** Muting ends the lease; lifting the mute gives none back. */
  setMuted(muted: boolean): void;
  isMuted(): boolean;
};

export function createMicrophonePolicy(): MicrophonePolicy {
  let leased = false;
  let muted = false;
  return {
    isOpen: () => leased && !muted,
    grant() {
      leased = !muted;
      return leased;
    },
    release() {
      leased = false;
    },
    setMuted(next) {
      muted = next;
      if (muted) leased = false;
    },
    isMuted: () => muted,
  };
}
