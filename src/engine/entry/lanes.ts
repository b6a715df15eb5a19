import type { Jobs } from './jobs.ts';

/**
 * Several workers as one: each call goes to the lane of its method, so that a long run of one model does not hold up another. A lane's
 * worker starts with its first call.
 *
 * @param laneOf  the lane of a method, also of one that nobody knows.
 * @param start   throws if the worker cannot be started.
 * @param refuse  answers a call whose lane could not be started.
 */
export function createLanes(deps: {
  laneOf: (method: string) => string;
  start: (lane: string) => Jobs;
  refuse: (id: number, method: string) => void;
}): Jobs {
  const lanes = new Map<string, Jobs>();
  let closed: Promise<void> | null = null;

  function laneFor(method: string): Jobs | null {
    const name = deps.laneOf(method);
    const present = lanes.get(name);
    if (present !== undefined || closed !== null) return present ?? null;
    try {
      const made = deps.start(name);
      lanes.set(name, made);
      return made;
    } catch {
      return null;
    }
  }

  return {
    call(id, method, params) {
      const lane = laneFor(method);
      if (lane === null) deps.refuse(id, method);
      else lane.call(id, method, params);
    },
    cancel(id) {
      // An id belongs to one lane; the others do not know it.
      for (const lane of lanes.values()) lane.cancel(id);
    },
    close() {
      closed ??= Promise.all([...lanes.values()].map((lane) => lane.close())).then(() => {});
      return closed;
    },
  };
}
