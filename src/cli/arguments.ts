/** The command line as a value: which command with which flags, or what to say instead. The flags are the settings. */

import yargs, { type Options } from 'yargs';
import { nearestName } from '../adapters/inputs/nearest-name.ts';
import { defaultText, SETTING_GROUPS, type SettingEntry, settingEntries } from '../config/settings.ts';
import { shown } from '../config/values.ts';
import type { Command } from './commands.ts';

/** `problems` are the mistakes in the words themselves; the values of `flags` are not checked yet. */
export type Arguments =
  | { ask: 'help'; text: string }
  | { ask: 'version' }
  | { ask: 'command'; command: Command; flags: Record<string, unknown>; problems: string[] }
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

  const { command, problems } = commandAmong(words._.map(String), commands);
  problems.push(...unknownSwitches(words), ...switchMistakes(argv));
  const afterDashes = (words['--'] as string[] | undefined) ?? [];
  problems.push(...afterDashes.map(belongsToNothing));
  if (!command) {
    if (problems.length === 0)
      problems.push(`there is no command; say one of: ${namesOf(commands).join(', ')}`);
    return { ask: 'mistake', problems };
  }
  const flags: Record<string, unknown> = {};
  for (const { flag, repeatable } of settingEntries()) {
    const value = words[flag];
    if (value === undefined) continue;
    if (!command.takesSettings) problems.push(`--${flag}: ${command.name} takes no settings`);
    else if (Array.isArray(value) && !repeatable) problems.push(`--${flag}: is given ${value.length} times`);
    else flags[flag] = value;
  }
  return { ask: 'command', command, flags, problems };
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
  for (const { name, summary } of commands) parser.command(name, summary);
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

/** Words that belong to no flag: one is the command, the others are mistakes. */
function commandAmong(
  rest: readonly string[],
  commands: readonly Command[],
): { command: Command | undefined; problems: string[] } {
  const problems: string[] = [];
  const names = namesOf(commands);
  const words: string[] = [];
  let afterUnknown = false;
  for (const word of rest) {
    if (word.startsWith('-') && word !== '-') {
      problems.push(noSuchFlag(word.replace(/=.*$/s, '')));
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
  problems.push(...more.map(belongsToNothing));
  return { command, problems };
}

/** The parser lets `--no-x` of a switch `--x` through as a flag of its own. */
function unknownSwitches(words: Readonly<Record<string, unknown>>): string[] {
  const known = ['_', '--', '$0', 'help', 'version', ...settingEntries().map(({ flag }) => flag)];
  const unknown = Object.keys(words).filter((name) => !known.includes(name));
  return unknown.map((name) => noSuchFlag(`--${name}`));
}

/** The parser takes every other value of a switch for false. */
function* switchMistakes(argv: readonly string[]): Generator<string> {
  for (const { flag, value } of settingEntries()) {
    if (value !== undefined) continue;
    const given = argv.find((word) => word.startsWith(`--${flag}=`))?.slice(flag.length + 3);
    if (given !== undefined && given !== 'true' && given !== 'false') {
      yield `--${flag}: expected true, false or no value, got ${shown(given)}`;
    }
  }
}

/** `name` is as it was typed, with its dashes. */
function noSuchFlag(name: string): string {
  const flags = [...settingEntries().map(({ flag }) => `--${flag}`), '--help', '--version'];
  return `${shown(name).slice(1, -1)}: there is no such flag; the nearest is ${nearestName(name, flags)}`;
}

function belongsToNothing(word: string): string {
  return `${shown(word)}: belongs to no flag; a task is given with --message or --plan`;
}

function namesOf(commands: readonly Command[]): string[] {
  return commands.map(({ name }) => name);
}
