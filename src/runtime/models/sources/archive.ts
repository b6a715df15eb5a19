import { AppError } from '../../../shared/errors/appError.ts';
import { downloadLimits as limits } from '../limits.ts';

/** What the checks need to know of a member, whatever the archive is. Sizes are bytes. */
export type Member = { readonly name: string; readonly kind: 'file' | 'folder' | 'link' | 'other'; readonly bytes: number };

/** Takes members out of an archive, after all that is in it was checked. `sink` gets their bytes, one member after the other as named. */
export type Extract = (
  path: string,
  members: readonly string[],
  options: { signal: AbortSignal; sink: (chunk: Uint8Array) => Promise<void> },
) => Promise<void>;

/**
 * The checks of DL-15 over all members of one archive, before one byte is written.
 *
 * @param packedBytes  size of the archive file, for the ratio.
 */
export function createMemberCheck(packedBytes: number): { add(member: Member): void } {
  const seen = new Set<string>();
  let total = 0;
  return {
    /** @throws AppError ARCHIVE_UNSAFE_MEMBER, ARCHIVE_TOO_LARGE. */
    add({ name, kind, bytes }) {
      const folded = name.normalize('NFC').toLowerCase().replace(/\/+$/, '');
      if (kind === 'link' || kind === 'other' || !isSafeName(name)) throw unsafe(kind === 'file' || kind === 'folder' ? 'name' : kind);
      if (kind === 'file' && seen.has(folded)) throw unsafe('twice');
      if (kind === 'file') seen.add(folded);
      total += bytes;
      const tooMany = seen.size > limits.archiveMembers;
      // Small archives compress far better than any model without meaning harm.
      const bomb = total > 16 * 1024 * 1024 && total > packedBytes * limits.archiveRatio;
      if (tooMany || total > limits.archiveBytes || bomb) throw new AppError('ARCHIVE_TOO_LARGE');
    },
  };
}

export function unsafe(reason: string): AppError {
  return new AppError('ARCHIVE_UNSAFE_MEMBER', {}, { message: reason });
}

/** Relative, inside the archive's own folder, and the same on every system. */
function isSafeName(name: string): boolean {
  if (name === '' || name.length > 4096 || /^[/\\]|^[A-Za-z]:|[\\\0]/.test(name)) return false;
  return !name.split('/').includes('..');
}
