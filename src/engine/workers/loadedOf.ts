import { AppError } from '../../shared/errors/appError.ts';

type Disposable = { dispose(): Promise<void> };

/** The one model of a worker. A new one takes the old one's place after the old one's memory is free. */
export function loadedOf<T extends Disposable>() {
  let present: T | null = null;
  async function dispose(): Promise<void> {
    const old = present;
    present = null;
    await old?.dispose();
  }
  return {
    dispose,
    async replace(make: () => Promise<T>): Promise<T> {
      await dispose();
      present = await make();
      return present;
    },
    /** @throws AppError INVALID_INPUT if nothing is loaded. */
    current(): T {
      if (present === null) throw new AppError('INVALID_INPUT', { field: 'method', reason: 'no model is loaded' });
      return present;
    },
  };
}
