/** Closes two gaps of `bash -e`: it ignores that the left side of `&&` or a negated command fails, if more commands follow. */

import type { PipelineNode, Statement } from 'unbash';
import { isTest, listsIn, parsedScript } from './parsed-script.ts';

/** After a command whose failure `bash -e` ignores: ends the script with its exit code, unless that is 0. */
const CHECK = '; (exit $?)';

/**
 * The script with a check after each `a && b` and `! a` that is not the last command: `bash -e` ignores that these fail, so the
 * script would continue and could succeed. What follows a test (`[ -f x ] && …`) may be skipped on purpose, so only commands that
 * are not tests are checked. Nothing is added where the next command reads `$?` for more than printing it. Line numbers stay the
 * same, and a script that cannot be parsed is returned as it is.
 */
export function strictScript(text: string): string {
  const commands = parsedScript(text);
  if (commands === null) return text;
  const edits = editsIn(commands, { text, isLast: true }).sort((a, b) => b.at - a.at);
  return edits.reduce(
    (script, { at, length, insert }) => script.slice(0, at) + insert + script.slice(at + length),
    text,
  );
}

const READS_STATUS = /^(?!\s*(?:echo|printf)\b).*\$(?:\?|\{(?:\?|PIPESTATUS\b))/s;

interface ScriptEdit {
  readonly at: number;
  /** The number of characters to replace. */
  readonly length: number;
  readonly insert: string;
}

/** `isLast`: the last statement determines the exit code of the script. */
interface ListPlace {
  readonly text: string;
  readonly isLast: boolean;
}

function editsIn(statements: readonly Statement[], { text, isLast }: ListPlace): ScriptEdit[] {
  return statements.flatMap(({ command, background }, at) => {
    const next = statements[at + 1];
    const isEnd = isLast && next === undefined;
    const isRead = next !== undefined && READS_STATUS.test(text.slice(next.pos, next.end));
    const isOverlooked = !isEnd && !isRead && background !== true;
    // Applied after the inner edits, some of which are at the same place.
    const inside = listsIn(command, { isLast: isEnd, isEnd }).flatMap((list) =>
      editsIn(list.statements, { text, isLast: list.isLast }),
    );
    return [...(isOverlooked ? checks(command, text) : []), ...inside];
  });
}

/** The edits that end the script where `bash -e` would ignore a failure. */
function checks(command: Statement['command'], text: string): ScriptEdit[] {
  const around = (before: string, inside: readonly ScriptEdit[], after: string): ScriptEdit[] => [
    { at: command.pos, length: 0, insert: before },
    ...inside,
    { at: command.end, length: 0, insert: after },
  ];
  if (command.type === 'Pipeline') return command.prefixes.some(isNegation) ? around('', [], CHECK) : [];
  if (command.type !== 'AndOr' || command.operators.at(-1) !== '&&') return [];
  const { commands, operators } = command;
  if (!commands.slice(0, -1).some(isTest)) return around('', [], CHECK);
  if (operators.includes('||')) return [];
  const { before, inside, after } = checkedFrom(commands, text);
  return after === '' ? [] : around(before, inside, after);
}

/** What to put around and into a list of commands joined only by `&&`; empty if no failure in it is ignored. */
function checkedFrom(
  [first, ...rest]: readonly PipelineNode[],
  text: string,
): { before: string; inside: ScriptEdit[]; after: string } {
  const nothing = { before: '', inside: [], after: '' };
  const [second] = rest;
  if (first === undefined || second === undefined) return nothing;
  if (isTest(first)) {
    const { before, inside, after } = checkedFrom(rest, text);
    if (after === '') return nothing;
    const opening = { at: second.pos, length: 0, insert: `{ ${before}` };
    return { before: '', inside: [opening, ...inside], after: `${after}; }` };
  }
  const test = rest.slice(0, -1).findIndex(isTest);
  if (test === -1) return { ...nothing, after: CHECK };
  const { inside, after } = checkedFrom(rest.slice(test), text);
  const operator = text.indexOf('&&', [first, ...rest][test]?.end);
  const then = { at: operator, length: 2, insert: '; then ' };
  return { before: 'if ', inside: [then, ...inside], after: `${after}; else (exit $?); fi` };
}

function isNegation({ type }: { readonly type: string }): boolean {
  return type === 'Negation';
}
