/** What `patchsmith help` prints: all settings with their meaning, examples, and notes. `--help` is a screen of it. */

import yargs, { type Options } from 'yargs';
import { KEY_VARIABLES } from '../adapters/providers/registry.ts';
import { defaultText, type SettingEntry, settingEntries } from '../config/schema.ts';
import { SETTING_GROUPS } from '../config/settings/setting.ts';
import { FAILURE_MEANINGS } from '../domain/conversation/failure-meanings.ts';
import { ERROR_AREAS, errorsIn } from '../domain/errors/registry.ts';
import { exitCodeList, exitCodesOfError } from '../domain/run/exit-code.ts';
import { WARNING_AREAS } from '../domain/warnings/registry.ts';
import type { Command } from './command.ts';

/** The help page of all commands. `columns` is the width of the terminal. */
export function helpText(commands: readonly Command[], columns: number): Promise<string> {
  const page = layout(columns)
    .usage('patchsmith: a plan and principles in, a proven patch out\n\nUsage: $0 <command> [flags]')
    .option('version', { type: 'boolean', describe: 'Show the version' });
  for (const { name, summary } of commands) page.command(name, summary);
  return page
    .epilogue([examplesOf(commands.flatMap(({ examples }) => examples)), EACH, EXIT_CODES].join('\n\n'))
    .getHelp();
}

/** The help page of one command, with every setting it accepts. */
export function commandHelpText(command: Command, columns: number): Promise<string> {
  const { name, summary, operands, switches, settingsWith = {}, examples } = command;
  const settings = [...command.settings, ...Object.values(settingsWith).flat()];
  const words = ['$0', name, ...operands, '[flags]'].join(' ');
  const page = layout(columns).usage(`${summary}\n\nUsage: ${words}`);
  for (const [flag, describe] of Object.entries(switches)) page.option(flag, { type: 'boolean', describe });
  const entries = settingEntries().filter(({ key }) => settings.includes(key));
  for (const group of SETTING_GROUPS) {
    for (const entry of entries) if (entry.group === group) page.option(entry.flag, optionOf(entry, command));
  }
  const notes = [
    ...(examples.length > 0 ? [examplesOf(examples)] : []),
    ...(entries.length > 0 ? [SOURCES] : []),
    EXIT_CODES,
  ];
  return page.epilogue(notes.join('\n\n')).getHelp();
}

/** The help page of an error, a warning or the reason of a failed call: its row of docs/errors.md. Null for another word. */
export function codeText(code: string): string | null {
  const { text, kind } = explained(code) ?? {};
  if (kind !== undefined) return `${code}: ${kind}\n\n${text}`;
  if (code.startsWith('ERR_'))
    return `There is no error ${JSON.stringify(code)} in this version of patchsmith.`;
  if (code.startsWith('WARN_'))
    return `There is no warning ${JSON.stringify(code)} in this version of patchsmith.`;
  return null;
}

function explained(code: string): { text: string; kind: string } | null {
  const error = Object.values(ERROR_AREAS)
    .flatMap(errorsIn)
    .find((entry) => entry.code === code);
  if (error !== undefined)
    return {
      text: error.text,
      kind: `${error.outcome} (exit ${exitCodesOfError(error.outcome).join(', ')})`,
    };
  const warning = Object.values(WARNING_AREAS)
    .flatMap((area) => Object.entries(area))
    .find(([name]) => name === code);
  if (warning !== undefined) return { text: warning[1], kind: 'a warning, which ends nothing' };
  const failure = new Map(Object.entries(FAILURE_MEANINGS)).get(code);
  return failure === undefined ? null : { text: failure, kind: 'why a tool call failed' };
}

function layout(columns: number) {
  return yargs([])
    .scriptName('patchsmith')
    .parserConfiguration({ 'camel-case-expansion': false })
    .detectLocale(false)
    .exitProcess(false)
    .help(false)
    .version(false)
    .wrap(Math.max(60, Math.min(columns, 110)))
    .option('help', { alias: 'h', type: 'boolean', describe: 'Show this' });
}

const EACH =
  'patchsmith help <command> shows the flags of a command, and patchsmith help CODE what an error or a warning means.';

const SOURCES = `Every setting is also a variable, such as PATCHSMITH_MAX_ITERATIONS, and many are keys of .patchsmith.yml in the root of the repository, which run reads. A flag wins over a variable, a variable over the file. ${KEY_VARIABLES.join(' or ')} comes from the environment, or from a .env in this folder that git does not track; GITHUB_TOKEN or GH_TOKEN from the environment.`;

const EXIT_CODES = `Exit codes: ${exitCodeList().join(', ')}.`;

function examplesOf(examples: Command['examples']): string {
  const lines = examples.map(([line, meaning]) => `  ${line}\n      ${meaning}`);
  return ['Examples:', ...lines].join('\n');
}

function optionOf(entry: SettingEntry, { output, settings, settingsWith = {} }: Command): Options {
  const { short, group, repeatable } = entry;
  const ofRun = { value: entry.value, help: entry.help, initial: defaultText(entry) };
  const needed = Object.keys(settingsWith).find((name) => settingsWith[name]?.includes(entry.key));
  const only = settings.includes(entry.key) ? '' : `; only with --${needed}`;
  const { value, help, initial } = entry.key === 'output' && output ? output : ofRun;
  return {
    ...(short ? { alias: short } : {}),
    // A flag without a type keeps its value as it was typed.
    ...(value ? { requiresArg: true } : { type: 'boolean' as const }),
    group: `${group}:`,
    describe: `${value ? `${value}  ` : ''}${help}${repeatable ? '; can be repeated' : ''}${only}`,
    defaultDescription: initial,
  };
}
