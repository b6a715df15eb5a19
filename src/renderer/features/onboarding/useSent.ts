import { useEffect, useState } from 'react';
import type { LedgerRow } from '../../../shared/contract/ledger.ts';
import { useServices } from '../../lib/services.tsx';

/** What is fetched in the background has nothing to do with what was said. */
const background: readonly LedgerRow['reason'][] = ['model_download', 'package', 'update', 'catalogue'];

/**
 * Bytes that left this machine for the turn that has just been spoken, from the ledger and from nowhere else (UX-145).
 *
 * @param turnId  the finished turn; null while there is none.
 * @returns       `null` while it is not known.
 */
export function useSent(turnId: string | null): number | null {
  const { api } = useServices();
  /** The newest row of before. */
  const [from, setFrom] = useState<number | null>(null);
  const [sent, setSent] = useState<{ turnId: string; bytes: number | null } | null>(null);
  useEffect(() => {
    api.ledger.list({ limit: 1 }).then(
      ({ rows }) => setFrom(rows[0]?.id ?? 0),
      () => undefined,
    );
  }, [api]);
  useEffect(() => {
    if (turnId === null || from === null) return;
    api.ledger.list({ limit: 500 }).then(
      ({ rows }) => setSent({ turnId, bytes: sentOf(rows.filter(({ id, reason }) => id > from && !background.includes(reason))) }),
      () => undefined,
    );
  }, [api, from, turnId]);
  return sent !== null && sent.turnId === turnId ? sent.bytes : null;
}

function sentOf(rows: readonly LedgerRow[]): number | null {
  let sum = 0;
  for (const { sentBytes, result } of rows) {
    if (result === 'refused') continue;
    if (sentBytes === null) return null;
    sum += sentBytes;
  }
  return sum;
}
