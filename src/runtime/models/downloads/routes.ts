import type { DownloadTarget } from '../ports.ts';
import type { PackageSource } from '../sources/packages.ts';

/** One way to the bytes: an address, or a published package. */
export type Route = { readonly kind: 'http'; readonly url: string } | { readonly kind: 'package'; readonly source: PackageSource };

/** All ways in order: each source, its mirrors right after it (DL-20). */
export function routesOf(target: DownloadTarget): readonly Route[] {
  return target.sources.flatMap((source): Route[] =>
    source.kind === 'hub' ? [source.url, ...source.mirrors].map((url) => ({ kind: 'http', url })) : [{ kind: 'package', source }],
  );
}

/** What the limit per host counts by. */
export function hostOf(route: Route | undefined): string {
  if (route === undefined) return '';
  return route.kind === 'http' ? new URL(route.url).host : route.source.client;
}
