/** Syntax highlighting with highlight.js, through lowlight, which returns a tree instead of markup. */

import bash from 'highlight.js/lib/languages/bash';
import c from 'highlight.js/lib/languages/c';
import cpp from 'highlight.js/lib/languages/cpp';
import csharp from 'highlight.js/lib/languages/csharp';
import css from 'highlight.js/lib/languages/css';
import dockerfile from 'highlight.js/lib/languages/dockerfile';
import go from 'highlight.js/lib/languages/go';
import ini from 'highlight.js/lib/languages/ini';
import java from 'highlight.js/lib/languages/java';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import kotlin from 'highlight.js/lib/languages/kotlin';
import makefile from 'highlight.js/lib/languages/makefile';
import markdown from 'highlight.js/lib/languages/markdown';
import php from 'highlight.js/lib/languages/php';
import python from 'highlight.js/lib/languages/python';
import ruby from 'highlight.js/lib/languages/ruby';
import rust from 'highlight.js/lib/languages/rust';
import scss from 'highlight.js/lib/languages/scss';
import sql from 'highlight.js/lib/languages/sql';
import swift from 'highlight.js/lib/languages/swift';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';
import { createLowlight } from 'lowlight';

const grammars = {
  ...{
    bash,
    c,
    cpp,
    csharp,
    css,
    dockerfile,
    go,
    ini,
    java,
    javascript,
    json,
    kotlin,
    makefile,
    markdown,
    php,
  },
  ...{ python, ruby, rust, scss, sql, swift, typescript, xml, yaml },
};

const LANGUAGES: Readonly<Record<string, keyof typeof grammars>> = {
  ...{
    sh: 'bash',
    bash: 'bash',
    zsh: 'bash',
    c: 'c',
    h: 'c',
    cc: 'cpp',
    cpp: 'cpp',
    cxx: 'cpp',
    hpp: 'cpp',
    hh: 'cpp',
  },
  ...{
    cs: 'csharp',
    css: 'css',
    dockerfile: 'dockerfile',
    go: 'go',
    ini: 'ini',
    toml: 'ini',
    cfg: 'ini',
    java: 'java',
  },
  ...{
    js: 'javascript',
    jsx: 'javascript',
    mjs: 'javascript',
    cjs: 'javascript',
    json: 'json',
    kt: 'kotlin',
    kts: 'kotlin',
  },
  ...{
    makefile: 'makefile',
    mk: 'makefile',
    md: 'markdown',
    php: 'php',
    py: 'python',
    pyi: 'python',
    rb: 'ruby',
  },
  ...{
    gemfile: 'ruby',
    rakefile: 'ruby',
    rs: 'rust',
    scss: 'scss',
    sql: 'sql',
    swift: 'swift',
    ts: 'typescript',
  },
  ...{
    tsx: 'typescript',
    mts: 'typescript',
    cts: 'typescript',
    xml: 'xml',
    html: 'xml',
    svg: 'xml',
    vue: 'xml',
  },
  ...{ csproj: 'xml', yml: 'yaml', yaml: 'yaml' },
};

/** A piece of a line and its CSS class; empty for none. */
export interface Piece {
  readonly text: string;
  readonly kind: string;
}

/** Longer texts and longer lines are not highlighted. */
const MAX_CODE = 60_000;
const MAX_LINE = 2_000;

const lowlight = createLowlight(grammars);

/** The grammar for a file name, or null. */
export function languageOf(path: string): string | null {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase();
  return (
    LANGUAGES[name.slice(name.lastIndexOf('.') + 1)] ?? (name.startsWith('dockerfile') ? 'dockerfile' : null)
  );
}

/** Each line in pieces; null if the code is not highlighted. */
export function coloured(lines: readonly string[], language: string | null): Piece[][] | null {
  if (language === null) return null;
  const code = lines.join('\n');
  if (code.length > MAX_CODE || lines.some((line) => line.length > MAX_LINE)) return null;
  const made: Piece[][] = [[]];
  const tree = treeOf(language, code);
  if (tree === null) return null;
  walk(tree, '', (text, kind) => {
    text.split('\n').forEach((piece, at) => {
      if (at > 0) made.push([]);
      if (piece !== '') made.at(-1)?.push({ text: piece, kind });
    });
  });
  return made.length === lines.length ? made : null;
}

/** Null if the grammar fails: the code is then shown without highlighting. */
function treeOf(language: string, code: string): Tree | null {
  try {
    return lowlight.highlight(language, code) as Tree;
  } catch (error) {
    if (error instanceof Error) return null;
    throw error;
  }
}

interface Tree {
  readonly type: string;
  readonly value?: string;
  readonly properties?: { readonly className?: readonly string[] };
  readonly children?: readonly Tree[];
}

function walk(tree: Tree, kind: string, take: (text: string, kind: string) => void): void {
  if (tree.value !== undefined) take(tree.value, kind);
  const own = tree.properties?.className?.[0] ?? kind;
  for (const child of tree.children ?? []) walk(child, own, take);
}
