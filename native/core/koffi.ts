import { createRequire } from 'node:module';

export type Koffi = typeof import('koffi');
export type KoffiLibrary = import('koffi').LibraryHandle;
export type KoffiType = import('koffi').TypeObject;

let loaded: Koffi | undefined;

/**
 * koffi, loaded at the first native call and not before: a process that never calls a library must not need its binary.
 * `require` keeps it out of bundles.
 */
export function koffi(): Koffi {
  if (loaded === undefined) {
    const required = createRequire(import.meta.url)('koffi') as Koffi;
    // The tokenizer's patterns and the model loader recurse deeply; koffi's own stacks are 2 MiB and 128 KiB. Must come before the first call.
    required.config({ sync_stack_size: 16 * 1024 * 1024, async_stack_size: 8 * 1024 * 1024, resident_async_pools: 1 });
    loaded = required;
  }
  return loaded;
}
