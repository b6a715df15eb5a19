/** The end of a switch over a closed union: fails to compile when a case is missing, and throws if data lied. */
export function assertNever(value: never): never {
  throw new Error(`unexpected case: ${typeof value}`);
}
