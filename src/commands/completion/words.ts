/** What can be completed on a command line, derived from the commands and their settings. */

import { settingEntries } from '../../config/schema.ts';
import type { Command } from '../command.ts';
import { fitted } from '../help-screen.ts';

/** What a value can be: one of some words, a path, an earlier run (its id, `last` or its folder), or anything. */
export type Completed =
  | { readonly kind: 'words'; readonly words: readonly string[] }
  | { readonly kind: 'files' | 'folders' | 'runs' | 'anything' };

/** A flag of one command. `value` is null where it takes none. */
export interface CompletedFlag {
  readonly flag: string;
  readonly short: string | null;
  readonly meaning: string;
  readonly value: Completed | null;
  readonly isRepeatable: boolean;
}

/** A command with everything that can stand behind it. */
export interface CompletedCommand {
  readonly name: string;
  readonly meaning: string;
  readonly flags: readonly CompletedFlag[];
  /** By position. */
  readonly operands: readonly Completed[];
}

/** Characters of a meaning: shells show it beside the word. */
const MEANING = 60;

/** All commands, `help` among them. */
export function completedCommands(commands: readonly Command[]): CompletedCommand[] {
  const words = commands.map(({ name }) => name);
  const help = {
    name: 'help',
    meaning: 'Show all flags of a command',
    flags: [],
    operands: [{ kind: 'words' as const, words }],
  };
  return [...commands.map(completed), help];
}

function completed(command: Command): CompletedCommand {
  const { name, summary, operands, settings, settingsWith = {}, switches, output } = command;
  const taken = new Set([...settings, ...Object.values(settingsWith).flat()]);
  const flags = settingEntries()
    .filter(({ key }) => taken.has(key))
    .map((entry): CompletedFlag => {
      const { value, help } = entry.key === 'output' && output ? output : entry;
      return {
        flag: `--${entry.flag}`,
        short: entry.short === undefined ? null : `-${entry.short}`,
        meaning: fitted(help, MEANING),
        value: value === undefined ? null : valuesIn(value),
        isRepeatable: entry.repeatable !== undefined,
      };
    });
  const own = Object.entries({ ...switches, help: 'Show the most used flags' }).map(([flag, help]) => ({
    flag: `--${flag}`,
    short: flag === 'help' ? '-h' : null,
    meaning: fitted(help, MEANING),
    value: null,
    isRepeatable: false,
  }));
  return {
    name,
    meaning: fitted(summary, MEANING),
    flags: [...flags, ...own],
    operands: operands.map(operandOf),
  };
}

/** `a|b` are words to choose from; names in capitals stand for something. */
function valuesIn(value: string): Completed {
  if (/^[a-z][a-z0-9-]*(?:\|[a-z][a-z0-9-]*)*$/.test(value))
    return { kind: 'words', words: value.split('|') };
  if (value === 'FILE' || value.startsWith('PATH')) return { kind: 'files' };
  return { kind: value === 'DIR' ? 'folders' : 'anything' };
}

function operandOf(operand: string): Completed {
  switch (operand.replace(/[[\]]/g, '')) {
    case 'RUN':
      return { kind: 'runs' };
    case 'PATH':
      return { kind: 'files' };
    case 'SHELL':
      return { kind: 'words', words: SHELLS };
    default:
      return { kind: 'anything' };
  }
}

/** The shells that there is a completion for. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const;
