import type { Clock } from '../../shared/util/clock.ts';
import type { Keys } from '../store/keys.ts';
import { cookieName } from './guard.ts';
import type { HttpLimits } from './limits.ts';

export type Login = {
  /** ms until the next try is allowed; 0 = now. */
  waitMs(): number;
  /** Counts a try and signs in. The value of `set-cookie`, or null when the code is wrong. */
  signIn(code: string, host: string): string | null;
};

/**
 * Trades a one-time code for a cookie of that exact host (SV-07). Tries are counted for the whole server, not for each sender: on
 * loopback all senders look alike, and a code has 40 bits.
 */
export function createLogin(deps: { keys: Keys; clock: Clock; limits: HttpLimits }): Login {
  const { clock, limits } = deps;
  let tries: number[] = [];
  const recent = () => {
    const since = clock.monotonicMs() - limits.loginWindowMs;
    tries = tries.filter((at) => at > since);
    return tries;
  };
  return {
    waitMs() {
      const past = recent();
      const oldest = past[past.length - limits.loginTries];
      return oldest === undefined ? 0 : oldest + limits.loginWindowMs - clock.monotonicMs();
    },
    signIn(code, host) {
      recent().push(clock.monotonicMs());
      const page = deps.keys.signIn(code, host);
      if (page === null) return null;
      tries = [];
      return pageCookie(host, page.secret);
    },
  };
}

/** Not readable by scripts, never sent by another site. No `Secure`: the page is served over http on loopback. */
export function pageCookie(host: string, secret: string): string {
  return `${cookieName(host)}=${secret}; HttpOnly; SameSite=Strict; Path=/; Max-Age=${12 * 3600}`;
}

/** The code out of a login body: the form of the page, or `{"code": "…"}`. Empty when there is none. */
export function codeOf(body: string, contentType: string): string {
  if (contentType.startsWith('application/x-www-form-urlencoded')) return new URLSearchParams(body).get('code') ?? '';
  const parsed: unknown = JSON.parse(body);
  return typeof parsed === 'object' && parsed !== null && 'code' in parsed && typeof parsed.code === 'string' ? parsed.code : '';
}
