/** What the text of a verify or setup command shows without running it. */

import { type CommandNode, parse, type Statement } from 'unbash';
import { listsIn, whyUnparsed } from './parsed-script.ts';

/**
 * Why a script overlooks failures no matter what its commands do, or cannot be looked through: it ends in the background, with `&`, or it waits in
 * a way that ignores exit codes. Null if it does not. Such an end may also be in a group, a branch or a loop at the
 * end, and such a wait anywhere.
 */
export function whyOverlooked(text: string): string | null {
  const why = whyUnparsed(text);
  if (why !== null) return why;
  const { commands } = parse(text);
  const found = unwaitedIn(commands) ?? blindWaitIn(commands);
  if (found === null) return null;
  const { line, column } = positionIn(text, found.at);
  return `${found.why} (line ${line}, column ${column}).`;
}

interface Overlooked {
  /** Characters before it. */
  readonly at: number;
  readonly why: string;
}

function unwaitedIn(statements: readonly Statement[]): Overlooked | null {
  const last = statements.at(-1);
  if (last === undefined) return null;
  if (last.background)
    return { at: last.end - 1, why: 'cannot fail: it ends with &, so nothing waits for its exit code' };
  const ends = listsIn(last.command, { isLast: true, isEnd: true }).filter(({ isEnd }) => isEnd);
  return firstOf(ends, ({ statements }) => unwaitedIn(statements));
}

/** A bare wait may follow a kill, so it counts only right after what it waits for. */
function blindWaitIn(statements: readonly Statement[]): Overlooked | null {
  for (const [at, { command, pos }] of statements.entries()) {
    const ids = waitedFor(firstIn(command));
    const isBare = ids === 0 && statements[at - 1]?.background === true;
    if (isBare)
      return { at: pos, why: 'overlooks failures: wait without a process id always succeeds; use wait "$!"' };
    if (ids !== null && ids > 1)
      return {
        at: pos,
        why: 'overlooks failures: wait has only the exit code of the last process; use one wait for each',
      };
    const inside = firstOf(listsIn(command, { isLast: true, isEnd: true }), (list) =>
      blindWaitIn(list.statements),
    );
    if (inside !== null) return inside;
  }
  return null;
}

function firstOf<T, Found>(all: readonly T[], find: (one: T) => Found | null): Found | null {
  for (const one of all) {
    const found = find(one);
    if (found !== null) return found;
  }
  return null;
}

/** How many processes a `wait` names; null for another command, and for one that waits for any of them. */
function waitedFor(command: CommandNode | undefined): number | null {
  if (command?.type !== 'Command' || command.name?.value !== 'wait') return null;
  const words = command.args.map((word) => (word.type === 'Word' ? word.value : ''));
  return words.some((word) => word.startsWith('-')) ? null : words.length;
}

function firstIn(command: Statement['command']): CommandNode | undefined {
  if (command.type !== 'AndOr' && command.type !== 'Pipeline') return command;
  const [first] = command.commands;
  return first?.type === 'Pipeline' ? first.commands[0] : first;
}

/** Line and column, both from 1. */
function positionIn(text: string, at: number): { line: number; column: number } {
  const before = text.slice(0, at).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}
