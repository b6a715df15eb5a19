/** Numbers and times for people: always with a unit, "about" where it is an estimate, "?" where it is not known (UX-09). */

const locale = () => (typeof navigator === 'undefined' ? 'en' : navigator.language);

/** 1,536 MB below 10 GB, "12.4 GB" above; decimal units, as downloads and disks are sold. */
export function bytes(count: number | null | undefined): string {
  if (count === null || count === undefined || !Number.isFinite(count)) return '?';
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let value = Math.abs(count);
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  const digits = unit >= 3 || (unit > 0 && value < 10) ? 1 : 0;
  return `${number(count < 0 ? -value : value, digits)} ${units[unit]}`;
}

/** "−18": whole decibels with a true minus sign. */
export function decibels(db: number): string {
  return String(Math.round(db)).replace('-', '−');
}

export function speed(bytesPerSecond: number | null | undefined): string {
  return bytesPerSecond === null || bytesPerSecond === undefined ? '?' : `${bytes(bytesPerSecond)}/s`;
}

export function number(value: number, digits = 0): string {
  return new Intl.NumberFormat(locale(), { maximumFractionDigits: digits, minimumFractionDigits: 0 }).format(value);
}

/** A fraction as whole percent, rounded down: 100 % is only shown when it is done. */
export function percent(fraction: number): string {
  return `${number(Math.floor(Math.min(1, Math.max(0, fraction)) * 100))} %`;
}

/** A measured duration: "0.9 s", "12 s", "3 min 20 s". */
export function duration(ms: number | null | undefined): string {
  if (ms === null || ms === undefined || !Number.isFinite(ms)) return '?';
  const seconds = ms / 1000;
  if (seconds < 10) return `${number(seconds, 1)} s`;
  if (seconds < 60) return `${number(Math.round(seconds))} s`;
  const whole = Math.round(seconds);
  if (whole < 3600) return `${number(Math.floor(whole / 60))} min ${whole % 60} s`;
  return `${number(Math.floor(whole / 3600))} h ${Math.floor((whole % 3600) / 60)} min`;
}

/** An estimate of what is left, coarse on purpose: seconds to ten, then fives, then minutes. Null when it is not known. */
export function timeLeft(ms: number | null | undefined): string | null {
  if (ms === null || ms === undefined || !Number.isFinite(ms)) return null;
  const seconds = Math.max(1, Math.round(ms / 1000));
  if (seconds <= 10) return `${seconds} s`;
  if (seconds < 60) return `${Math.ceil(seconds / 5) * 5} s`;
  if (seconds < 3600) return `${Math.round(seconds / 60)} min`;
  return `${number(Math.floor(seconds / 3600))} h ${Math.round((seconds % 3600) / 60)} min`;
}

export function clockTime(at: string): string {
  return new Intl.DateTimeFormat(locale(), { hour: '2-digit', minute: '2-digit' }).format(new Date(at));
}

export function dateTime(at: string): string {
  return new Intl.DateTimeFormat(locale(), { dateStyle: 'medium', timeStyle: 'short' }).format(new Date(at));
}

export type DayGroup = 'today' | 'yesterday' | { readonly date: string };

/** The heading a chat stands under. Days are those of the person's own time zone. */
export function dayOf(at: string, nowMs: number): DayGroup {
  const then = new Date(at);
  const today = new Date(nowMs);
  const day = (d: Date) => new Date(d.getFullYear(), d.getMonth(), d.getDate()).getTime();
  const days = Math.round((day(today) - day(then)) / 86_400_000);
  if (days <= 0) return 'today';
  if (days === 1) return 'yesterday';
  const sameYear = then.getFullYear() === today.getFullYear();
  return {
    date: new Intl.DateTimeFormat(
      locale(),
      days < 7 ? { weekday: 'long' } : { day: 'numeric', month: 'long', ...(sameYear ? {} : { year: 'numeric' }) },
    ).format(then),
  };
}
