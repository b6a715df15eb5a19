import type { ClientContext, ClientLink } from '@orpc/client';
import type { DamageChoice } from '../../shared/contract/pageLink.ts';

/** One way to the runtime that is open now. */
export type Link = {
  /** Its failures are AppErrors (`appErrors` of the contract). */
  readonly link: ClientLink<ClientContext>;
  /** Resolves when it is gone, with true when the other side no longer knows this page (a sign-in that was taken back). */
  readonly closed: Promise<{ signedOut: boolean }>;
  close(): void;
};

/** The page's end of a voice line (`shared/contract/voiceLine.ts`). What it carries is read by its user. */
export type VoiceLink = {
  /** Bytes are handed over: they are not touched afterwards. Sending on a closed one does nothing. */
  send(data: string | Uint8Array<ArrayBuffer>): void;
  /** For the one listener there is; what came before it was given is delivered then. Bytes are the listener's own. */
  onMessage(listener: (data: string | Uint8Array<ArrayBuffer>) => void): void;
  /** Bytes that were sent and have not left this process, where that is known (a socket); a port takes all at once. */
  waiting(): number;
  /** Resolves when it is gone, for whatever reason. The runtime closes a line that sent what is no message. */
  readonly closed: Promise<void>;
  close(): void;
};

/** How a page reaches its runtime. Each `open` is a new link; the connection decides when to ask for one. */
export type Transport = {
  readonly kind: 'app' | 'web' | 'memory';
  /** @throws AppError: a retryable one is tried again by itself, another needs a person. */
  open(signal: AbortSignal, damaged?: DamageChoice): Promise<Link>;
  /**
   * A voice line beside the calls; try it while those are open. Nobody but the caller tries again.
   *
   * @param signal  ends the opening, and closes the line once it is open.
   * @throws AppError RUNTIME_UNAVAILABLE, SHUTTING_DOWN and what else `open` names.
   */
  openVoice(signal: AbortSignal): Promise<VoiceLink>;
};
