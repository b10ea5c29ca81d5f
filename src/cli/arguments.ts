/** The command line as a value: which command with which flags, or what to say instead. The flags are the settings. */

import yargs, { type Options } from 'yargs';
import { nearestName } from '../adapters/inputs/nearest-name.ts';
import {
  defaultText,
  SETTING_GROUPS,
  type SettingEntry,
  type SettingKey,
  settingEntries,
} from '../config/settings.ts';
import { shown } from '../config/values.ts';
import type { Command, Given } from './commands.ts';

export type Arguments =
  | { ask: 'help'; text: string }
  | { ask: 'version' }
  | { ask: 'command'; command: Command; given: Given }
  | { ask: 'mistake'; problems: string[] };

/** `argv` is without the program's own name; `columns` is the width of the terminal. */
export async function readArguments(
  argv: readonly string[],
  commands: readonly Command[],
  columns: number,
): Promise<Arguments> {
  const parser = parserFor(argv, commands, columns);
  let words: Awaited<ReturnType<typeof parser.parse>>;
  try {
    words = await parser.parse();
  } catch (error) {
    if (error instanceof WordsMistaken) return { ask: 'mistake', problems: [error.message] };
    throw error;
  }
  // Asked anew, since a parser that has seen a command only tells about that one.
  if (words.help) return { ask: 'help', text: await parserFor([], commands, columns).getHelp() };
  if (words.version) return { ask: 'version' };

  const afterDashes = (words['--'] as string[] | undefined) ?? [];
  const { command, operands, problems } = commandAmong(words._.map(String), commands);
  problems.push(...unknownSwitches(words, commands), ...switchMistakes(argv, commands));
  problems.push(...afterDashes.map(belongsToNothing));
  if (!command) {
    if (problems.length === 0)
      problems.push(`there is no command; say one of: ${namesOf(commands).join(', ')}`);
    return { ask: 'mistake', problems };
  }
  const flags: Record<string, unknown> = {};
  for (const { key, flag, repeatable } of settingEntries()) {
    const value = words[flag];
    if (value === undefined) continue;
    if (!takes(command, key)) problems.push(`--${flag}: ${command.name} takes ${settingsOf(command)}`);
    else if (Array.isArray(value) && !repeatable) problems.push(`--${flag}: is given ${value.length} times`);
    else flags[flag] = value;
  }
  const switches = new Set<string>();
  for (const name of switchesOf(commands)) {
    if (words[name] !== true) continue;
    if (Object.hasOwn(command.switches, name)) switches.add(name);
    else problems.push(`--${name}: ${command.name} knows no such flag`);
  }
  return { ask: 'command', command, given: { operands, flags, switches, problems } };
}

function takes({ settings }: Command, key: SettingKey): boolean {
  return settings === 'all' || settings.includes(key);
}

function settingsOf({ settings }: Command): string {
  const flags = settingEntries().flatMap(({ key, flag }) => (settings.includes(key) ? [`--${flag}`] : []));
  return flags.length === 0 ? 'no settings' : `no such setting, only ${flags.join(', ')}`;
}

function switchesOf(commands: readonly Command[]): string[] {
  return [...new Set(commands.flatMap(({ switches }) => Object.keys(switches)))];
}

/** The parser's own complaint about the words, such as a flag at the end that needs a value. */
class WordsMistaken extends Error {}

function parserFor(argv: readonly string[], commands: readonly Command[], columns: number) {
  const parser = yargs([...argv])
    .scriptName('patchsmith')
    .usage('patchsmith: a plan and principles in, a proven patch out\n\nUsage: $0 <command> [flags]')
    .parserConfiguration({
      'boolean-negation': false,
      'camel-case-expansion': false,
      'dot-notation': false,
      'greedy-arrays': false,
      'parse-numbers': false,
      'parse-positional-numbers': false,
      'populate--': true,
      'short-option-groups': false,
      'strip-aliased': true,
      // Unknown flags come back as words, and a value may begin with a dash.
      'unknown-options-as-args': true,
    })
    .detectLocale(false)
    .updateStrings({
      'Not enough arguments following: %s':
        'the flag %s needs a value; write --flag=VALUE if it begins with -',
    })
    .exitProcess(false)
    .fail((message, error) => {
      if (error === undefined || error.name === 'YError') throw new WordsMistaken(message ?? error?.message);
      throw error;
    })
    // Both are looked at by hand, so that nothing but the edge prints.
    .help(false)
    .version(false)
    .wrap(Math.max(60, Math.min(columns, 110)))
    .option('help', { alias: 'h', type: 'boolean', describe: 'Show this' })
    .option('version', { type: 'boolean', describe: 'Show the version' });
  for (const { name, summary, switches } of commands) {
    parser.command(name, summary);
    for (const [flag, describe] of Object.entries(switches))
      parser.option(flag, { type: 'boolean', group: `Only for ${name}:`, describe });
  }
  const entries = settingEntries();
  for (const group of SETTING_GROUPS) {
    for (const entry of entries) if (entry.group === group) parser.option(entry.flag, optionOf(entry));
  }
  return parser.epilogue([examplesOf(commands), ...NOTES].join('\n\n'));
}

const NOTES = [
  'Every setting is also a variable, such as PATCHSMITH_MAX_ITERATIONS, and many are keys of .patchsmith.yml in the root of the repository. A flag wins over a variable, a variable over the file. ANTHROPIC_API_KEY comes from the environment, or from a .env in this folder that git does not track.',
  'Exit codes: 0 done or no_change, 1 internal_error, 2 usage_error, 3 no_change with --if-no-changes error, 4 provider_error, 5 blocked, 7 limit_reached, 8 policy_violation, 9 verify_failed, 10 sandbox_unavailable, 11 publish_failed, 124 deadline, 130 and 143 interrupted.',
];

function examplesOf(commands: readonly Command[]): string {
  const lines = commands.flatMap(({ examples }) =>
    examples.map(([line, meaning]) => `  ${line}\n      ${meaning}`),
  );
  return ['Examples:', ...lines].join('\n');
}

function optionOf(entry: SettingEntry): Options {
  const { short, group, value, help, repeatable } = entry;
  return {
    ...(short ? { alias: short } : {}),
    // A flag without a type keeps its value as it was typed.
    ...(value ? { requiresArg: true } : { type: 'boolean' as const }),
    group: `${group}:`,
    describe: `${value ? `${value}  ` : ''}${help}${repeatable ? '; can be repeated' : ''}`,
    defaultDescription: defaultText(entry),
  };
}

/** Words that belong to no flag: the command, its operands, and mistakes. */
function commandAmong(
  rest: readonly string[],
  commands: readonly Command[],
): { command: Command | undefined; operands: string[]; problems: string[] } {
  const problems: string[] = [];
  const names = namesOf(commands);
  const words: string[] = [];
  let afterUnknown = false;
  for (const word of rest) {
    if (word.startsWith('-') && word !== '-') {
      problems.push(noSuchFlag(word.replace(/=.*$/s, ''), commands));
      afterUnknown = !word.includes('=');
      continue;
    }
    // What follows an unknown flag is most likely its value, and one mistake is enough to tell.
    if (!afterUnknown || names.includes(word)) words.push(word);
    afterUnknown = false;
  }
  const [first, ...more] = words;
  const command = commands.find(({ name }) => name === first);
  if (first !== undefined && !command) {
    problems.push(`${shown(first)}: there is no such command; the nearest is ${nearestName(first, names)}`);
  }
  const wanted = command?.operands ?? [];
  const operands = more.slice(0, wanted.length);
  const missing = wanted.slice(operands.length).filter((name) => !name.startsWith('['));
  problems.push(
    ...missing.map((name) => `${first} needs a ${name}: patchsmith ${first} ${wanted.join(' ')}`),
  );
  problems.push(...more.slice(wanted.length).map(belongsToNothing));
  return { command, operands, problems };
}

/** The parser lets `--no-x` of a switch `--x` through as a flag of its own. */
function unknownSwitches(words: Readonly<Record<string, unknown>>, commands: readonly Command[]): string[] {
  const flags = settingEntries().map(({ flag }) => flag);
  const known = ['_', '--', '$0', 'help', 'version', ...flags, ...switchesOf(commands)];
  const unknown = Object.keys(words).filter((name) => !known.includes(name));
  return unknown.map((name) => noSuchFlag(`--${name}`, commands));
}

/** The parser takes every other value of a switch for false. */
function* switchMistakes(argv: readonly string[], commands: readonly Command[]): Generator<string> {
  const settings = settingEntries().flatMap(({ flag, value }) => (value === undefined ? [flag] : []));
  for (const flag of [...settings, ...switchesOf(commands)]) {
    const given = argv.find((word) => word.startsWith(`--${flag}=`))?.slice(flag.length + 3);
    if (given !== undefined && given !== 'true' && given !== 'false') {
      yield `--${flag}: expected true, false or no value, got ${shown(given)}`;
    }
  }
}

/** `name` is as it was typed, with its dashes. */
function noSuchFlag(name: string, commands: readonly Command[]): string {
  const own = [...settingEntries().map(({ flag }) => flag), ...switchesOf(commands), 'help', 'version'];
  const flags = own.map((flag) => `--${flag}`);
  return `${shown(name).slice(1, -1)}: there is no such flag; the nearest is ${nearestName(name, flags)}`;
}

function belongsToNothing(word: string): string {
  return `${shown(word)}: belongs to no flag; a task is given with --message or --plan`;
}

function namesOf(commands: readonly Command[]): string[] {
  return commands.map(({ name }) => name);
}
