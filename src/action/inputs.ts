/** The inputs of the action. Those that are settings derive from the settings of `run` and `publish`; the others stand here. */

import { nearestName } from '../adapters/inputs/nearest-name.ts';
import { SETTINGS_TAKEN } from '../cli/settings-taken.ts';
import { defaultText, type SettingEntry, settingEntries } from '../config/settings.ts';
import { shown } from '../config/values.ts';

export const MODES = ['run', 'publish', 'run-and-publish'] as const;
export type Mode = (typeof MODES)[number];

export interface ActionInput {
  readonly name: string;
  readonly description: string;
  /** Empty: absent. */
  readonly initial: string;
  /** The flag that it stands for; null for the action's own. */
  readonly flag: string | null;
  /** The commands that take it. */
  readonly commands: readonly string[];
}

/** In place of settings: a message is a plan in one line, and the log is no place for a machine's document. */
const LEFT_OUT = ['message', 'output'];

const COMMANDS_OF_MODE: Readonly<Record<Mode, readonly string[]>> = {
  run: ['run'],
  publish: ['publish'],
  'run-and-publish': ['run', 'publish'],
};

const OWN: readonly Omit<ActionInput, 'flag'>[] = [
  {
    name: 'mode',
    description:
      'run: carry out the plan. publish: make a pull request of a run, without a model and without a checkout. run-and-publish: both in one job, which has both secrets',
    initial: 'run',
    commands: ['run', 'publish'],
  },
  {
    name: 'plan',
    description: 'The plan itself, in Markdown with optional YAML front matter',
    initial: '',
    commands: ['run'],
  },
  {
    name: 'api-key',
    description: 'Key of the Claude API. Default: ANTHROPIC_API_KEY of the environment',
    initial: '',
    commands: ['run'],
  },
  {
    name: 'github-token',
    description:
      'Token for GitHub: to publish, and to read an issue and who wrote it. Default: GITHUB_TOKEN or GH_TOKEN of the environment',
    initial: '',
    commands: ['run', 'publish'],
  },
];

/** All inputs in the order of action.yml. */
export function actionInputs(): ActionInput[] {
  const settings = settingEntries().flatMap((entry) => {
    const commands = Object.entries(SETTINGS_TAKEN).flatMap(([name, taken]) =>
      taken.some((key) => key === entry.key) ? [name] : [],
    );
    return commands.length === 0 || LEFT_OUT.includes(entry.flag) ? [] : [settingInput(entry, commands)];
  });
  return [...OWN.map((input) => ({ ...input, flag: null })), ...settings];
}

function settingInput(entry: SettingEntry, commands: readonly string[]): ActionInput {
  const { flag, help, value, repeatable } = entry;
  const form = value === undefined ? 'true or false' : repeatable ? `${value}, one a line` : value;
  return {
    name: flag === 'plan' ? 'plan-file' : flag,
    description: `${help.replace('; - reads stdin', '')} (${form}). Default: ${defaultText(entry)}`,
    initial: '',
    flag,
    commands,
  };
}

export interface InputsGiven {
  readonly mode: Mode;
  /** The text of the plan; null when it comes from elsewhere. */
  readonly plan: string | null;
  readonly apiKey: string | null;
  readonly githubToken: string | null;
  /** Values by flag, as they were typed, for each command of the mode. */
  readonly flags: Readonly<Record<string, Record<string, string>>>;
  readonly problems: readonly string[];
}

/** A runner hands inputs on as `INPUT_<NAME>`, in upper case with its dashes; an empty one is one that nobody gave. */
export function readInputs(env: Readonly<Record<string, string | undefined>>): InputsGiven {
  const known = actionInputs();
  const given = new Map<string, string>();
  const problems: string[] = [];
  for (const [variable, value = ''] of Object.entries(env)) {
    if (!variable.startsWith(PREFIX)) continue;
    const name = variable.slice(PREFIX.length).toLowerCase();
    if (!known.some((input) => input.name === name)) {
      const nearest = nearestName(
        name,
        known.map((input) => input.name),
      );
      problems.push(`${shown(name).slice(1, -1)}: there is no such input; the nearest is ${nearest}`);
    } else if (value.trim() !== '') given.set(name, value);
  }
  const asked = given.get('mode')?.trim() ?? 'run';
  const mode = MODES.find((name) => name === asked);
  if (mode === undefined) problems.push(`mode: expected one of ${MODES.join(', ')}, got ${shown(asked)}`);

  const commands = COMMANDS_OF_MODE[mode ?? 'run-and-publish'];
  const flags: Record<string, Record<string, string>> = {};
  for (const command of commands) flags[command] = {};
  for (const { name, flag, commands: takers } of known) {
    const value = given.get(name);
    if (value === undefined) continue;
    const takenBy = commands.filter((command) => takers.includes(command));
    if (takenBy.length === 0)
      problems.push(`${name}: is no input of mode ${mode}, only of ${takers.join(', ')}`);
    for (const command of takenBy) if (flag !== null) Object.assign(flags[command] ?? {}, { [flag]: value });
  }
  if (given.has('plan') && given.has('plan-file'))
    problems.push('plan and plan-file: give one of them, not both');
  return {
    mode: mode ?? 'run',
    plan: given.get('plan') ?? null,
    apiKey: given.get('api-key')?.trim() ?? null,
    githubToken: given.get('github-token')?.trim() ?? null,
    flags,
    problems,
  };
}

/** The environment without the inputs, which have been read. */
export function withoutInputs(env: Readonly<Record<string, string | undefined>>): typeof env {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith(PREFIX)));
}

const PREFIX = 'INPUT_';
