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

/** How a page reaches its runtime. Each `open` is a new link; the connection decides when to ask for one. */
export type Transport = {
  readonly kind: 'app' | 'web' | 'memory';
  /** @throws AppError: a retryable one is tried again by itself, another needs a person. */
  open(signal: AbortSignal, damaged?: DamageChoice): Promise<Link>;
};
