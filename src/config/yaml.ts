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

/** A complaint of the parser: its code, its own message, and the text that it points at. */
export interface YamlComplaint {
  readonly code: ErrorCode;
  readonly message: string;
  /** From the place of the complaint to the end of its line. */
  readonly rest: string;
}

/** One sentence without a full stop: what is wrong, and how to write it instead. */
export function inWords({ code, message, rest }: YamlComplaint): string {
  switch (code) {
    case 'BLOCK_AS_IMPLICIT_KEY':
      return `a text with ": " in it must be in quotes: ${quoted(rest)}`;
    case 'BAD_SCALAR_START':
      return `a text cannot begin with ${shown(rest[0] ?? '')}; put it in quotes: ${quoted(rest)}`;
    case 'TAG_RESOLVE_FAILED':
      return `tags (!name) are not allowed; if a text begins with !, put it in quotes: ${quoted(rest)}`;
    case 'BAD_ALIAS':
    case 'ALIAS_PROPS':
      return aliasInWords(rest);
    case 'TAB_AS_INDENT':
      return 'indented with a tab; use spaces';
    case 'BAD_INDENT':
      return message.startsWith('Flow')
        ? 'a bracket is opened and not closed; close it, or write one entry a line, each after "- "'
        : 'indented differently from the lines that it belongs to; give them the same number of spaces';
    case 'MULTILINE_IMPLICIT_KEY':
      return 'not of the form "key: value"; write a colon and a space after the key, and the entries of a list on lines of their own';
    case 'MISSING_CHAR':
      return missing(message);
    case 'BAD_DQ_ESCAPE':
      return `a backslash in double quotes starts an escape, but ${shown(rest.slice(0, 2))} is not one; use single quotes, or two backslashes`;
    case 'MULTIPLE_DOCS':
      return 'a second document begins with ---; there can only be one';
    case 'UNEXPECTED_TOKEN':
      return unexpected(message, rest);
    default:
      return `not valid YAML: ${message}`;
  }
}

/** For a text that begins with `*`. */
export function aliasInWords(text: string): string {
  return `aliases (*name) are not allowed; if a text begins with *, put it in quotes: ${shown(/^[^\s,\]}]*/.exec(text)?.[0])}`;
}

function missing(message: string): string {
  if (/quote/.test(message)) return 'a quotation mark is opened and not closed';
  if (/must end with/.test(message))
    return `a bracket is opened and not closed; ${message.slice(-1)} is missing`;
  return 'a key without a value; write "key: value", and "- " with a space before each entry of a list';
}

function unexpected(message: string, rest: string): string {
  if (message.includes('same line with key')) {
    return 'a list cannot begin on the line of its key; write its entries on lines of their own, or in brackets: [a, b]';
  }
  return `${shown(rest)} is not expected here; put the whole value in quotes, or check the brackets and indentation before it`;
}

/** The text as a quoted scalar, up to where a comment or the rest of a list in brackets would begin. */
function quoted(rest: string): string {
  return shown(withoutTail(rest.split(/\s#/, 1)[0] ?? '', ' \t\r\n,]}'));
}
