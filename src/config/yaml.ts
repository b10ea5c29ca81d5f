/** Parses YAML from files that anyone may have written: into a plain mapping, or a list of problems by line. */

import { isAlias, isMap, isNode, isScalar, LineCounter, visit } from 'yaml';
import { parseWithinLevels, TOO_DEEP } from '../files/yaml/within-levels.ts';
import { shown } from './values/value.ts';
import { aliasInWords, inWords } from './yaml-words.ts';

/** A YAML document that is a mapping, or what it is instead. */
export type YamlMapping =
  | {
      status: 'ok';
      values: Record<string, unknown>;
      /** The line of the value at a path of keys and indexes, or of the nearest node around it. */
      lineOf(path: readonly PropertyKey[]): number;
    }
  /** Valid YAML, but a single text, number or list. */
  | { status: 'not_a_mapping'; kind: 'scalar' | 'list' }
  | { status: 'failed'; problems: YamlProblem[] };

interface YamlProblem {
  readonly line: number;
  readonly message: string;
}

/** Of each kind. Putting one into words can mean looking through the whole file. */
const MOST_PROBLEMS = 10;

/**
 * Parses one YAML 1.2 document. `firstLine` is the number of the text's first line in its file. Empty text is an empty
 * mapping. Aliases are refused, since a few lines of them can expand to gigabytes, and so are tags, which have no meaning
 * here.
 */
export function parseYamlMapping(text: string, firstLine: number): YamlMapping {
  const counter = new LineCounter();
  const document = parseWithinLevels(text, counter);
  if (document === null) return { status: 'failed', problems: [{ line: firstLine, message: TOO_DEEP }] };
  const lineAt = (offset: number) => counter.linePos(offset).line + firstLine - 1;
  /** The parser names only the second one. */
  const twice = (offset: number): string => {
    const same = keysOf(document.contents).find(({ at }) => at === offset)?.name;
    const first = keysOf(document.contents).find(({ name }) => name === same);
    const where = same === undefined || first === undefined ? '' : `, first on line ${lineAt(first.at)}`;
    return `the key ${shown(same ?? restOf(offset))} is there twice${where}; keep one of them`;
  };
  const restOf = (offset: number) => /^[^\n]*/.exec(text.slice(offset))?.[0] ?? '';
  const problems = [...document.errors, ...document.warnings]
    .slice(0, MOST_PROBLEMS)
    .map(({ code, message, pos: [offset] }) => ({
      line: lineAt(offset),
      message: code === 'DUPLICATE_KEY' ? twice(offset) : inWords({ code, message, rest: restOf(offset) }),
    }));
  visit(document, {
    Node(_, node) {
      if (!isAlias(node) || problems.length >= 2 * MOST_PROBLEMS) return;
      const offset = node.range?.[0] ?? 0;
      problems.push({ line: lineAt(offset), message: aliasInWords(restOf(offset)) });
    },
  });
  if (problems.length > 0) return { status: 'failed', problems: firstOfEachLine(problems) };
  const root = document.contents;
  if (root === null || (isScalar(root) && root.value === null)) {
    return { status: 'ok', values: {}, lineOf: () => firstLine };
  }
  if (!isMap(root)) return { status: 'not_a_mapping', kind: isScalar(root) ? 'scalar' : 'list' };
  const oddKey = root.items.find((item) => !isScalar(item.key) || typeof item.key.value !== 'string')?.key;
  if (oddKey !== undefined) {
    const line = lineAt((isNode(oddKey) ? oddKey.range?.[0] : null) ?? 0);
    return { status: 'failed', problems: [{ line, message: 'every key must be text, such as verify' }] };
  }

  return {
    status: 'ok',
    values: root.toJSON() as Record<string, unknown>,
    lineOf(path) {
      const key = root.items.find((item) => isScalar(item.key) && item.key.value === path[0])?.key;
      const inner = path.length > 1 ? document.getIn(path, true) : undefined;
      const node = isNode(inner) ? inner : isScalar(key) ? key : root;
      return lineAt(node.range?.[0] ?? 0);
    },
  };
}

/** What follows the first mistake of a line is mostly its consequence. */
function firstOfEachLine(problems: readonly YamlProblem[]): YamlProblem[] {
  const byLine = new Map<number, YamlProblem>();
  for (const problem of problems) if (!byLine.has(problem.line)) byLine.set(problem.line, problem);
  return [...byLine.values()];
}

/** The keys of a mapping's top level that are text, with where each begins. */
function keysOf(root: unknown): { name: string; at: number }[] {
  if (!isMap(root)) return [];
  return root.items.flatMap(({ key }) =>
    isScalar(key) && typeof key.value === 'string' ? [{ name: key.value, at: key.range?.[0] ?? 0 }] : [],
  );
}
