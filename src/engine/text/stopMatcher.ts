/** Finds stop texts in a stream whose cuts mean nothing. */
export type StopMatcher = {
  /**
   * @returns `text` that can no longer be part of a stop; `stopped` = a stop was found, nothing of it or after it is in `text`, and
   *          later pushes give nothing.
   */
  push(text: string): { readonly text: string; readonly stopped: boolean };
  /** The end of the stream: text that only began like a stop (BC-10). */
  end(): string;
};

/**
 * The stop that *ends* first wins, and of those the longest: so the result is the same for any cut of the stream.
 *
 * @param stops  non-empty texts; an empty list lets everything through at once.
 */
export function createStopMatcher(stops: readonly string[]): StopMatcher {
  const longest = Math.max(0, ...stops.map((stop) => stop.length));
  // Never longer than the longest stop and one push.
  let held = '';
  let stopped = false;

  /** Length of the longest end of `held` with which a stop begins. */
  function openEnd(): number {
    for (let length = Math.min(held.length, longest - 1); length > 0; length -= 1) {
      const end = held.slice(-length);
      if (stops.some((stop) => stop.length > length && stop.startsWith(end))) return length;
    }
    return 0;
  }

  return {
    push(text) {
      if (stopped) return { text: '', stopped };
      if (stops.length === 0) return { text, stopped };
      const from = held.length;
      held += text;
      for (let end = from + 1; end <= held.length; end += 1) {
        const matches = stops.filter((stop) => stop.length <= end && held.startsWith(stop, end - stop.length));
        if (matches.length === 0) continue;
        const begin = end - Math.max(...matches.map((stop) => stop.length));
        const before = held.slice(0, begin);
        stopped = true;
        held = '';
        return { text: before, stopped };
      }
      const keep = openEnd();
      const free = held.slice(0, held.length - keep);
      held = keep === 0 ? '' : held.slice(-keep);
      return { text: free, stopped };
    },
    end() {
      const rest = held;
      held = '';
      return rest;
    },
  };
}
