/** Closes two gaps of `bash -e`: it ignores that the left side of `&&` or a negated command fails, if more commands follow. */

import type { CommandNode, PipelineNode, Statement } from 'unbash';
import { isTest, parsedScript } from './parsed-script.ts';

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
    return [...(isOverlooked ? checks(command, text) : []), ...insideOf(command, { text, isLast: isEnd })];
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

function insideOf(node: Statement['command'] | PipelineNode | CommandNode, place: ListPlace): ScriptEdit[] {
  const { isLast } = place;
  const inside = (statements: readonly Statement[], isEnd = false) =>
    editsIn(statements, { ...place, isLast: isEnd });
  switch (node.type) {
    case 'AndOr':
      return node.commands.flatMap((one, at) =>
        insideOf(one, { ...place, isLast: isLast && at === node.commands.length - 1 }),
      );
    case 'Pipeline':
      // Each part has its own shell.
      return node.commands.flatMap((one) => insideOf(one, { ...place, isLast: true }));
    case 'Redirected':
      return insideOf(node.command, place);
    case 'Subshell':
      return inside(node.body.commands, true);
    case 'BraceGroup':
      return inside(node.body.commands, isLast);
    case 'If':
      return [node, ...node.elif]
        .flatMap(({ then }) => inside(then.commands, isLast))
        .concat(inside(node.else?.commands ?? [], isLast));
    case 'Case':
      return node.items.flatMap(({ body }) => inside(body.commands, isLast));
    case 'For':
    case 'ArithmeticFor':
    case 'While':
    case 'Select':
      // In a loop, only the last round determines the exit code.
      return inside(node.body.commands);
    case 'Function':
      return node.body.type === 'CompoundList'
        ? inside(node.body.commands)
        : insideOf(node.body, { ...place, isLast: false });
    default:
      return [];
  }
}
