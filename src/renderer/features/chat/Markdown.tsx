import { ImageOff } from 'lucide-react';
import { Children, createContext, isValidElement, memo, type ReactNode, useContext, useMemo, useRef } from 'react';
import {
  type Components,
  type ExtraProps,
  extractTableDataFromElement,
  Streamdown,
  type StreamdownProps,
  tableDataToCSV,
} from 'streamdown';
import { CopyButton } from '../../components/CopyButton.tsx';
import { safeLink } from '../../lib/links.ts';
import { useTexts } from '../../lib/texts.ts';
import { CodeBlock } from './CodeBlock.tsx';
import { markUnheard } from './unheard.ts';

/** What Markdown may become. Raw HTML is never parsed: without rehype-raw it reaches the page as the text it is (RB-04). */
const allowed = [
  ...[
    'p',
    'br',
    'hr',
    'h1',
    'h2',
    'h3',
    'h4',
    'h5',
    'h6',
    'strong',
    'em',
    'del',
    'blockquote',
    'ul',
    'ol',
    'li',
    'input',
    'sup',
    'sub',
    'section',
    'span',
  ],
  ...['a', 'img', 'pre', 'code', 'table', 'thead', 'tbody', 'tr', 'th', 'td'],
];

/** Depths of headings in this text, by rank: an answer may begin with any of them, the page's outline goes on from its h1. */
const Ranks = createContext<readonly number[]>([]);

function heading(depth: number) {
  return function Heading({ children }: Inner) {
    const rank = Math.max(0, useContext(Ranks).indexOf(depth));
    const Tag = (['h2', 'h3', 'h4', 'h5'] as const)[Math.min(rank, 3)] ?? 'h5';
    return <Tag>{children}</Tag>;
  };
}

export function headingRanks(text: string): readonly number[] {
  const depths = new Set<number>();
  let fenced = false;
  for (const line of text.split('\n')) {
    if (/^\s*(```|~~~)/.test(line)) fenced = !fenced;
    const marks = fenced ? null : /^ {0,3}(#{1,6})\s/.exec(line);
    if (marks?.[1] !== undefined) depths.add(marks[1].length);
  }
  return [...depths].sort((a, b) => a - b);
}

type Inner<P = unknown> = P & ExtraProps & { children?: ReactNode };

const components: Components = {
  a: Link,
  img: Picture,
  pre: Fence,
  code: ({ children }) => <code>{children}</code>,
  inlineCode: ({ children }) => <code>{children}</code>,
  table: Table,
  h1: heading(1),
  h2: heading(2),
  h3: heading(3),
  h4: heading(4),
  h5: heading(5),
  h6: heading(6),
  p: ({ children }) => <p dir="auto">{children}</p>,
  li: ({ children }) => <li dir="auto">{children}</li>,
  ul: ({ children }) => <ul>{children}</ul>,
  ol: ({ children, start }) => <ol {...(start === undefined ? {} : { start })}>{children}</ol>,
  blockquote: ({ children }) => <blockquote>{children}</blockquote>,
  hr: () => <hr />,
  strong: ({ children }) => <strong>{children}</strong>,
  thead: ({ children }) => <thead>{children}</thead>,
  tbody: ({ children }) => <tbody>{children}</tbody>,
  tr: ({ children }) => <tr>{children}</tr>,
  th: ({ children, style }) => (
    <th scope="col" style={style}>
      {children}
    </th>
  ),
  td: ({ children, style }) => <td style={style}>{children}</td>,
  sup: ({ children }) => <sup>{children}</sup>,
  sub: ({ children }) => <sub>{children}</sub>,
  section: ({ children }) => <section>{children}</section>,
  // Markdown makes none: only what was not heard lies in one.
  span: ({ children }) => <span className="unheard text-text-3">{children}</span>,
  input: Todo,
};

/**
 * The text of an answer. Streamdown splits it into blocks and memoises them, so that while it grows only the open block is parsed again.
 *
 * @param props.growing  the end may be half a word of Markdown; it is closed for the eye.
 */
export const Markdown = memo(function Markdown(props: { text: string; growing: boolean; heard?: number | null }) {
  // The same array as long as the ranks are the same, so that finished blocks are not drawn again.
  const key = headingRanks(props.text).join();
  const ranks = useMemo(() => key.split(',').map(Number), [key]);
  const heard = props.heard ?? null;
  // With its place as an option: Streamdown keeps parsers by the names and options of their steps.
  const steps = useMemo<NonNullable<StreamdownProps['rehypePlugins']>>(
    () => (heard === null ? [] : [[markUnheard, { from: heard }]]),
    [heard],
  );
  return (
    <Ranks value={ranks}>
      <Streamdown
        className="md text-body"
        mode={props.growing ? 'streaming' : 'static'}
        parseIncompleteMarkdown={props.growing}
        components={components}
        allowedElements={allowed}
        rehypePlugins={steps}
        urlTransform={(address, key) => (key === 'src' ? address : (safeLink(address)?.href ?? ''))}
        controls={false}
        linkSafety={{ enabled: false }}
        lineNumbers={false}
      >
        {props.text}
      </Streamdown>
    </Ranks>
  );
});

/** A link shows where it leads and opens only by a press, outside (RB-05). */
function Link({ href, children }: Inner<{ href?: string | undefined }>) {
  const t = useTexts();
  const link = safeLink(href);
  if (link === null) return <span title={t('link2.blocked')}>{children}</span>;
  const host = textOf(children).includes(link.host) ? null : link.host;
  return (
    <>
      <a href={link.href} target="_blank" rel="noopener noreferrer" title={t('link2.open', { host: link.host })}>
        {children}
      </a>
      {host !== null && <span className="text-small text-text-3"> ({host})</span>}
    </>
  );
}

/** A picture from the network is never loaded: its place says so and gives the address (RB-05). */
function Picture({ src, alt }: Inner<{ src?: string | Blob | undefined; alt?: string | undefined }>) {
  const t = useTexts();
  const link = typeof src === 'string' ? safeLink(src) : null;
  return (
    <span className="my-8 flex gap-8 rounded-card border border-line bg-sunken p-12 text-small text-text-2">
      <ImageOff size={16} strokeWidth={1.75} aria-hidden="true" className="mt-px shrink-0" />
      <span className="flex min-w-0 flex-1 flex-col items-start gap-4 [overflow-wrap:anywhere]">
        <span className="font-medium text-text">{link === null ? t('picture.noAddress') : t('picture.title', { host: link.host })}</span>
        {alt !== undefined && alt !== '' && <span>{t('picture.alt', { alt })}</span>}
        {link !== null && (
          <>
            <span>{t('picture.body', { host: link.host })}</span>
            <span className="text-text-3">{link.href}</span>
            <CopyButton words quiet className="-ml-8" name={t('picture.copy')} text={() => link.href} />
          </>
        )}
      </span>
    </span>
  );
}

/** A mark of a list of things to do; it shows and cannot be changed. */
function Todo({ checked }: Inner<{ checked?: boolean | undefined }>) {
  const t = useTexts();
  return <input type="checkbox" disabled checked={checked === true} readOnly aria-label={checked ? t('thread.done') : t('thread.open')} />;
}

function Fence({ children }: Inner) {
  const { code, language } = codeOf(children);
  return <CodeBlock code={code} language={language} />;
}

function codeOf(children: ReactNode): { code: string; language: string } {
  const only = Children.toArray(children)[0];
  if (!isValidElement<{ className?: string; children?: ReactNode }>(only)) return { code: textOf(children), language: '' };
  const language = /language-(\S+)/.exec(only.props.className ?? '')?.[1] ?? '';
  return { code: textOf(only.props.children).replace(/\n$/, ''), language };
}

function textOf(children: ReactNode): string {
  if (typeof children === 'string' || typeof children === 'number') return String(children);
  if (isValidElement<{ children?: ReactNode }>(children)) return textOf(children.props.children);
  return Array.isArray(children) ? Children.toArray(children).map(textOf).join('') : '';
}

/** A table scrolls sideways by itself and can be copied as CSV (UX-35). */
function Table({ children }: Inner) {
  const t = useTexts();
  const table = useRef<HTMLTableElement>(null);
  return (
    <figure className="my-12">
      <div tabIndex={0} role="region" aria-label={t('table.label')} className="overflow-x-auto">
        <table ref={table}>{children}</table>
      </div>
      <figcaption className="mt-4">
        <CopyButton
          words
          quiet
          className="-ml-8"
          name={t('table.copy')}
          text={() => (table.current === null ? '' : tableDataToCSV(extractTableDataFromElement(table.current), ','))}
        />
      </figcaption>
    </figure>
  );
}
