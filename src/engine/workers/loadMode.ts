import { open } from 'node:fs/promises';

/** Machine words of RT-03: where the weights will be. */
export type Placement = { readonly arch: string; readonly device: boolean };

/**
 * `general.file_type` values (gguf.md) whose matrices the CPU library rewrites into its own layout (ggml-cpu/repack.cpp of v0.4.0): those of
 * AVX2 machines, and those that arm64 with dot products rewrites besides.
 */
const repackedEverywhere = [2, 14, 15, 25, 38];
const repackedOnArm = [7, 16, 17, 18];
/** Written with AVX-512 only; it counts, since a second read costs less than a second copy. */
const repackedOnX64 = [10, 21];

/**
 * How to load a file (RT-03): `none` where weights are repacked on the host, since mapped and repacked copies both stay resident (803 against
 * 569 MiB, performance facts, finding 5); `mmap` on a device or when nothing is repacked.
 *
 * @param fileType  `general.file_type`, or null if it is not known: then the mode that never keeps two copies.
 */
export function loadModeFor(fileType: number | null, placement: Placement): 'none' | 'mmap' {
  if (placement.device) return 'mmap';
  if (fileType === null) return 'none';
  const more = placement.arch === 'arm64' ? repackedOnArm : repackedOnX64;
  return repackedEverywhere.includes(fileType) || more.includes(fileType) ? 'none' : 'mmap';
}

/** Reads the file's type from its first bytes and chooses. A file that says nothing readable is left to the library to refuse. */
export async function chooseLoadMode(path: string): Promise<'none' | 'mmap'> {
  const file = await open(path, 'r');
  try {
    const head = Buffer.alloc(HEAD_BYTES);
    const { bytesRead } = await file.read(head, 0, HEAD_BYTES, 0);
    return loadModeFor(fileTypeOf(head.subarray(0, bytesRead)), {
      arch: process.arch,
      device: process.platform === 'darwin' && process.arch === 'arm64',
    });
  } finally {
    await file.close();
  }
}

/** Writers put `general.*` before the vocabulary, which is what makes headers large. */
const HEAD_BYTES = 64 * 1024;
const UINT32 = 4;
const STRING = 8;
const ARRAY = 9;
/** Bytes of each scalar type of a GGUF value; 0 = not a scalar. */
const scalarBytes = [1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8];

/**
 * `general.file_type` of a GGUF header that may be cut off.
 *
 * @returns null if it does not come before the first thing that cannot be read or passed over.
 * @source GGUF specification, ggml/docs/gguf.md
 */
export function fileTypeOf(head: Buffer): number | null {
  let at = 4;
  const u32 = () => head.readUInt32LE((at += 4) - 4);
  const u64 = () => Number(head.readBigUInt64LE((at += 8) - 8));
  const text = () => {
    const length = u64();
    at += length;
    return head.toString('utf8', at - length, at);
  };
  try {
    if (head.toString('latin1', 0, 4) !== 'GGUF' || u32() < 2) return null;
    u64();
    const count = u64();
    for (let i = 0; i < count; i += 1) {
      const key = text();
      const type = u32();
      if (key === 'general.file_type') return type === UINT32 ? u32() : null;
      if (type === STRING) text();
      else if (type === ARRAY) {
        const items = u32();
        const size = scalarBytes[items] ?? 0;
        const length = u64();
        if (size > 0) at += size * length;
        else if (items === STRING) for (let n = 0; n < length; n += 1) text();
        else return null;
      } else at += scalarBytes[type] ?? Number.POSITIVE_INFINITY;
      if (at > head.length) return null;
    }
    return null;
  } catch {
    // Past the end of what was read.
    return null;
  }
}
