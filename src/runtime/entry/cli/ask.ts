import type { EphemeralEvent, WatchItem } from '../../../shared/domain/events.ts';
import { durableEventData } from '../../../shared/domain/events.ts';
import { plainText } from '../../../shared/domain/message.ts';
import { AppError, fromWire } from '../../../shared/errors/appError.ts';
import type { RuntimeClient } from '../../http/client.ts';
import type { Command } from './args.ts';
import { createStatus, type Io } from './io.ts';

/**
 * `sotto ask`: a fresh session, one message, the answer as it comes. Ctrl-C cancels the turn and waits for its end; a second one
 * leaves (CLI-06).
 */
export async function askCommand(command: Extract<Command, { name: 'ask' }>, client: RuntimeClient, io: Io): Promise<number> {
  const { json } = command.common;
  const { session } = await client.sessions.start({ origin: 'http' });
  const abort = new AbortController();
  const items = await client.events.watch({ sessionId: session.id, after: 0 }, { signal: abort.signal });
  const { turnId } = await client.turns.send({ sessionId: session.id, content: command.text });
  let signals = 0;
  const stopListening = io.onSignal((signal) => {
    signals += 1;
    if (signals > 1) io.exit(signal === 'SIGINT' ? 130 : 143);
    io.err('\nStopping …\n');
    client.turns.cancel({ sessionId: session.id, turnId }).catch(() => {
      // It ended by itself meanwhile; the stream tells.
    });
  });
  const screen = createScreen(io, json ? 'events' : 'text');
  try {
    for await (const item of items) {
      const end = screen.take(item);
      if (end === null) continue;
      return end.code;
    }
    throw new AppError('RUNTIME_UNAVAILABLE');
  } finally {
    abort.abort();
    stopListening();
  }
}

/**
 * Text of one answer as it is printed: deltas at once, and from the finished message what no delta brought.
 *
 * @param shows  the text, the events as JSON, or nothing: then it only follows.
 */
export function createScreen(io: Io, shows: 'text' | 'events' | 'nothing') {
  const printed = new Map<string, string>();
  const isText = shows === 'text';
  const status = createStatus(io, !isText);
  let answer = '';
  return {
    /** @returns the exit code and the whole answer once the turn has ended. */
    take(item: WatchItem): { code: number; text: string } | null {
      if (shows === 'events' && item.kind !== 'lagged') io.out(`${JSON.stringify(item.event)}\n`);
      if (item.kind === 'ephemeral') {
        if (item.event.type !== 'output.message.delta') status(stage(item.event));
        else {
          status('');
          printed.set(item.event.message_id, (printed.get(item.event.message_id) ?? '') + item.event.delta);
          if (isText) io.out(item.event.delta);
        }
        return null;
      }
      if (item.kind !== 'durable') return null;
      const { type, data } = item.event;
      if (type === 'output.message.completed') {
        const { message } = durableEventData['output.message.completed'].parse(data);
        const whole = plainText(message);
        answer = whole;
        const shown = printed.get(message.id) ?? '';
        status('');
        if (isText) io.out(`${whole.startsWith(shown) ? whole.slice(shown.length) : `\n${whole}`}\n`);
        return null;
      }
      if (type === 'turn.completed') return { code: 0, text: answer };
      if (type === 'turn.cancelled') {
        if (isText) io.err('Stopped. What was written so far is kept.\n');
        return { code: 130, text: answer };
      }
      if (type === 'turn.failed') {
        const failed = durableEventData['turn.failed'].parse(data);
        throw fromWire({ code: failed.error_code, message: '', data: failed.details });
      }
      return null;
    },
  };
}

function stage(event: Exclude<EphemeralEvent, { type: 'output.message.delta' }>): string {
  switch (event.type) {
    case 'model.loading':
      return `loading the model, ${Math.floor(100 * event.fraction)} %`;
    case 'model.prefill':
      return `reading, ${event.done} of ${event.total} tokens`;
    case 'model.generating':
      return '';
  }
}
