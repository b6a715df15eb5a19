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
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : Math.max(0, at - nowMs);
}
