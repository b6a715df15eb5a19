/**
 * The newest message with date and time (CX-01).
 *
 * @param when  words for the time in the person's zone; null leaves the message as it is.
 */
export function dated(text: string, when: string | null): string {
  return when === null ? text : `${text}\n\n(${when})`;
}
