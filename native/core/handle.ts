import { AppError } from '../../src/shared/errors/appError.ts';

declare const pointerBrand: unique symbol;
/** An address of native memory. koffi hands them out as plain BigInts; the brand keeps them apart from numbers and inside `native/`. */
export type Pointer = bigint & { readonly [pointerBrand]: true };

/**
 * One native object with one owner (ABI-01). Its pointer never leaves: callers pass a function that uses it. One call is in flight
 * at a time: a second asynchronous call waits for the first, and so does `dispose`.
 */
export class Handle {
  readonly #free: (pointer: Pointer) => void | Promise<void>;
  #pointer: Pointer | null;
  #tail: Promise<unknown> = Promise.resolve();
  #inFlight = 0;
  #disposing: Promise<void> | null = null;

  /** @param free  gives the native object back; called once, after the last call has returned. */
  constructor(pointer: Pointer, free: (pointer: Pointer) => void | Promise<void>) {
    this.#pointer = pointer;
    this.#free = free;
  }

  get closed(): boolean {
    return this.#disposing !== null;
  }

  /**
   * Runs a synchronous native call.
   *
   * @throws AppError HANDLE_CLOSED after `dispose`; ENGINE_FAULT while an asynchronous call holds the object.
   */
  use<T>(call: (pointer: Pointer) => T): T {
    if (this.#disposing !== null || this.#pointer === null) throw new AppError('HANDLE_CLOSED');
    if (this.#inFlight > 0) throw new AppError('ENGINE_FAULT', { engineKey: '', stage: 'a call is in flight on this handle' });
    return call(this.#pointer);
  }

  /** Runs an asynchronous native call after those before it. @throws AppError HANDLE_CLOSED after `dispose`. */
  async useAsync<T>(call: (pointer: Pointer) => Promise<T>): Promise<T> {
    const pointer = this.#pointer;
    if (this.#disposing !== null || pointer === null) throw new AppError('HANDLE_CLOSED');
    this.#inFlight += 1;
    const result = this.#tail.then(() => call(pointer));
    this.#tail = result.catch(() => undefined);
    try {
      return await result;
    } finally {
      this.#inFlight -= 1;
    }
  }

  /** Waits for calls in flight, then frees. A second call gets the same promise; new uses throw from the first call on. */
  dispose(): Promise<void> {
    this.#disposing ??= this.#tail.then(async () => {
      const pointer = this.#pointer;
      this.#pointer = null;
      if (pointer !== null) await this.#free(pointer);
    });
    return this.#disposing;
  }
}
