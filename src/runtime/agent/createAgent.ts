import { plainText } from '../../shared/domain/message.ts';
import { isStoreFault } from '../store/guard.ts';
import type { TurnRow } from '../store/turnRows.ts';
import { createEvents } from './events.ts';
import { createKernel } from './kernel.ts';
import type { Agent, AgentDeps } from './ports.ts';
import { recoverTurns, recoverWhenWritable } from './recovery.ts';
import { createReplies } from './replies.ts';
import { createRuns } from './runs.ts';
import { createSessions } from './sessions.ts';
import { createTitles } from './titles.ts';
import { createTurns } from './turns.ts';

const sweepEveryMs = 6 * 3_600_000;
/** A voice says 13 to 16 characters a second; nobody listens longer to one answer. */
const soundMsPerUnit = 80;
const maxSoundMs = 120_000;

/** The durable agent kernel: sessions, turns and their event log over one store. It writes nothing before `recover` or the first call. */
export function createAgent(deps: AgentDeps): Agent {
  const closing = new AbortController();
  const kernel = createKernel(deps, closing.signal);
  const runs = createRuns(kernel);
  const turns = createTurns(kernel, runs);
  const sessions = createSessions(kernel, turns);
  const titles = createTitles(kernel, () => runs.active > 0);
  runs.onStarted(() => titles.yield());
  runs.onEnded((turn, status) => {
    if (status === 'completed')
      titles.consider(
        turn.session_id,
        kernel.store.read(() => soundsFor(turn)),
      );
    else titles.go();
  });
  const watched = createEvents(kernel);
  let takeBack = () => {};
  let ended: Promise<void> | null = null;

  /** The sound of an answer is made while it sounds: a title would take the processor from it. */
  function soundsFor(turn: TurnRow): number {
    const message = kernel.turns.isSpoken(turn) ? kernel.turns.reply(turn.id) : null;
    return message === null ? 0 : Math.min(maxSoundMs, plainText(message).length * soundMsPerUnit);
  }

  function sweep(): void {
    takeBack();
    takeBack = deps.clock.setTimer(sweepEveryMs, sweep);
    try {
      sessions.sweep();
    } catch (error) {
      // The trash can wait for a disk that takes writes.
      if (!isStoreFault(error)) throw error;
    }
  }

  async function close(): Promise<void> {
    closing.abort();
    takeBack();
    await Promise.all([runs.close(), titles.close()]);
    sessions.close();
    kernel.hub.close();
  }

  return {
    sessions,
    turns,
    events: watched,
    replies: createReplies(kernel, watched),
    recover: () =>
      recoverWhenWritable(kernel, () => {
        sweep();
        return recoverTurns(kernel, runs);
      }),
    [Symbol.asyncDispose]() {
      ended ??= close();
      return ended;
    },
  };
}
