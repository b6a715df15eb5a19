/** Which form the runtime takes, and why it cannot take any. */
export type RuntimeForm = { readonly kind: 'utility' } | { readonly kind: 'node'; readonly node: string } | { readonly kind: 'none' };

/**
 * better-sqlite3 needs Node-API 10 and aborts the process below it; there the runtime is a child of the Node binary that SOTTO_NODE
 * names. A packaged app never reads that variable.
 *
 * @param napi  `process.versions.napi` of this Electron.
 */
export function runtimeForm(napi: string | undefined, packaged: boolean, node: string | undefined): RuntimeForm {
  if (!packaged && node !== undefined && node !== '') return { kind: 'node', node };
  return Number(napi) >= 10 ? { kind: 'utility' } : { kind: 'none' };
}
