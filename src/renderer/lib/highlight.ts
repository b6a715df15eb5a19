import type { GrammarState, HighlighterCore, LanguageInput } from 'shiki/core';

export type Token = { readonly text: string; readonly color: string | undefined };
export type Line = readonly Token[];

/** Grammars that are loaded when a block asks for them; other languages are shown without colour. */
const grammars: Record<string, () => Promise<{ default: LanguageInput }>> = {
  bash: () => import('shiki/langs/bash.mjs'),
  c: () => import('shiki/langs/c.mjs'),
  cpp: () => import('shiki/langs/cpp.mjs'),
  csharp: () => import('shiki/langs/csharp.mjs'),
  css: () => import('shiki/langs/css.mjs'),
  diff: () => import('shiki/langs/diff.mjs'),
  docker: () => import('shiki/langs/docker.mjs'),
  go: () => import('shiki/langs/go.mjs'),
  html: () => import('shiki/langs/html.mjs'),
  ini: () => import('shiki/langs/ini.mjs'),
  java: () => import('shiki/langs/java.mjs'),
  javascript: () => import('shiki/langs/javascript.mjs'),
  json: () => import('shiki/langs/json.mjs'),
  jsx: () => import('shiki/langs/jsx.mjs'),
  kotlin: () => import('shiki/langs/kotlin.mjs'),
  lua: () => import('shiki/langs/lua.mjs'),
  markdown: () => import('shiki/langs/markdown.mjs'),
  php: () => import('shiki/langs/php.mjs'),
  powershell: () => import('shiki/langs/powershell.mjs'),
  python: () => import('shiki/langs/python.mjs'),
  r: () => import('shiki/langs/r.mjs'),
  ruby: () => import('shiki/langs/ruby.mjs'),
  rust: () => import('shiki/langs/rust.mjs'),
  sql: () => import('shiki/langs/sql.mjs'),
  swift: () => import('shiki/langs/swift.mjs'),
  toml: () => import('shiki/langs/toml.mjs'),
  tsx: () => import('shiki/langs/tsx.mjs'),
  typescript: () => import('shiki/langs/typescript.mjs'),
  xml: () => import('shiki/langs/xml.mjs'),
  yaml: () => import('shiki/langs/yaml.mjs'),
};

const aliases: Record<string, string> = {
  'c#': 'csharp',
  'c++': 'cpp',
  cs: 'csharp',
  dockerfile: 'docker',
  golang: 'go',
  htm: 'html',
  js: 'javascript',
  kt: 'kotlin',
  md: 'markdown',
  ps1: 'powershell',
  py: 'python',
  rb: 'ruby',
  rs: 'rust',
  sh: 'bash',
  shell: 'bash',
  ts: 'typescript',
  yml: 'yaml',
  zsh: 'bash',
};

/** The grammar that a fence's word means, or null. */
export function languageOf(word: string): string | null {
  const name = aliases[word.toLowerCase()] ?? word.toLowerCase();
  return Object.hasOwn(grammars, name) ? name : null;
}

let core: Promise<HighlighterCore> | null = null;
const loaded = new Map<string, Promise<HighlighterCore>>();

function highlighter(language: string): Promise<HighlighterCore> {
  core ??= createCore();
  let ready = loaded.get(language);
  if (ready === undefined) {
    ready = Promise.all([core, grammars[language]?.()]).then(async ([instance, grammar]) => {
      if (grammar !== undefined) await instance.loadLanguage(grammar.default);
      return instance;
    });
    loaded.set(language, ready);
  }
  return ready;
}

/** Loaded with the first code block. The JavaScript engine, because the page's CSP knows no WebAssembly. */
async function createCore(): Promise<HighlighterCore> {
  const [{ createCssVariablesTheme, createHighlighterCore }, { createJavaScriptRegexEngine }] = await Promise.all([
    import('shiki/core'),
    import('shiki/engine/javascript'),
  ]);
  // Colours are names of the tokens file, so a change of theme needs no new run.
  const theme = createCssVariablesTheme({ name: 'sotto', variablePrefix: '--code-', fontStyle: false });
  return createHighlighterCore({ themes: [theme], langs: [], engine: createJavaScriptRegexEngine({ forgiving: true }) });
}

/** A line longer than this is shown without colour: a grammar may need seconds for it. */
const maxLineLength = 2000;

/**
 * Colours code that grows at its end. Finished lines are kept with the grammar's state after them, so each call costs only the new lines.
 *
 * @returns  `colour(code)`: as many lines as `code` has.
 */
export async function createColouring(language: string): Promise<{ colour(code: string): readonly Line[] }> {
  const instance = await highlighter(language);
  let kept: { text: string; lines: Line[]; state: GrammarState | undefined } = { text: '', lines: [], state: undefined };
  const run = (text: string, state: GrammarState | undefined) => {
    const result = instance.codeToTokens(text, {
      lang: language,
      theme: 'sotto',
      tokenizeMaxLineLength: maxLineLength,
      ...(state === undefined ? {} : { grammarState: state }),
    });
    return {
      lines: result.tokens.map((line): Line => line.map((token) => ({ text: token.content, color: token.color }))),
      state: result.grammarState,
    };
  };
  return {
    colour(code) {
      if (!code.startsWith(kept.text)) kept = { text: '', lines: [], state: undefined };
      const end = code.lastIndexOf('\n') + 1;
      if (end > kept.text.length) {
        const fresh = run(code.slice(kept.text.length, end - 1), kept.state);
        kept = { text: code.slice(0, end), lines: [...kept.lines, ...fresh.lines], state: fresh.state };
      }
      return [...kept.lines, ...run(code.slice(end), kept.state).lines];
    },
  };
}
