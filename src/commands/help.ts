/** What `patchsmith help` prints: all settings with their meaning, examples, and notes. `--help` is a screen of it. */

import yargs, { type Options } from 'yargs';
import { KEY_VARIABLES } from '../adapters/providers/registry.ts';
import { SETTING_GROUPS } from '../config/settings/setting.ts';
import type { FailureReason } from '../domain/conversation/tool.ts';
import { ERROR_AREAS, errorsIn } from '../domain/errors/registry.ts';
import { exitCodeList, exitCodesOfError } from '../domain/run/exit-code.ts';
import { WARNING_AREAS } from '../domain/warnings/registry.ts';
import { type Command, type CommandFlag, commandFlags } from './command.ts';
import { widthIn } from './help-screen.ts';

/**
 * What `help NAME` prints: the page of a command or of a code, and that of all commands without a name. Null if it is neither.
 * `columns` is the width of the terminal.
 */
export async function helpText(
  name: string | undefined,
  commands: readonly Command[],
  columns: number,
): Promise<string | null> {
  if (name === undefined || name === 'help') return allCommands(commands, columns);
  const asked = commands.find((command) => command.name === name);
  return asked ? oneCommand(asked, columns) : codeText(name);
}

async function allCommands(commands: readonly Command[], columns: number): Promise<string> {
  const page = layout(columns)
    .usage('patchsmith: a plan and principles in, a proven patch out\n\nUsage: $0 <command> [flags]')
    .option('version', { type: 'boolean', describe: 'Show the version' });
  for (const { name, summary } of commands) page.command(name, summary);
  const notes = [examplesOf(commands.flatMap(({ examples }) => examples)), EACH, EXIT_CODES];
  return page.epilogue(notes.join('\n\n')).getHelp();
}

/** With every setting that it accepts. */
async function oneCommand(command: Command, columns: number): Promise<string> {
  const { name, summary, operands, switches, examples } = command;
  const words = ['$0', name, ...operands, '[flags]'].join(' ');
  const page = layout(columns).usage(`${summary}\n\nUsage: ${words}`);
  for (const [flag, describe] of Object.entries(switches)) page.option(flag, { type: 'boolean', describe });
  const entries = commandFlags(command);
  for (const group of SETTING_GROUPS) {
    for (const entry of entries) if (entry.group === group) page.option(entry.flag, optionOf(entry));
  }
  const notes = [
    ...(examples.length > 0 ? [examplesOf(examples)] : []),
    ...(entries.length > 0 ? [SOURCES] : []),
    EXIT_CODES,
  ];
  return page.epilogue(notes.join('\n\n')).getHelp();
}

/** The help page of an error, a warning or the reason of a failed call, or of `codes`, which are all of them. Null for another word. */
function codeText(code: string): string | null {
  if (code === 'codes')
    return areas()
      .map(({ title, entries }) =>
        [title, '', ...entries.map(({ code, kind, text }) => `  ${code}: ${kind}. ${text}`)].join('\n'),
      )
      .join('\n\n');
  const found = areas()
    .flatMap(({ entries }) => entries)
    .find((entry) => entry.code === code);
  if (found !== undefined) return `${code}: ${found.kind}\n\n${found.text}`;
  const [, kind] = /^(ERR|WARN)_/.exec(code) ?? [];
  if (kind === undefined) return null;
  const what = kind === 'ERR' ? 'error' : 'warning';
  return `There is no ${what} ${JSON.stringify(code)} in this version of patchsmith.`;
}

/** What a user can meet, by where it is met. */
function areas() {
  const errors = Object.entries(ERROR_AREAS).map(([title, area]) => ({
    title,
    entries: errorsIn(area).map(({ code, outcome, text }) => ({
      code,
      kind: `${outcome} (exit ${exitCodesOfError(outcome).join(', ')})`,
      text,
    })),
  }));
  const plain = (title: string, kind: string, all: Readonly<Record<string, string>>) => ({
    title,
    entries: Object.entries(all).map(([code, text]) => ({ code, kind, text })),
  });
  const warnings = Object.entries(WARNING_AREAS).map(([title, area]) =>
    plain(title, 'a warning, which ends nothing', area),
  );
  return [...errors, ...warnings, plain('Failed calls', 'why a tool call failed', FAILURE_MEANINGS)];
}

function layout(columns: number) {
  return yargs([])
    .scriptName('patchsmith')
    .parserConfiguration({ 'camel-case-expansion': false })
    .detectLocale(false)
    .exitProcess(false)
    .help(false)
    .version(false)
    .wrap(widthIn(columns))
    .option('help', { alias: 'h', type: 'boolean', describe: 'Show this' });
}

const EACH =
  'patchsmith help <command> shows the flags of a command, and patchsmith help CODE what an error or a warning means; patchsmith help codes lists them.';

const SOURCES = `Every setting is also a variable, such as PATCHSMITH_MAX_ITERATIONS, and many are keys of .patchsmith.yml in the root of the repository, which run reads. A flag wins over a variable, a variable over the file. ${KEY_VARIABLES.join(' or ')} comes from the environment, or from a .env in this folder that git does not track; GITHUB_TOKEN or GH_TOKEN from the environment.`;

const EXIT_CODES = `Exit codes: ${exitCodeList().join(', ')}.`;

function examplesOf(examples: Command['examples']): string {
  const lines = examples.map(([line, meaning]) => `  ${line}\n      ${meaning}`);
  return ['Examples:', ...lines].join('\n');
}

function optionOf({ short, group, repeatable, value, help, initial, needs }: CommandFlag): Options {
  const only = needs === null ? '' : `; only with --${needs}`;
  return {
    ...(short ? { alias: short } : {}),
    // A flag without a type keeps its value as it was typed.
    ...(value ? { requiresArg: true } : { type: 'boolean' as const }),
    group: `${group}:`,
    describe: `${value ? `${value}  ` : ''}${help}${repeatable ? '; can be repeated' : ''}${only}`,
    defaultDescription: initial,
  };
}

/** For people who read `failed: path_refused`; the text of the answer tells the model more. */
export const FAILURE_MEANINGS: Readonly<Record<FailureReason, string>> = {
  unknown_tool:
    'The model called a tool that it was not given; the answer names those that exist. `--tools` chooses them.',
  invalid_input: 'The parameters are invalid; the answer says why. If it happens often, use another model.',
  cut_off:
    'The answer was cut off within the call, which was not executed. If it happens often, raise `--max-output-tokens`.',
  too_many_calls: 'The answer had more calls than one turn executes. The model sends the rest in the next.',
  budget:
    'The tokens or the money are used up, so the call was not executed. `patchsmith resume` with a higher limit.',
  path_refused:
    'The path is outside the work tree, leads through a link, or belongs to git. No setting permits that.',
  not_found: 'There is no such file or folder. If the plan is about ignored files, name them in it.',
  not_text: 'The file is not a text, image or document that a model can be shown.',
  too_large: 'The file or text is larger than the tool accepts. Name the part in the plan, or use a command.',
  no_match:
    'The text to replace is not in the file, or occurs more than once. The model is shown lines like it, if one is equal.',
  conflict:
    'The model has not seen all of the current file, and reads it again. If it recurs, check what else changes the work tree.',
  exit_code: 'The command failed. For a missing program, see docs/sandbox.md.',
  timeout: 'The command, search or page took too long. Raise `--command-timeout` or `--max-command-timeout`.',
  interrupted: 'The run was stopped or killed during the call. `patchsmith resume`.',
  policy:
    '`allow` and `protect` forbid the path, or the write would create or change a repository. Relax these rules if needed.',
  server:
    "The MCP server or the program's tool answered with an error, or is gone. Read its own log; see docs/mcp.md.",
  crashed: 'The call failed unexpectedly, and the run continues. Report it, with `events.jsonl`.',
};
