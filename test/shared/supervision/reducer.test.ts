import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ChildFrame } from '../../../src/shared/supervision/frames.ts';
import { supervise } from '../../../src/shared/supervision/reducer.ts';
import {
  type Effect,
  type Input,
  initialSupervision,
  type SupervisionState,
  supervisionLimits,
  TIMERS,
} from '../../../src/shared/supervision/state.ts';

const limits = supervisionLimits;

/** Feeds inputs and keeps what came out. */
function life(inputs: readonly (Input | number)[]): { state: SupervisionState; effects: Effect[]; last: readonly Effect[] } {
  let state = initialSupervision;
  let now = 0;
  const effects: Effect[] = [];
  let last: readonly Effect[] = [];
  for (const input of inputs) {
    if (typeof input === 'number') {
      now += input;
      continue;
    }
    const step = supervise(state, input, now, limits);
    state = step.state;
    last = step.effects;
    effects.push(...step.effects);
  }
  return { state, effects, last };
}

const ensure: Input = { type: 'ensure' };
const frame = (value: ChildFrame): Input => ({ type: 'frame', frame: value });
const ready = (generation = 1) => frame({ k: 'ready', generation });
const exited = (generation = 1, code: number | null = 1): Input => ({ type: 'exited', generation, exit: { code, signal: null } });
const timer = (name: (typeof TIMERS)[number], generation = 1): Input => ({ type: 'timer', name, generation });
const names = (effects: readonly Effect[]) => effects.map((effect) => effect.do);
const failureOf = (effects: readonly Effect[], kind: 'close' | 'refuse') =>
  effects.flatMap((effect) => (effect.do === kind ? [effect.failure] : []));

describe('the life of a process', () => {
  it('starts once for many who ask, and opens when the child is ready', () => {
    const { state, effects } = life([ensure, ensure, ensure, ready()]);
    expect(state.phase).toBe('ready');
    expect(names(effects).filter((name) => name === 'start')).toHaveLength(1);
    expect(names(effects)).toContain('open');
    expect(effects).toContainEqual({ do: 'post', frame: { k: 'hello', generation: 1 } });
  });

  it('kills a child that does not come up in time and tells those who wait', () => {
    const { state, effects } = life([ensure, timer('start')]);
    expect(state.phase).toBe('stopping');
    expect(names(effects)).toContain('kill');
    expect(failureOf(effects, 'refuse')).toEqual([{ kind: 'timeout', stage: 'start' }]);
  });

  it('takes exit code 0 without a goodbye for a crash', () => {
    const { state, effects } = life([ensure, ready(), exited(1, 0)]);
    expect(failureOf(effects, 'close')).toEqual([{ kind: 'crashed', stage: 'run', exit: { code: 0, signal: null } }]);
    expect(state.failures).toBe(1);
  });

  it('takes an exit after a goodbye for orderly', () => {
    const { state } = life([ensure, ready(), { type: 'stop' }, frame({ k: 'goodbye', generation: 1 }), exited(1, 0)]);
    expect(state).toMatchObject({ phase: 'exited', failures: 0, ending: null });
  });

  it('counts a crash while it unloads', () => {
    const { state } = life([ensure, ready(), { type: 'stop' }, exited(1, 0)]);
    expect(state.failures).toBe(1);
  });

  it('asks, waits, then kills, and kills again until the exit is seen', () => {
    const { effects } = life([ensure, ready(), { type: 'stop' }, timer('stop'), timer('stop')]);
    expect(effects).toContainEqual({ do: 'post', frame: { k: 'stop', generation: 1 } });
    expect(names(effects).filter((name) => name === 'kill')).toHaveLength(2);
  });

  it('starts nothing new while the old child may live', () => {
    const stopping = life([ensure, ready(), { type: 'stop' }, ensure]);
    expect(names(stopping.effects).filter((name) => name === 'start')).toHaveLength(1);
    const { state, effects } = life([ensure, ready(), { type: 'stop' }, ensure, frame({ k: 'goodbye', generation: 1 }), exited(1, 0)]);
    expect(state).toMatchObject({ phase: 'starting', generation: 2 });
    expect(names(effects).filter((name) => name === 'start')).toHaveLength(2);
  });

  it('drops every input of another generation', () => {
    const before = life([ensure, ready(), exited(), limits.restartDelaysMs[0] ?? 0, ensure]);
    for (const stale of [
      ready(1),
      frame({ k: 'app', generation: 1, body: 1 }),
      exited(1),
      timer('start', 1),
      { type: 'end', generation: 1 } as const,
    ]) {
      const step = supervise(before.state, stale, 1e9, limits);
      expect(step.state).toEqual(before.state);
      expect(step.effects).toEqual([]);
    }
  });
});

describe('pings', () => {
  it('kills a child that does not answer', () => {
    const { state, effects } = life([ensure, ready(), timer('ping'), timer('pong')]);
    expect(state.phase).toBe('stopping');
    expect(failureOf(effects, 'close')).toEqual([{ kind: 'timeout', stage: 'run' }]);
  });

  it('does not count them while a native call is declared running', () => {
    const { state, effects } = life([ensure, ready(), timer('ping'), frame({ k: 'busy', generation: 1, label: 'load' }), timer('pong')]);
    expect(state.phase).toBe('ready');
    expect(names(effects)).not.toContain('kill');
  });

  it('counts the cap of a native call anew whenever the child says something: a long answer is no hang', () => {
    const { effects } = life([
      ensure,
      ready(),
      frame({ k: 'busy', generation: 1, label: 'generate' }),
      frame({ k: 'app', generation: 1, body: 'token' }),
    ]);
    expect(effects.filter((effect) => effect.do === 'timer' && effect.name === 'busy')).toHaveLength(2);
  });

  it('caps how long a native call may be silent', () => {
    const { state } = life([ensure, ready(), frame({ k: 'busy', generation: 1, label: 'load' }), timer('busy')]);
    expect(state.phase).toBe('stopping');
  });

  it('pings again after the call, and takes no late answer for the new ping', () => {
    const { state } = life([
      ensure,
      ready(),
      timer('ping'),
      frame({ k: 'busy', generation: 1, label: 'load' }),
      frame({ k: 'idle', generation: 1 }),
      timer('ping'),
      frame({ k: 'pong', generation: 1, n: 1 }),
      timer('pong'),
    ]);
    expect(state.phase).toBe('stopping');
  });
});

describe('the breaker', () => {
  const crash = (generation: number): (Input | number)[] => [10_000, ensure, ready(generation), exited(generation)];

  it('opens after three failures in a row and says when to come back', () => {
    const { state, last } = life([...crash(1), ...crash(2), ...crash(3), ensure]);
    expect(state.phase).toBe('broken');
    expect(failureOf(last, 'refuse')).toEqual([{ kind: 'breaker', retryAfterMs: limits.breakerRetryMs }]);
  });

  it('lets one try through after that time, and opens again at once if it fails', () => {
    const { state } = life([...crash(1), ...crash(2), ...crash(3), limits.breakerRetryMs, ensure, ready(4), exited(4)]);
    expect(state).toMatchObject({ phase: 'broken', generation: 4 });
  });

  it('stays shut when a command succeeded in between', () => {
    const { state } = life([
      ...crash(1),
      ...crash(2),
      10_000,
      ensure,
      ready(3),
      { type: 'succeeded', generation: 3 },
      exited(3),
      ...crash(4),
    ]);
    expect(state).toMatchObject({ phase: 'exited', failures: 2 });
  });

  it('closes when a person asks', () => {
    const { state } = life([...crash(1), ...crash(2), ...crash(3), { type: 'reset' }, ensure]);
    expect(state).toMatchObject({ phase: 'starting', failures: 0 });
  });

  it('waits before it starts again after a failure', () => {
    const { state, effects, last } = life([ensure, ready(), exited(), ensure]);
    expect(state).toMatchObject({ phase: 'exited', wanted: true });
    expect(last).toEqual([{ do: 'timer', name: 'restart', ms: limits.restartDelaysMs[0] }]);
    expect(names(effects).filter((name) => name === 'start')).toHaveLength(1);
  });
});

describe('lies', () => {
  it.each<[string, Input]>([
    ['a second ready', ready()],
    ['no frame at all', { type: 'malformed', generation: 1 }],
  ])('ends a child that sends %s', (_, lie) => {
    const { state, effects } = life([ensure, ready(), lie]);
    expect(state.phase).toBe('stopping');
    expect(failureOf(effects, 'close')).toEqual([{ kind: 'protocol', stage: 'run' }]);
  });

  it('ends a child that speaks before it is ready', () => {
    const { effects } = life([ensure, frame({ k: 'app', generation: 1, body: null })]);
    expect(failureOf(effects, 'refuse')).toEqual([{ kind: 'protocol', stage: 'start' }]);
  });
});

// Any order of anything: what the rest of the product builds on.
const inputs: fc.Arbitrary<Input | number> = fc.oneof(
  fc.constant<Input>({ type: 'ensure' }),
  fc.constant<Input>({ type: 'stop' }),
  fc.constant<Input>({ type: 'reset' }),
  fc.integer({ min: 0, max: 60_000 }),
  fc.record({
    type: fc.constant('exited' as const),
    generation: fc.integer({ min: 1, max: 4 }),
    exit: fc.constant({ code: 0, signal: null }),
  }),
  fc.record({ type: fc.constant('timer' as const), name: fc.constantFrom(...TIMERS), generation: fc.integer({ min: 1, max: 4 }) }),
  fc.record({
    type: fc.constantFrom('end' as const, 'succeeded' as const, 'malformed' as const),
    generation: fc.integer({ min: 1, max: 4 }),
  }),
  fc
    .record({ k: fc.constantFrom('ready' as const, 'idle' as const, 'goodbye' as const), generation: fc.integer({ min: 1, max: 4 }) })
    .map((value): Input => ({ type: 'frame', frame: value })),
  fc.integer({ min: 1, max: 4 }).map((generation): Input => ({ type: 'frame', frame: { k: 'busy', generation, label: 'x' } })),
  fc.integer({ min: 1, max: 4 }).map((generation): Input => ({ type: 'frame', frame: { k: 'app', generation, body: 1 } })),
  fc.integer({ min: 1, max: 4 }).map((generation): Input => ({ type: 'frame', frame: { k: 'pong', generation, n: 1 } })),
);

describe('whatever happens', () => {
  it('never has two children alive, and closes each opened session exactly once', () => {
    fc.assert(
      fc.property(fc.array(inputs, { maxLength: 80 }), (events) => {
        let state = initialSupervision;
        let now = 0;
        let alive = 0;
        let open: number | null = null;
        let closed = 0;
        let opened = 0;
        for (const event of events) {
          if (typeof event === 'number') {
            now += event;
            continue;
          }
          // The outside world keeps its promise: only the child that lives exits, and only once.
          if (event.type === 'exited') {
            if (alive === 0 || event.generation !== state.generation) continue;
            alive = 0;
          }
          const step = supervise(state, event, now, limits);
          state = step.state;
          for (const effect of step.effects) {
            if (effect.do === 'start') {
              expect(alive).toBe(0);
              alive = 1;
            }
            if (effect.do === 'open' && open !== effect.generation) {
              expect(open).toBeNull();
              open = effect.generation;
              opened += 1;
            }
            if (effect.do === 'close') {
              expect(open).toBe(effect.generation);
              open = null;
              closed += 1;
            }
            if (effect.do === 'deliver') expect(open).toBe(state.generation);
          }
          expect(open !== null).toBe(state.phase === 'ready');
          expect(alive === 1).toBe(['starting', 'ready', 'stopping'].includes(state.phase));
        }
        expect(opened - closed).toBe(open === null ? 0 : 1);
      }),
      { numRuns: 400 },
    );
  });

  it('leaves nobody waiting: a wish ends in open, refuse, or a timer that will look again', () => {
    fc.assert(
      fc.property(fc.array(inputs, { maxLength: 60 }), (events) => {
        let state = initialSupervision;
        let now = 0;
        let waiting = false;
        const armed = new Set<string>();
        for (const event of events) {
          if (typeof event === 'number') {
            now += event;
            continue;
          }
          if (event.type === 'timer' && event.generation === state.generation) armed.delete(event.name);
          if (event.type === 'ensure') waiting = true;
          const step = supervise(state, event, now, limits);
          state = step.state;
          for (const effect of step.effects) {
            if (effect.do === 'timer') armed.add(effect.name);
            if (effect.do === 'untimer') armed.delete(effect.name);
            if (effect.do === 'open' || effect.do === 'refuse') waiting = false;
          }
          if (!waiting) continue;
          const willMove =
            (state.phase === 'starting' && armed.has('start')) ||
            (state.phase === 'stopping' && state.wanted && armed.has('stop')) ||
            (state.phase === 'exited' && state.wanted && armed.has('restart'));
          // A timer that the test fired early counts as fired: the reducer armed it again or moved on.
          expect(willMove || event.type === 'timer').toBe(true);
        }
      }),
      { numRuns: 400 },
    );
  });
});
