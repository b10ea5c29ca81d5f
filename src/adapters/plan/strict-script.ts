/** Closes the gap that `bash -e` leaves in a script: a list whose left side fails, where more of the script follows. */

import { type CommandNode, type PipelineNode, parse, type Statement } from 'unbash';
import { isTest } from './tests-in-lists.ts';

/** Ends a script that ends at errors with the exit code of what came before, unless that is 0. */
const CHECK = '; (exit $?)';

/**
 * The script with a check behind each `a && b` that something follows: there `bash -e` overlooks that `a` failed, so that a script
 * goes on without `b` and may end well. A list whose left side is a test (`[ -f x ] && …`) says what may be left out, and stays.
 * Lines keep their numbers.
 */
export function strictScript(text: string): string {
  if (!text.includes('&&')) return text;
  const { commands, errors } = parse(text);
  if (errors !== undefined && errors.length > 0) return text;
  const ends = endsIn(commands, true).sort((a, b) => b - a);
  return ends.reduce((script, end) => script.slice(0, end) + CHECK + script.slice(end), text);
}

/** Where the lists end that need a check. `isLast`: the script has the exit code of the last statement. */
function endsIn(statements: readonly Statement[], isLast: boolean): number[] {
  return statements.flatMap(({ command, background }, at) => {
    const isEnd = isLast && at === statements.length - 1;
    const isOverlooked = !isEnd && background !== true && mayStopEarly(command);
    return [...insideOf(command, isEnd), ...(isOverlooked ? [command.end] : [])];
  });
}

/** Whether it is a list that fails if something fails before its last part. */
function mayStopEarly(command: Statement['command']): boolean {
  if (command.type !== 'AndOr' || command.operators.at(-1) !== '&&') return false;
  return !command.commands.slice(0, -1).some(isTest);
}

function insideOf(node: Statement['command'] | PipelineNode | CommandNode, isLast: boolean): number[] {
  const inside = (statements: readonly Statement[], isEnd = false) => endsIn(statements, isEnd);
  switch (node.type) {
    case 'AndOr':
      return node.commands.flatMap((one, at) => insideOf(one, isLast && at === node.commands.length - 1));
    case 'Pipeline':
      // Each part has a shell of its own.
      return node.commands.flatMap((one) => insideOf(one, true));
    case 'Redirected':
      return insideOf(node.command, isLast);
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
      // Of a loop, only the last round has an exit code.
      return inside(node.body.commands);
    case 'Function':
      return node.body.type === 'CompoundList' ? inside(node.body.commands) : insideOf(node.body, false);
    default:
      return [];
  }
}
