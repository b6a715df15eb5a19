import { expect, it, vi } from 'vitest';
import { createDraftField } from '../../../src/renderer/features/chat/draftField.ts';
import type { Drafts } from '../../../src/renderer/lib/drafts.ts';
import { SessionId } from '../../../src/shared/domain/ids.ts';

function setUp() {
  const type = vi.fn<Drafts['type']>();
  const drafts: Drafts = {
    state: {
      getState: () => ({ draft: 'kept' }),
      getInitialState: () => ({ draft: 'kept' }),
      setState: () => {},
      subscribe: () => () => {},
    },
    load: async () => 'a kept draft',
    type,
    flush: async () => {},
    forget: () => {},
  };
  const area = document.createElement('textarea');
  const field = createDraftField(drafts);
  field.attach(area);
  return { area, field, type };
}

const chat = SessionId.parse('session-a');

it('keys that are typed before the first chat is open are kept, as its draft', async () => {
  const { area, field, type } = setUp();
  area.value = 'typed at once';
  field.open(null);
  expect(type).toHaveBeenCalledWith(null, 'typed at once');
  await Promise.resolve();
  expect(area.value).toBe('typed at once');
});

it('the text of another chat makes room for the draft of this one', async () => {
  const { area, field } = setUp();
  field.open(null);
  await vi.waitFor(() => expect(area.value).toBe('a kept draft'));
  area.value = 'for the first chat';
  field.open(chat);
  expect(area.value).toBe('');
  await vi.waitFor(() => expect(area.value).toBe('a kept draft'));
});
