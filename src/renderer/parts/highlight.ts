import type { CSSProperties } from 'react';
import type { BundledLanguage, HighlighterGeneric } from 'shiki/types';

export type ColoredLine = readonly { readonly content: string; readonly style: CSSProperties }[];

/** Languages in histories of coding agents. Each is loaded at its first use. */
const loaders: Record<string, () => Promise<unknown>> = {
  bash: () => import('shiki/langs/bash.mjs'),
  c: () => import('shiki/langs/c.mjs'),
  cpp: () => import('shiki/langs/cpp.mjs'),
  csharp: () => import('shiki/langs/csharp.mjs'),
  css: () => import('shiki/langs/css.mjs'),
  diff: () => import('shiki/langs/diff.mjs'),
  docker: () => import('shiki/langs/docker.mjs'),
  go: () => import('shiki/langs/go.mjs'),
  html: () => import('shiki/langs/html.mjs'),
  java: () => import('shiki/langs/java.mjs'),
  javascript: () => import('shiki/langs/javascript.mjs'),
  json: () => import('shiki/langs/json.mjs'),
  jsx: () => import('shiki/langs/jsx.mjs'),
  kotlin: () => import('shiki/langs/kotlin.mjs'),
  lua: () => import('shiki/langs/lua.mjs'),
  make: () => import('shiki/langs/make.mjs'),
  markdown: () => import('shiki/langs/markdown.mjs'),
  php: () => import('shiki/langs/php.mjs'),
  python: () => import('shiki/langs/python.mjs'),
  ruby: () => import('shiki/langs/ruby.mjs'),
  rust: () => import('shiki/langs/rust.mjs'),
  scss: () => import('shiki/langs/scss.mjs'),
  sql: () => import('shiki/langs/sql.mjs'),
  swift: () => import('shiki/langs/swift.mjs'),
  toml: () => import('shiki/langs/toml.mjs'),
  tsx: () => import('shiki/langs/tsx.mjs'),
  typescript: () => import('shiki/langs/typescript.mjs'),
  xml: () => import('shiki/langs/xml.mjs'),
  yaml: () => import('shiki/langs/yaml.mjs'),
};

const aliases = new Map(
  Object.entries({
    bash: 'sh shell zsh console',
    c: 'h',
    cpp: 'cc hpp c++',
    csharp: 'cs',
    diff: 'patch',
    docker: 'dockerfile',
    go: 'golang',
    html: 'htm',
    javascript: 'js mjs cjs',
    json: 'jsonc jsonl',
    kotlin: 'kt',
    make: 'makefile',
    markdown: 'md',
    python: 'py',
    ruby: 'rb',
    rust: 'rs',
    typescript: 'ts mts cts',
    xml: 'svg',
    yaml: 'yml',
  }).flatMap(([language, names]) => names.split(' ').map((name) => [name, language] as const)),
);

/** The highlighter's language for a fence name or file extension; undefined if unknown. */
export function languageOf(name: string | undefined): string | undefined {
  const word = name?.toLowerCase() ?? '';
  const language = aliases.get(word) ?? word;
  return Object.hasOwn(loaders, language) ? language : undefined;
}

/** The highlighter's language for a file path; undefined if unknown. */
export const languageOfPath = (path: string): string | undefined => {
  const file = path.split(/[\\/]/).at(-1) ?? '';
  return languageOf(file.includes('.') ? file.split('.').at(-1) : file);
};

type Highlighter = HighlighterGeneric<BundledLanguage, never>;
let highlighter: Promise<Highlighter> | undefined;

const start = (): Promise<Highlighter> => {
  highlighter ??= (async () => {
    // Use the JavaScript engine, because the window's policy forbids WebAssembly.
    const [{ createHighlighterCore }, { createJavaScriptRegexEngine }, light, dark] = await Promise.all([
      import('shiki/core'),
      import('shiki/engine/javascript'),
      import('shiki/themes/github-light-high-contrast.mjs'),
      import('shiki/themes/github-dark-default.mjs'),
    ]);
    return (await createHighlighterCore({
      themes: [light.default, dark.default],
      langs: [],
      engine: createJavaScriptRegexEngine({ forgiving: true }),
    })) as unknown as Highlighter;
  })();
  return highlighter;
};

/** Splits text into lines of highlighted tokens, with the colors of both themes as custom properties. */
export async function highlight(text: string, language: string): Promise<readonly ColoredLine[]> {
  const known = languageOf(language);
  const load = known && loaders[known];
  if (!known || !load) throw new Error(`No highlighting for ${language}`);
  const shiki = await start();
  await shiki.loadLanguage(load as never);
  const { tokens } = shiki.codeToTokens(text, {
    lang: known as BundledLanguage,
    themes: { light: 'github-light-high-contrast' as never, dark: 'github-dark-default' as never },
    defaultColor: false,
    tokenizeMaxLineLength: 1_000,
  });
  return tokens.map((line) => line.map((token) => ({ content: token.content, style: (token.htmlStyle ?? {}) as CSSProperties })));
}
