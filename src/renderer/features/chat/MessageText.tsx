import { lazy, Suspense } from 'react';

const load = () => import('./Markdown.tsx');
const Markdown = lazy(() => load().then((module) => ({ default: module.Markdown })));

/** Fetches the Markdown part ahead of the first answer. */
export function preloadMarkdown(): void {
  // A failed load is tried again, and told, when an answer needs it.
  load().catch(() => undefined);
}

/**
 * The text of an answer. What draws Markdown is half of the page's code, so it comes after the first paint; until then the text itself is
 * shown as it was written.
 *
 * @param props.heard  UTF-16 units of a spoken answer that were heard before it was interrupted; the rest is grey.
 */
export function MessageText(props: { text: string; growing: boolean; heard?: number | null }) {
  return (
    <Suspense fallback={<p className="text-body whitespace-pre-wrap [overflow-wrap:anywhere]">{props.text}</p>}>
      <Markdown {...props} />
    </Suspense>
  );
}
