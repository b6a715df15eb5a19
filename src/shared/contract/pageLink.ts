/**
 * How the page of the app reaches the runtime. The preload puts `window.sotto` there; a served page has none and opens its
 * WebSocket instead. What the page does:
 *
 * 1. Make a fresh number (`crypto.randomUUID()`) and, **before** calling, listen to `message` on `window`. Take a message only if
 *    `event.source === window`, `event.origin === location.origin` and `parsePageLinkMessage(event.data)` names this number.
 * 2. `await window.sotto.connect(number)`. It answers when the runtime is up (a first start may take seconds), never rejects, and
 *    gives `{status: 'connected'}` or `{status: 'failed', error}`. On 'failed' show the error with a button that calls again with a
 *    new number: each call makes main try again. After DB_DAMAGED the call may carry what the person chose (`DamageChoice`); it counts
 *    for the start that this call causes and for no other.
 * 3. The port comes as `{sotto: 'port', number}` with `event.ports[0]`, before or after the answer of step 2. It speaks oRPC's
 *    message-port protocol, or with purpose `voice` that of `voiceLine.ts`; call `port.start()`.
 * 4. `{sotto: 'closed', number}` says that the port of this number is dead (the runtime ended or was restarted; Chromium 114 has no
 *    close event on a MessagePort). Close the port, which ends its calls, and go to step 1. Commands are never replayed by anyone
 *    below the page.
 */
export type PageBridge = {
  connect(number: string, options?: ConnectOptions): Promise<ConnectReply>;
};

/** What a port is for: texts of oRPC, or the texts and sound of one voice line. Default `calls`. */
export type PortPurpose = 'calls' | 'voice';

export type ConnectOptions = { readonly purpose?: PortPurpose; readonly damaged?: DamageChoice | undefined };

/** What becomes of chats whose file is damaged: the newest good backup comes back, or an empty start. The damaged file stays aside. */
export type DamageChoice = 'restore' | 'empty';

export function isDamageChoice(value: unknown): value is DamageChoice {
  return value === 'restore' || value === 'empty';
}

/** The variable of the runtime's environment that carries the choice for one start. */
export const damageVariable = 'SOTTO_DAMAGED';

export type ConnectReply =
  | { readonly status: 'connected' }
  /** `code` and `data` are those of the error tables (`DATA_DIR_IN_USE`, `DB_FROM_FUTURE`, `RUNTIME_UNAVAILABLE`, `FORBIDDEN_SENDER` …). */
  | { readonly status: 'failed'; readonly error: LinkError };

export type LinkError = {
  readonly code: string;
  readonly message: string;
  readonly data: Readonly<Record<string, unknown>>;
};

export type PageLinkMessage = { readonly sotto: 'port' | 'closed'; readonly number: string };

/** The app's own origin, as the address bar would show it. */
export const appScheme = 'app';
export const appHost = 'sotto';
export const appOrigin = `${appScheme}://${appHost}`;

/** Channels between preload and main; the page never sees them. `connect` is the one invoke channel. */
export const channels = { connect: 'sotto:connect', port: 'sotto:port', closed: 'sotto:closed' } as const;

/** UTF-16 units. Longer messages end the port; the runtime answers those up to here, also when it refuses them (RB-03). */
export const maxPortMessageCharacters = 64 * 1024 * 1024;

/** A one-time number: what `crypto.randomUUID()` gives, or any 16 to 64 letters, digits and dashes. */
export function isLinkNumber(value: unknown): value is string {
  return typeof value === 'string' && /^[0-9A-Za-z-]{16,64}$/.test(value);
}

/** @returns null for anything that is not one of our two messages. */
export function parsePageLinkMessage(data: unknown): PageLinkMessage | null {
  if (typeof data !== 'object' || data === null || !('sotto' in data) || !('number' in data)) return null;
  if (data.sotto !== 'port' && data.sotto !== 'closed') return null;
  return isLinkNumber(data.number) ? { sotto: data.sotto, number: data.number } : null;
}
