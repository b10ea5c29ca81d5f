/** The command line as a value: which command with which flags, or what to print instead. The flags are the settings. */

import parser from 'yargs-parser';
import { didYouMean } from '../config/did-you-mean.ts';
import { type SettingKey, settingEntries } from '../config/schema.ts';
import { shown } from '../config/values/value.ts';
import { type Problem, problem } from '../domain/errors/problem.ts';
import { type Command, commandFlags, type Given } from './command.ts';
import { COMMANDS } from './registry.ts';

/** The request in a command line. */
export type Arguments =
  | { ask: 'help'; text: string }
  | { ask: 'no command'; text: string }
  | { ask: 'version' }
  | { ask: 'command'; command: Command; given: Given }
  | { ask: 'mistake'; problems: Problem[] };

/** `argv` is without the program's own name; `columns` is the width of the terminal. */
export async function readArguments(argv: readonly string[], columns: number): Promise<Arguments> {
  const { argv: words, error } = parseWords(argv);
  if (error) return { ask: 'mistake', problems: [problem('ERR_FLAG_WITHOUT_VALUE', error.message)] };
  const [first, second] = words._.map(String);
  // `COMMAND --help` is one screen, and `help COMMAND` has everything.
  if (first === 'help') return helpOrMistake(second, await helpOf(second, columns));
  if (words.help) return helpOrMistake(first, await screenOf(first, columns));
  if (argv.length === 0) return { ask: 'no command', text: (await screenOf(undefined, columns)) ?? '' };
  if (words.version) return { ask: 'version' };

  const afterDashes = (words['--'] as string[] | undefined) ?? [];
  const { command, operands, problems } = commandAmong(words._.map(String));
  problems.push(...unknownSwitches(words), ...switchMistakes(argv));
  problems.push(...afterDashes.map((word) => belongsToNothing(word, command)));
  if (!command) {
    const none = `no command given; expected one of: ${NAMES.join(', ')}`;
    return {
      ask: 'mistake',
      problems: problems.length > 0 ? problems : [problem('ERR_NO_COMMAND', none)],
    };
  }
  const notTaken = (flag: string, why: string) =>
    problem('ERR_FLAG_NOT_TAKEN', `--${flag}: ${command.name} ${why}`);
  const switches = new Set<string>();
  for (const name of SWITCHES) {
    if (words[name] !== true) continue;
    if (Object.hasOwn(command.switches, name)) switches.add(name);
    else problems.push(notTaken(name, 'has no such flag'));
  }
  const flags: Record<string, unknown> = {};
  const own = commandFlags(command);
  for (const { key, flag, repeatable } of settingEntries()) {
    const value = words[flag];
    if (value === undefined) continue;
    const needs = own.find((one) => one.key === key)?.needs;
    const isRepeated = Array.isArray(value) && !repeatable;
    if (needs === undefined) problems.push(notTaken(flag, `takes ${settingsOf(command, key)}`));
    else if (needs !== null && !switches.has(needs))
      problems.push(notTaken(flag, `takes it only together with --${needs}`));
    else {
      if (isRepeated) problems.push(problem('ERR_FLAG_REPEATED', `--${flag}: given ${value.length} times`));
      // A value that is given must not also be reported as missing.
      flags[flag] = isRepeated ? value[0] : value;
    }
  }
  problems.push(...outputMistakes(command, flags.output));
  return { ask: 'command', command, given: { operands, flags, switches, problems } };
}

const NAMES = COMMANDS.map(({ name }) => name);
const SWITCHES = [...new Set(COMMANDS.flatMap(({ switches }) => Object.keys(switches)))];

function helpOrMistake(name: string | undefined, text: string | null): Arguments {
  if (text !== null) return { ask: 'help', text };
  return { ask: 'mistake', problems: commandAmong([name ?? '']).problems };
}

/** Only help needs the library that formats it, which takes longer to load than everything else here. */
async function helpOf(name: string | undefined, columns: number): Promise<string | null> {
  const { helpText } = await import('./help.ts');
  return helpText(name, COMMANDS, columns);
}

async function screenOf(name: string | undefined, columns: number): Promise<string | null> {
  const { helpScreen } = await import('./help-screen.ts');
  return helpScreen(name, COMMANDS, columns);
}

/** A command that prints text has no other document than JSON. */
function outputMistakes({ name, output, switches }: Command, given: unknown): Problem[] {
  if (output?.initial !== 'text' || given === undefined || given === output.value) return [];
  const instead = switches.json
    ? '--json for a machine-readable document'
    : '--output json for a machine-readable report';
  return [problem('ERR_INVALID_VALUE', `--output: ${name} prints text; use ${instead}`)];
}

/** Longer lists of what a command takes are left to its help. */
const MAX_LISTED = 16;

function settingsOf(command: Command, key: SettingKey): string {
  const flags = commandFlags(command).flatMap(({ flag, needs }) => (needs === null ? [`--${flag}`] : []));
  if (flags.length === 0) return 'no settings';
  if (flags.length <= MAX_LISTED) return `no such setting, only ${flags.join(', ')}`;
  const others = COMMANDS.filter(({ settings }) => settings.includes(key)).map(({ name }) => name);
  return `no such setting; it is for ${others.join(', ')}`;
}

/** The parser's own message for a last flag that lacks its value. */
const NO_VALUE = 'Not enough arguments following: %s';

/** Parses the flags that the settings define; anything that is not a flag is returned as a word. */
function parseWords(argv: readonly string[]) {
  const entries = settingEntries();
  const withValue = entries.filter(({ value }) => value !== undefined);
  const switches = entries.filter(({ value }) => value === undefined).map(({ flag }) => flag);
  const options = {
    alias: {
      help: ['h'],
      ...Object.fromEntries(entries.flatMap(({ flag, short }) => (short ? [[flag, [short]]] : []))),
    },
    boolean: ['help', 'version', ...switches, ...SWITCHES],
    // A flag without a type keeps its value as typed; this requires one value each time it is given.
    narg: Object.fromEntries(withValue.map(({ flag }) => [flag, Number.NaN])),
    configuration: {
      'boolean-negation': false,
      'camel-case-expansion': false,
      'dot-notation': false,
      'greedy-arrays': false,
      'parse-numbers': false,
      'parse-positional-numbers': false,
      'populate--': true,
      'short-option-groups': false,
      'strip-aliased': true,
      // Unknown flags are returned as words, and a value may begin with a dash.
      'unknown-options-as-args': true,
    },
    __: (complaint: string, flag: string) =>
      (complaint === NO_VALUE
        ? '%s: needs a value; where that begins with -, write %s=VALUE'
        : complaint
      ).replaceAll('%s', flag.length === 1 ? `-${flag}` : `--${flag}`),
  };
  return parser.detailed([...argv], options);
}

/** Words that are not part of a flag: the command, its operands, and mistakes. */
function commandAmong(rest: readonly string[]): {
  command: Command | undefined;
  operands: string[];
  problems: Problem[];
} {
  const problems: Problem[] = [];
  const words: string[] = [];
  let afterUnknown = false;
  for (const word of rest) {
    if (word.startsWith('-') && word !== '-') {
      problems.push(noSuchFlag(word.split('=', 1)[0] ?? ''));
      afterUnknown = !word.includes('=');
      continue;
    }
    // What follows an unknown flag is most likely its value, and reporting one mistake is enough.
    if (!afterUnknown || NAMES.includes(word)) words.push(word);
    afterUnknown = false;
  }
  const [first, ...more] = words;
  const command = COMMANDS.find(({ name }) => name === first);
  if (first !== undefined && !command) {
    const nearest = didYouMean(first, NAMES, `there are ${NAMES.join(', ')}`);
    problems.push(problem('ERR_UNKNOWN_COMMAND', `${shown(first)}: there is no such command; ${nearest}`));
  }
  const wanted = command?.operands ?? [];
  const operands = more.slice(0, wanted.length);
  for (const name of wanted.slice(operands.length)) {
    const usage = `patchsmith ${first} ${wanted.join(' ')}`;
    if (!name.startsWith('['))
      problems.push(problem('ERR_OPERAND_MISSING', `${first} needs a ${name}: ${usage}`));
  }
  problems.push(...more.slice(wanted.length).map((word) => belongsToNothing(word, command)));
  return { command, operands, problems };
}

/** The parser accepts `--no-x` for a switch `--x` as a separate flag. */
function unknownSwitches(words: Readonly<Record<string, unknown>>): Problem[] {
  const flags = settingEntries().map(({ flag }) => flag);
  const known = ['_', '--', '$0', 'help', 'version', ...flags, ...SWITCHES];
  const unknown = Object.keys(words).filter((name) => !known.includes(name));
  return unknown.map((name) => noSuchFlag(`--${name}`));
}

/** The parser treats every other value of a switch as false. */
function* switchMistakes(argv: readonly string[]): Generator<Problem> {
  const settings = settingEntries().flatMap(({ flag, value }) => (value === undefined ? [flag] : []));
  for (const flag of [...settings, ...SWITCHES]) {
    const given = argv.find((word) => word.startsWith(`--${flag}=`))?.slice(flag.length + 3);
    if (given !== undefined && given !== 'true' && given !== 'false') {
      yield problem('ERR_INVALID_VALUE', `--${flag}: expected true, false or no value, got ${shown(given)}`);
    }
  }
}

/** `name` is as it was typed, with its dashes. */
function noSuchFlag(name: string): Problem {
  const own = [...settingEntries().map(({ flag }) => flag), ...SWITCHES, 'help', 'version'];
  const flags = own.map((flag) => `--${flag}`);
  const nearest = didYouMean(name, flags, 'patchsmith help <command> shows them all');
  return problem('ERR_UNKNOWN_FLAG', `${shown(name).slice(1, -1)}: there is no such flag; ${nearest}`);
}

function belongsToNothing(word: string, command: Command | undefined): Problem {
  const takesTask = command?.settings.includes('message') ?? true;
  const hint = takesTask ? '; give the task with --message or --plan' : '';
  return problem('ERR_UNEXPECTED_WORD', `${shown(word)}: does not belong to a flag${hint}`);
}
