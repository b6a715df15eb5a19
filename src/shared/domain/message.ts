import { z } from 'zod';
import { MessageId } from './ids.ts';

/** `audio`, `image`, `reference` and `data` parts come with the parts of the product that make them. */
export const TextPart = z.strictObject({ type: z.literal('text'), text: z.string().min(1) });
export type TextPart = z.infer<typeof TextPart>;

export const MessagePart = z.discriminatedUnion('type', [TextPart]);
export type MessagePart = z.infer<typeof MessagePart>;

export const MessageRole = z.enum(['user', 'assistant', 'system']);
export type MessageRole = z.infer<typeof MessageRole>;

export const Message = z.strictObject({ id: MessageId, role: MessageRole, content: z.array(MessagePart).min(1).max(64) });
export type Message = z.infer<typeof Message>;

/** The text parts joined without a separator (MP-02). */
export function plainText(message: Pick<Message, 'content'>): string {
  return message.content.map((part) => part.text).join('');
}
