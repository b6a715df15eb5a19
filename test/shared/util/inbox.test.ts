import { expect, it } from 'vitest';
import { createInbox } from '../../../src/shared/util/inbox.ts';

it('keeps what came early in its order, then delivers at once', () => {
  const inbox = createInbox<number>(2, () => expect.unreachable());
  inbox.put(1);
  inbox.put(2);
  const got: number[] = [];
  inbox.listen((n) => got.push(n));
  inbox.put(3);
  expect(got).toEqual([1, 2, 3]);
});

it('tells of one too many and keeps the earlier ones', () => {
  let full = 0;
  const inbox = createInbox<number>(1, () => void (full += 1));
  for (const n of [1, 2, 3]) inbox.put(n);
  expect(full).toBe(2);
  const got: number[] = [];
  inbox.listen((n) => got.push(n));
  expect(got).toEqual([1]);
});
