/** Syntax highlighting with highlight.js, through lowlight, which returns a tree instead of markup. */

import { common, createLowlight } from 'lowlight';

/** A piece of a line and its CSS class; empty for none. */
export interface Piece {
  readonly text: string;
  readonly kind: string;
}

/** Longer texts and longer lines are not highlighted. */
const MAX_CODE = 60_000;
const MAX_LINE = 2_000;

const lowlight = createLowlight(common);

/** The grammar for a file name, or null. */
export function languageOf(path: string): string | null {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase();
  const ending = name.slice(name.lastIndexOf('.') + 1);
  return lowlight.registered(ending) ? ending : null;
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
