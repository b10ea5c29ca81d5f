/** What the text of a verify or setup command shows without running it. */

import { type CommandNode, type PipelineNode, parse, type Statement } from 'unbash';
import { whyUnparsed } from './parsed-script.ts';

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
  return firstOf(listsOf(lastOf(last.command)), unwaitedIn);
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
    const inside = firstOf(allListsOf(command), blindWaitIn);
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

/** The lists of statements in it, at the first level. */
function allListsOf(command: Statement['command']): (readonly Statement[])[] {
  if (command.type === 'AndOr' || command.type === 'Pipeline') return command.commands.flatMap(allListsOf);
  if (command.type !== 'Function') return listsOf(command);
  return command.body.type === 'CompoundList' ? [command.body.commands] : allListsOf(command.body);
}

/** The part of a list or pipeline that runs last. */
function lastOf(command: Statement['command']): CommandNode | undefined {
  if (command.type !== 'AndOr' && command.type !== 'Pipeline') return command;
  const last: PipelineNode | undefined = command.commands.at(-1);
  return last?.type === 'Pipeline' ? last.commands.at(-1) : last;
}

/** The lists of statements that a compound command can end with. */
function listsOf(command: CommandNode | undefined): (readonly Statement[])[] {
  switch (command?.type) {
    case 'Redirected':
      return listsOf(command.command);
    case 'Subshell':
    case 'BraceGroup':
    case 'For':
    case 'ArithmeticFor':
    case 'While':
      return [command.body.commands];
    case 'If':
      return [
        command.then.commands,
        ...command.elif.map(({ then }) => then.commands),
        command.else?.commands ?? [],
      ];
    case 'Case':
      return command.items.map(({ body }) => body.commands);
    default:
      return [];
  }
}

/** Line and column, both from 1. */
function positionIn(text: string, at: number): { line: number; column: number } {
  const before = text.slice(0, at).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}
