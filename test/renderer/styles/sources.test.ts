import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { verifies } from '../../helpers/verifies.ts';

const root = path.resolve(import.meta.dirname, '../../../src/renderer');
const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.tsx?$/.test(name))
  .map((name) => ({ name, text: readFileSync(path.join(root, name), 'utf8') }));
const screens = files.filter(({ name }) => name.endsWith('.tsx'));

/** Every string of a class attribute, split into single classes. */
function classes(): { file: string; name: string }[] {
  const found: { file: string; name: string }[] = [];
  for (const { name, text } of screens) {
    const source = ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true, ts.ScriptKind.TSX);
    const collect = (node: ts.Node) => {
      if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node))
        for (const one of node.text.split(/\s+/)) if (one !== '') found.push({ file: name, name: one });
      ts.forEachChild(node, collect);
    };
    const visit = (node: ts.Node) => {
      if (ts.isJsxAttribute(node) && node.name.getText() === 'className' && node.initializer !== undefined) collect(node.initializer);
      else ts.forEachChild(node, visit);
    };
    visit(source);
  }
  return found;
}

describe('what the screens are written with', () => {
  it('sizes and colours come from the tokens: arbitrary values are the few that no token can say', () => {
    verifies('UX-272', 'UX-274', 'UX-281');
    const arbitrary = classes().filter(({ name }) => name.includes('['));
    const allowed =
      /^(\[overflow-wrap:anywhere\]|max-w-\[(85%|calc\(100vw-3rem\))\]|max-h-\[(50vh|var\(--radix-popover-content-available-height\))\]|w-\[min\((22|26)rem,calc\(100vw-[12]rem\)\)\]|outline-offset-\[-2px\]|grid-cols-\[auto_1fr\]|data-\[highlighted\]:[\w-]+)$/;
    expect(arbitrary.filter(({ name }) => !allowed.test(name))).toEqual([]);
  });

  it('nothing glows, blurs, shimmers, spins or fades in by gradient', () => {
    verifies('UX-281', 'UX-276', 'UX-279');
    const cheap = /gradient|blur|glow|shimmer|animate-|spin|pulse|bounce|drop-shadow|violet|purple|backdrop/;
    expect(classes().filter(({ name }) => cheap.test(name))).toEqual([]);
    for (const { name, text } of files) expect(text.match(/\b(Loader2?|LoaderCircle|Sparkles|Confetti|toast)\b/), name).toBeNull();
  });

  it('weights above 600 and sizes outside the seven steps do not exist', () => {
    verifies('UX-271');
    const types = classes().filter(({ name }) => /^(?:[\w-]+:)*(text|font)-/.test(name));
    const known =
      /^(?:[\w-]+:)*(text-(display|title|heading|body|ui|small|code|micro|text|text-2|text-3|accent|on-accent|danger|warn|ok|start|end)|font-(sans|mono|normal|medium|semibold))$/;
    expect(types.filter(({ name }) => !known.test(name))).toEqual([]);
  });

  it('icons are lucide in 16, 20 or, inside a line of micro text, 12, with stroke 1.75 and hidden from readers', () => {
    verifies('UX-278');
    let icons = 0;
    for (const { name, text } of screens) {
      for (const match of text.matchAll(/<[A-Z]\w+\s+size=\{(\d+)\}([^>]*)>/g)) {
        icons += 1;
        expect(['12', '16', '20'], name).toContain(match[1]);
        expect(match[2], name).toContain('strokeWidth={1.75}');
        expect(match[2], name).toContain('aria-hidden="true"');
      }
      expect(text.match(/from '(?![.]|lucide-react)[^']*(icons?|fontawesome)[^']*'/i)).toBeNull();
    }
    expect(icons).toBeGreaterThan(15);
    // Here, away and stop have one sign each.
    const all = screens.map(({ text }) => text).join('\n');
    expect(all).toContain("where === 'here' ? Monitor : ArrowUpRight");
    expect(all).not.toMatch(/CircleStop|OctagonX|StopCircle/);
  });

  it('no visible word stands in the code: all come from the texts by key', () => {
    verifies('UX-108');
    const words: string[] = [];
    for (const { name, text } of screens) {
      const source = ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true, ts.ScriptKind.TSX);
      const visit = (node: ts.Node) => {
        if (ts.isJsxText(node) && /\p{L}{2}/u.test(node.text)) words.push(`${name}: ${node.text.trim()}`);
        if (
          ts.isJsxAttribute(node) &&
          /^(aria-label|title|placeholder|alt|name)$/.test(node.name.getText()) &&
          node.initializer !== undefined &&
          ts.isStringLiteral(node.initializer) &&
          /\p{L}{2}/u.test(node.initializer.text)
        )
          words.push(`${name}: ${node.initializer.text}`);
        ts.forEachChild(node, visit);
      };
      visit(source);
    }
    expect(words).toEqual([]);
  });

  it('what Chromium 114 does not know is not used', () => {
    const css = ['app.css', 'tokens.css', 'markdown.css', 'fonts.css']
      .map((f) => readFileSync(path.join(root, 'styles', f), 'utf8'))
      .join('\n');
    const rules = css.replace(/\/\*[\s\S]*?\*\//g, '');
    expect(
      rules.match(
        /light-dark\(|@scope|@starting-style|text-wrap:\s*pretty|field-sizing|scrollbar-color|from var\(|subgrid|interpolate-size/g,
      ),
    ).toBeNull();
    for (const { name, text } of files)
      expect(
        text.match(
          /Promise\.withResolvers|Promise\.try|AbortSignal\.any|Object\.groupBy|Map\.groupBy|Array\.fromAsync|\busing\s+\w+\s*=|URL\.canParse|RegExp\.escape/g,
        ),
        name,
      ).toBeNull();
  });
});
