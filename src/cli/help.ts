/** What `--help` says: the settings with their meaning, examples, and notes. */

import yargs, { type Options } from 'yargs';
import { defaultText, SETTING_GROUPS, type SettingEntry, settingEntries } from '../config/settings.ts';
import type { Command } from './command.ts';

/** `columns` is the width of the terminal. */
export function helpText(commands: readonly Command[], columns: number): Promise<string> {
  const page = yargs([])
    .scriptName('patchsmith')
    .usage('patchsmith: a plan and principles in, a proven patch out\n\nUsage: $0 <command> [flags]')
    .parserConfiguration({ 'camel-case-expansion': false })
    .detectLocale(false)
    .exitProcess(false)
    .help(false)
    .version(false)
    .wrap(Math.max(60, Math.min(columns, 110)))
    .option('help', { alias: 'h', type: 'boolean', describe: 'Show this' })
    .option('version', { type: 'boolean', describe: 'Show the version' });
  for (const { name, summary, switches } of commands) {
    page.command(name, summary);
    for (const [flag, describe] of Object.entries(switches))
      page.option(flag, { type: 'boolean', group: `Only for ${name}:`, describe });
  }
  const entries = settingEntries();
  for (const group of SETTING_GROUPS) {
    for (const entry of entries) if (entry.group === group) page.option(entry.flag, optionOf(entry));
  }
  return page.epilogue([examplesOf(commands), ...NOTES].join('\n\n')).getHelp();
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
