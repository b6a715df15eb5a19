import { AppError } from '../../shared/errors/appError.ts';
import { crashPoint } from '../../shared/util/crashPoint.ts';
import { detach } from '../../shared/util/detach.ts';
import type { NewEvent } from '../store/eventLog.ts';
import { isStoreFault } from '../store/guard.ts';
import type { TurnRow } from '../store/turnRows.ts';
import type { Kernel } from './kernel.ts';
import type { Recovery } from './ports.ts';
import { cancelledEvent, failedEvent, heardEvent, type Runs, said } from './runs.ts';

/** RE-03, RE-06. */
const freshMs = 15 * 60_000;
const attemptsByItself = 3;
const resumesWithoutProgress = 3;

/**
 * Settles what the last runtime left (section 8). The folder lock proves that it is gone, so every lease of an older generation is void.
 * While no tool exists, an interrupted turn was always just thinking: it reasons again from the log, by itself only when it is young.
 */
export function recoverTurns(kernel: Kernel, runs: Runs): Recovery {
  const { store, clock, log, turns } = kernel;
  const found = { resumed: 0, waiting: 0, cancelled: 0, queued: 0, sealed: 0 };

  function one(turn: TurnRow): keyof Recovery {
    if (turn.status === 'queued') return 'queued';
    if (turn.waiting_on !== null) return 'waiting';
    if (turn.status === 'cancelling') {
      settle(turn, [...shownOf(turn), cancelledEvent(turn.id, undefined, turns.cancelReason(turn) ?? undefined), ...heardOf(turn)]);
      return 'cancelled';
    }
    const interrupted: NewEvent = { type: 'turn.interrupted', data: { turn_id: turn.id } };
    if (turn.idle_resumes >= resumesWithoutProgress) {
      const sealed: NewEvent = { type: 'turn.sealed', data: { turn_id: turn.id, reason: 'no_progress' } };
      settle(turn, [...shownOf(turn), interrupted, sealed, failedEvent(turn.id, new AppError('INTERRUPTED', { sealed: true }))]);
      return 'sealed';
    }
    const ageMs = clock.nowMs() - Date.parse(turns.lastSign(turn));
    const young = ageMs < freshMs && turn.attempt < attemptsByItself;
    const lease = runs.seize(turn);
    // What had been shown of the answer: kept in the transcript while a person decides, voided when the turn answers anew.
    kernel.events.append(turn.session_id, [...(young ? [] : shownOf(turn)), interrupted], { lease });
    if (!young) {
      turns.dropPartial(turn.id);
      return 'waiting';
    }
    runs.resume(turn);
    return 'resumed';
  }

  function settle(turn: TurnRow, list: readonly NewEvent[]): void {
    kernel.events.append(turn.session_id, list, { lease: runs.seize(turn) });
    turns.dropPartial(turn.id);
    turns.dropLease(turn.session);
  }

  function shownOf(turn: TurnRow): NewEvent[] {
    const partial = turns.partial(turn.id);
    if (partial === undefined || partial.text.trim() === '') return [];
    return [{ type: 'output.message.completed', turnId: turn.id, data: said(partial.message_id, partial.text, true) }];
  }

  function heardOf(turn: TurnRow): NewEvent[] {
    const partial = turns.partial(turn.id);
    if (partial === undefined || partial.heard === null || partial.text.trim() === '') return [];
    return [heardEvent(turn.id, partial.message_id, partial.text, partial.heard)];
  }

  for (const turn of store.read(() => turns.allOpen())) {
    const what = store.write(() => one(turn));
    found[what] += 1;
    crashPoint('recover.afterTurn');
  }
  log.info('agent.recovered', found);
  runs.pump();
  return found;
}

/** The same when the store cannot write yet (a full disk at start): the app opens for reading, and settling follows as soon as it can. */
export function recoverWhenWritable(kernel: Kernel, recover: () => Recovery): Recovery {
  try {
    return recover();
  } catch (error) {
    if (!isStoreFault(error)) throw error;
    const later = async () => {
      for await (const { value } of kernel.store.state.watch(kernel.closing)) {
        if (value.state !== 'ok') continue;
        recover();
        return;
      }
    };
    detach(later(), kernel.log, 'agent.recover');
    return { resumed: 0, waiting: 0, cancelled: 0, queued: 0, sealed: 0 };
  }
}
