/** What the text of a verify or setup command says about itself, without being run. */

import { type CommandNode, type PipelineNode, parse, type Statement } from 'unbash';

/**
 * Why a script ends with success whatever its last command does: it ends in the background, with `&`, or with a `wait` that
 * names no process. Null when it does not. Such an end may also be in a group, a branch or a loop at the end.
 */
export function unwaitedEnd(text: string): string | null {
  const found = unwaitedIn(parse(text).commands);
  if (found === null) return null;
  const { line, column } = positionIn(text, found.at);
  return `${found.why} (line ${line}, column ${column}).`;
}

interface UnwaitedEnd {
  /** Characters before it. */
  readonly at: number;
  readonly why: string;
}

function unwaitedIn(statements: readonly Statement[]): UnwaitedEnd | null {
  const last = statements.at(-1);
  if (last === undefined) return null;
  if (last.background) return { at: last.end - 1, why: 'it ends with &, so nothing waits for its exit code' };
  const before = statements.at(-2);
  if (before?.background && isBareWait(last))
    return { at: last.pos, why: 'wait without a process id always succeeds; use wait "$!"' };
  for (const list of listsOf(lastOf(last.command))) {
    const found = unwaitedIn(list);
    if (found !== null) return found;
  }
  return null;
}

function isBareWait({ command }: Statement): boolean {
  return command.type === 'Command' && command.name?.value === 'wait' && command.args.length === 0;
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
