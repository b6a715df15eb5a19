/**
 * Reads `Retry-After`: seconds, or a date.
 *
 * @param nowMs  wall clock, for the date form.
 * @returns      ms from now, at least 0; `null` if the header is missing or means nothing.
 */
export function retryAfterMs(value: string | undefined, nowMs: number): number | null {
  if (value === undefined) return null;
  const text = value.trim();
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  // `Date.parse` alone takes almost anything for a date.
  const at = /^[A-Z][a-z]{2,8},? .+ GMT$/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? null : Math.max(0, at - nowMs);
}
