import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the checkout. */
export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** @param parts  path segments below the checkout. */
export const inRoot = (...parts) => join(root, ...parts);
