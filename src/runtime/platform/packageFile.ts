import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/**
 * A file of an installed package. @returns `null` if this build comes without the package.
 *
 * @param here  `import.meta.url` of the asking file.
 */
export function packageFile(here: string, name: string, file: string): string | null {
  try {
    return join(dirname(createRequire(here).resolve(`${name}/package.json`)), file);
  } catch {
    return null;
  }
}
