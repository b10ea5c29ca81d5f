/** Parses YAML from files that anyone may have written: into a plain mapping, or a list of problems by line. */

import { type ErrorCode, isAlias, isMap, isNode, isScalar, LineCounter, visit } from 'yaml';
import { withoutTail } from '../domain/text/shorten.ts';
import { parseWithinLevels, TOO_DEEP } from '../files/yaml.ts';
import { shown } from './values/value.ts';

/** A YAML document that is a mapping, or what it is instead. */
export type YamlMapping =
  | {
      status: 'ok';
      values: Record<string, unknown>;
      /** The line of the value at a path of keys and indexes, or of the nearest node around it. */
      lineOf(path: readonly PropertyKey[]): number;
    }
  /** `isProse`: it is valid YAML, but a single text or number. */
  | { status: 'failed'; isProse: boolean; problems: YamlProblem[] };

interface YamlProblem {
  readonly line: number;
  readonly message: string;
}

/** Of each kind. */
const MOST_PROBLEMS = 10;

/**
 * Parses one YAML 1.2 document. `firstLine` is the number of the text's first line in its file. Empty text is an empty
 * mapping. Aliases are refused, since a few lines of them can expand to gigabytes, and so are tags, which have no meaning
 * here.
 */
export function parseYamlMapping(text: string, firstLine: number): YamlMapping {
  const failed = (problems: YamlProblem[], isProse = false): YamlMapping => ({
    status: 'failed',
    isProse,
    problems,
  });
  const counter = new LineCounter();
  const document = parseWithinLevels(text, counter);
  if (document === null) return failed([{ line: firstLine, message: TOO_DEEP }]);
  const lineAt = (offset: number) => counter.linePos(offset).line + firstLine - 1;
  const restOf = (offset: number) => /^[^\n]*/.exec(text.slice(offset))?.[0] ?? '';
  const problems = [...document.errors, ...document.warnings]
    .slice(0, MOST_PROBLEMS)
    .map(({ code, message, pos: [offset] }) => {
      const fix = UNQUOTED.includes(code) ? `; put the text in quotes: ${quoted(restOf(offset))}` : '';
      return { line: lineAt(offset), message: `not valid YAML: ${message}${fix}` };
    });
  visit(document, {
    Node(_, node) {
      if (!isAlias(node) || problems.length >= 2 * MOST_PROBLEMS) return;
      const offset = node.range?.[0] ?? 0;
      const [alias] = /^[^\s,\]}]*/.exec(restOf(offset)) ?? [];
      const message = `aliases (*name) are not allowed; if a text begins with *, put it in quotes: ${shown(alias)}`;
      problems.push({ line: lineAt(offset), message });
    },
  });
  if (problems.length > 0) return failed(firstOfEachLine(problems));
  const root = document.contents;
  if (root === null || (isScalar(root) && root.value === null)) {
    return { status: 'ok', values: {}, lineOf: () => firstLine };
  }
  if (!isMap(root)) return failed([{ line: firstLine, message: NO_MAPPING }], isScalar(root));
  const oddKey = root.items.find((item) => !isScalar(item.key) || typeof item.key.value !== 'string')?.key;
  if (oddKey !== undefined) {
    const line = lineAt((isNode(oddKey) ? oddKey.range?.[0] : null) ?? 0);
    return failed([{ line, message: 'every key must be text, such as verify' }]);
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

const NO_MAPPING = 'not a mapping of keys to values (name: value)';

/** What follows the first mistake of a line is mostly its consequence. */
function firstOfEachLine(problems: readonly YamlProblem[]): YamlProblem[] {
  const byLine = new Map<number, YamlProblem>();
  for (const problem of problems) if (!byLine.has(problem.line)) byLine.set(problem.line, problem);
  return [...byLine.values()];
}

/** What a text without quotes most often leads to: a `: ` in it, or a sign at its start that means something else. */
const UNQUOTED: readonly ErrorCode[] = ['BLOCK_AS_IMPLICIT_KEY', 'BAD_SCALAR_START', 'TAG_RESOLVE_FAILED'];

/** The text as a quoted scalar, up to where a comment or the rest of a list in brackets would begin. */
function quoted(rest: string): string {
  return shown(withoutTail(rest.split(/\s#/, 1)[0] ?? '', ' \t\r\n,]}'));
}
