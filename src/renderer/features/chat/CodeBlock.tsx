import { Download, WrapText } from 'lucide-react';
import { useEffect, useMemo, useState } from 'react';
import { Button } from '../../components/Button.tsx';
import { CopyButton } from '../../components/CopyButton.tsx';
import { IconButton } from '../../components/IconButton.tsx';
import { createColouring, type Line, languageOf } from '../../lib/highlight.ts';
import { saveText } from '../../lib/save.ts';
import { useServices } from '../../lib/services.tsx';
import { useTexts } from '../../lib/texts.ts';

/** A block longer than this is folded (UX-101). */
export const foldedLines = 400;

/** Code of an answer: colour, copy, wrap, save. It never runs anything. */
export function CodeBlock(props: { code: string; language: string }) {
  const t = useTexts();
  const { kind } = useServices();
  const [wrap, setWrap] = useState(false);
  const [whole, setWhole] = useState(false);
  const lineCount = useMemo(() => countLines(props.code), [props.code]);
  const folded = lineCount > foldedLines && !whole;
  const shown = useMemo(() => (folded ? firstLines(props.code, foldedLines) : props.code), [props.code, folded]);
  const lines = useColours(shown, props.language);
  const name = props.language === '' ? t('code.plain') : props.language;
  return (
    <figure className="my-12 overflow-hidden rounded-card border border-line bg-sunken" dir="ltr">
      <figcaption className="flex h-control items-center gap-4 border-b border-line pr-4 pl-12 text-micro text-text-2">
        <span className="min-w-0 flex-1 truncate">{name}</span>
        <IconButton
          icon={WrapText}
          name={wrap ? t('code.unwrap') : t('code.wrap')}
          aria-pressed={wrap}
          className="size-target"
          onClick={() => setWrap(!wrap)}
        />
        {kind !== 'app' && (
          <IconButton
            icon={Download}
            name={t('code.save')}
            className="size-target"
            onClick={() => saveText(props.code, `${t('code.fileName')}.${extensionOf(props.language)}`)}
          />
        )}
        <CopyButton name={t('code.copy')} text={() => props.code} className="size-target" />
      </figcaption>
      {/* Scrolls sideways by itself, so it must be reachable by key (UX-126, UX-127). */}
      <pre
        tabIndex={0}
        role="region"
        aria-label={t('code.block', { language: name })}
        className={`overflow-x-auto p-12 font-mono text-code text-text ${wrap ? 'whitespace-pre-wrap [overflow-wrap:anywhere]' : ''}`}
      >
        <code>
          {lines.map((line, i) => (
            // Lines have no identity but their number.
            <span key={i} className="code-line block">
              {line.map((token, j) => (
                <span key={j} style={token.color === undefined ? undefined : { color: token.color }}>
                  {token.text}
                </span>
              ))}
              {i < lines.length - 1 ? '\n' : ''}
            </span>
          ))}
        </code>
      </pre>
      {lineCount > foldedLines && (
        <div className="border-t border-line p-4">
          <Button look="quiet" onClick={() => setWhole(!whole)}>
            {whole ? t('code.foldAgain', { count: foldedLines }) : t('code.showAll', { count: lineCount })}
          </Button>
        </div>
      )}
    </figure>
  );
}

/** Plain lines at once; coloured ones as soon as the grammar is there. The code itself is never delayed or changed by it. */
function useColours(code: string, word: string): readonly Line[] {
  const language = languageOf(word);
  const [colouring, setColouring] = useState<{ language: string; run: { colour(code: string): readonly Line[] } } | null>(null);
  useEffect(() => {
    if (language === null) return;
    let wanted = true;
    createColouring(language).then(
      (run) => wanted && setColouring({ language, run }),
      // A grammar that cannot be loaded leaves the code black: it is still right.
      () => undefined,
    );
    return () => {
      wanted = false;
    };
  }, [language]);
  return useMemo(
    () => (colouring === null || colouring.language !== language ? plainLines(code) : coloured(colouring.run, code)),
    [colouring, language, code],
  );
}

function coloured(run: { colour(code: string): readonly Line[] }, code: string): readonly Line[] {
  try {
    return run.colour(code);
  } catch {
    return plainLines(code);
  }
}

function plainLines(code: string): readonly Line[] {
  return code.split('\n').map((text) => [{ text, color: undefined }]);
}

function countLines(text: string): number {
  let lines = 1;
  for (let i = text.indexOf('\n'); i !== -1; i = text.indexOf('\n', i + 1)) lines += 1;
  return lines;
}

function firstLines(text: string, count: number): string {
  let end = -1;
  for (let i = 0; i < count; i++) {
    end = text.indexOf('\n', end + 1);
    if (end === -1) return text;
  }
  return text.slice(0, end);
}

const extensions: Record<string, string> = {
  bash: 'sh',
  csharp: 'cs',
  javascript: 'js',
  kotlin: 'kt',
  markdown: 'md',
  powershell: 'ps1',
  python: 'py',
  ruby: 'rb',
  rust: 'rs',
  typescript: 'ts',
};

function extensionOf(word: string): string {
  const language = languageOf(word);
  return language === null ? 'txt' : (extensions[language] ?? language);
}
