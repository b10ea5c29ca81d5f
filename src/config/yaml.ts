/** Parses YAML from files that anyone may have written: into a plain mapping, or a list of problems by line. */

import { isAlias, isMap, isScalar, LineCounter, parseDocument, visit } from 'yaml';

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

/**
 * Parses one YAML 1.2 document. `firstLine` is the number of the text's first line in its file. Empty text is an empty
 * mapping. Aliases are refused, since a few lines of them can expand to gigabytes, and so are tags, which have no meaning
 * here.
 */
export function parseYamlMapping(text: string, firstLine: number): YamlMapping {
  const counter = new LineCounter();
  const lineAt = (offset: number) => counter.linePos(offset).line + firstLine - 1;
  const document = parseDocument(text, { lineCounter: counter, prettyErrors: false, uniqueKeys: true });
  const problems = [...document.errors, ...document.warnings].map((problem) => ({
    line: lineAt(problem.pos[0]),
    message: problem.message,
  }));
  visit(document, {
    Node(_, node) {
      if (isAlias(node)) {
        problems.push({ line: lineAt(node.range?.[0] ?? 0), message: 'aliases (*name) are not allowed' });
      }
    },
  });
  if (problems.length > 0) return { status: 'failed', problems };
  const root = document.contents;
  if (root === null || (isScalar(root) && root.value === null)) {
    return { status: 'ok', values: {}, lineOf: () => firstLine };
  }
  if (!isMap(root)) return { status: 'not_a_mapping', kind: isScalar(root) ? 'scalar' : 'list' };
  const oddKey = root.items.find((item) => !isScalar(item.key) || typeof item.key.value !== 'string');
  if (oddKey) return { status: 'failed', problems: [{ line: firstLine, message: 'every key must be text' }] };

  return {
    status: 'ok',
    values: root.toJSON() as Record<string, unknown>,
    lineOf(path) {
      const key = root.items.find((item) => isScalar(item.key) && item.key.value === path[0])?.key;
      const inner = path.length > 1 ? document.getIn(path, true) : undefined;
      const node = isScalar(inner) ? inner : isScalar(key) ? key : root;
      return lineAt(node.range?.[0] ?? 0);
    },
  };
}
