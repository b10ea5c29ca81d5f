/** What `--help` prints: what most people look for, on one screen. Everything else is one level down, in `patchsmith help`. */

import type { SettingKey } from '../config/schema.ts';
import { shortened } from '../domain/text/shorten.ts';
import { type Command, type CommandFlag, commandFlags } from './command.ts';

/** Lines of the smallest terminal. */
const MAX_LINES = 24;

/** Lines of a command's screen that are no flag and no example. */
const FRAME_LINES = 8;

/** Characters of a flag with its value; one with more values than fit has the first of them. */
const MAX_FLAG = 32;

/** What is looked for most, in the order of the screen. A command shows those that it takes, and all where it takes few. */
// biome-ignore format: one list reads best as a paragraph
const FREQUENT: readonly SettingKey[] = [
  'message', 'plan', 'planFromIssue', 'verify', 'setup', 'allow', 'protect',
  'provider', 'model', 'maxCostUsd', 'deadlineMs', 'maxIterations', 'sandbox', 'allowedDomains',
  'patch', 'repository', 'dryRun', 'draft', 'base', 'branch', 'labels',
  'reviewers', 'runDir', 'output', 'verbose', 'quiet',
];

/** The screen of one command, or of all without a name; null if there is no such command. `columns` is the width of the terminal. */
export function helpScreen(
  name: string | undefined,
  commands: readonly Command[],
  columns: number,
): string | null {
  if (name === undefined) return allCommands(commands, columns);
  const asked = commands.find((command) => command.name === name);
  return asked ? oneCommand(asked, columns) : null;
}

function allCommands(commands: readonly Command[], columns: number): string {
  const width = widthIn(columns);
  const names = Math.max(...commands.map(({ name }) => name.length));
  const [example = ''] = commands.flatMap(({ examples: [first] }) => first?.slice(0, 1) ?? []);
  const lines = [
    'patchsmith <command> [flags]: a plan and principles in, a proven patch out',
    '',
    ...commands.map(({ name, summary }) => row(name, summary, names, width)),
    '',
    `Example: ${example}`,
    'More: patchsmith <command> --help, and patchsmith help [command or code]',
  ];
  return lines.join('\n');
}

function oneCommand(command: Command, columns: number): string {
  const width = widthIn(columns);
  const { name, summary, operands, switches, examples } = command;
  const taken = commandFlags(command).filter(({ needs }) => needs === null);
  const lines = examples.slice(0, 2).map(([line]) => `  ${line}`);
  const ownRows = Object.keys(switches).length + 1;
  const room = MAX_LINES - FRAME_LINES - ownRows - lines.length;
  const shown = taken.length <= room ? taken : frequentIn(taken, room);
  const rows: [string, string][] = [
    ...shown.map((entry): [string, string] => [flagOf(entry), entry.help]),
    ...Object.entries(switches).map(([flag, help]): [string, string] => [`    --${flag}`, help]),
    ['-h, --help', 'Show this'],
  ];
  const flags = Math.max(...rows.map(([flag]) => flag.length));
  const left = taken.length - shown.length;
  const page = [
    fitted(summary, width),
    '',
    `Usage: ${['patchsmith', name, ...operands, '[flags]'].join(' ')}`,
    '',
    ...rows.map(([flag, help]) => row(flag, help, flags, width)),
    ...(left > 0 ? ['', `${left} more flags: patchsmith help ${name}`] : []),
    ...(lines.length > 0 ? ['', lines.length === 1 ? 'Example:' : 'Examples:', ...lines] : []),
    ...(left > 0 ? [] : ['', `Defaults, variables and exit codes: patchsmith help ${name}`]),
  ];
  return page.join('\n');
}

function frequentIn(taken: readonly CommandFlag[], room: number): CommandFlag[] {
  const found = FREQUENT.flatMap((key) => taken.find((entry) => entry.key === key) ?? []);
  return found.slice(0, room);
}

function flagOf({ flag, short, value }: CommandFlag): string {
  const whole = `${short ? `-${short}, ` : '    '}--${flag}${value ? ` ${value}` : ''}`;
  return whole.length <= MAX_FLAG ? whole : `${whole.slice(0, MAX_FLAG - 1).replace(/\|[^|]*$/, '|')}…`;
}

function row(name: string, meaning: string, names: number, width: number): string {
  const start = `  ${name.padEnd(names)}  `;
  return `${start}${fitted(meaning, width - start.length)}`;
}

/** As much of the beginning as fits, up to where a sentence can end or at least a word; the operands are explained in the usage. */
export function fitted(text: string, room: number): string {
  const main = text.replace(/ \(RUN: .*$/s, '');
  if (main.length <= room) return main;
  const ends = [...main.matchAll(/[:;] /g)].map(({ index }) => main.slice(0, index));
  const whole = ends.filter((part) => part.length <= room && part.length >= LEAST_PART).at(-1);
  return whole ?? shortened(main, room).replace(/,? \S{0,100}…$/, ' …');
}

/** A shorter beginning says too little. */
const LEAST_PART = 20;

/** The width of help in a terminal of so many columns: neither so narrow that flags and meanings do not stand side by side, nor too wide to read. */
export function widthIn(columns: number): number {
  return Math.max(60, Math.min(columns, 110));
}
