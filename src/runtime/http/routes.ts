/** One route as data. `access` public needs no credential, `code` checks the one-time code of its body, `key` a key or a cookie. */
export type Route = {
  readonly name: string;
  readonly method: 'GET' | 'POST';
  /** Exact, or with `/*` at its end for everything below. */
  readonly path: string;
  readonly access: 'public' | 'code' | 'key';
  readonly body: { readonly types: readonly string[]; readonly maxBytes: number } | null;
  readonly upgrade?: true;
};

export type MatchedRoute = { readonly row: Route; readonly path: string };

/**
 * Finds the row of a path; no decoding, no `..`, no trailing slash: a path that is not in the table does not exist.
 *
 * @returns the row, the methods that the path has, or null.
 */
export function matchRoute(rows: readonly Route[], method: string, path: string): MatchedRoute | { allow: readonly string[] } | null {
  const here = rows.filter((row) =>
    row.path.endsWith('/*') ? path.startsWith(row.path.slice(0, -1)) && path.length >= row.path.length : row.path === path,
  );
  const row = here.find((candidate) => candidate.method === method);
  if (row !== undefined) return { row, path };
  return here.length === 0 ? null : { allow: [...new Set(here.map((candidate) => candidate.method))] };
}
