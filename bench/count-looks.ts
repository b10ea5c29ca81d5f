/** Counts the calls with which a model looks around, and those among them that it need not have made. */

import type { ToolCall } from '../src/domain/conversation/conversation.ts';
import type { RunEvents } from '../src/domain/run/events.ts';

/** Calls before the first edit, and those whose answer the first message has. */
export interface Looks {
  readonly before: number;
  readonly answered: number;
}

/** What a run without edits has called is all before its first one. */
export function looksIn([begun, ...events]: RunEvents): Looks {
  const calls = events.flatMap((event) => (event.type === 'turn.completed' ? event.turn.calls : []));
  const firstEdit = calls.findIndex(({ name }) => EDITS.includes(name));
  const before = (firstEdit === -1 ? calls : calls.slice(0, firstEdit)).filter(
    ({ name }) => name !== 'finish',
  );
  return {
    before: before.length,
    answered: before.filter((call) => isAnswered(call, begun.prompt)).length,
  };
}

const EDITS = ['edit_file', 'write_file'];

/** Strict: a call that would have told more than the first message is not answered by it. */
function isAnswered({ name, input }: ToolCall, prompt: string): boolean {
  const { path = '.', pattern, command } = input as Readonly<Record<string, unknown>>;
  if (name === 'list_files') return isRoot(path) && /^Tracked: /m.test(prompt);
  if (name === 'search') return /^\W*test\W*$/.test(String(pattern)) && /^Project: .*; test: /m.test(prompt);
  if (name !== 'run_command') return false;
  const parts = String(command).split(/&&|;|\|\||\n/);
  return parts.every((part) => isCommandAnswered(part.trim().split(/\s+/), prompt));
}

function isCommandAnswered([program = '', ...words]: readonly string[], prompt: string): boolean {
  const found = /^Commands find: (.*)\.$/m.exec(prompt)?.[1]?.split(', ') ?? [];
  const isThere = (name: string) => found.some((text) => text.split(' ')[0] === name);
  if (program === 'which' || program === 'type' || program === 'command')
    return words.filter((word) => word !== '-v').every(isThere);
  if (program === 'ls') return words.filter((word) => !word.startsWith('-')).every(isRoot);
  const asksForVersion = words.length === 1 && /^(?:--version|-v|-V|version)$/.test(words[0] ?? '');
  return asksForVersion && found.some((text) => text.startsWith(`${program} `));
}

function isRoot(path: unknown): boolean {
  return path === '.' || path === './' || path === '';
}
