/**
 * The inputs of the action. Settings among them derive from the settings of `run` and `publish`; the others are defined
 * here.
 */

import { defaultProvider } from '../adapters/providers/registry.ts';
import { SETTINGS_TAKEN } from '../commands/settings-taken.ts';
import { didYouMean } from '../config/did-you-mean.ts';
import { defaultText, NAME_LISTS, type SettingEntry, settingEntries } from '../config/schema.ts';
import { shown } from '../config/values/value.ts';
import { type Problem, problem } from '../domain/errors/problem.ts';
import { type Warning, warning } from '../domain/warnings/warning.ts';
import { inputNamed } from './aliases.ts';

/** What one step can do, according to its `mode` input. */
export const MODES = ['prepare', 'run', 'resume', 'publish', 'run-and-publish', 'locate'] as const;
/** One of `MODES`. */
export type Mode = (typeof MODES)[number];

const SETUP_MODES = ['auto', 'off'] as const;
/** One of the values of `sandbox-setup`. */
export type SandboxSetupMode = (typeof SETUP_MODES)[number];

/** One input of `action.yml`: its description, its default and the flag it becomes. */
export interface ActionInput {
  readonly name: string;
  readonly description: string;
  /** Empty: absent. */
  readonly initial: string;
  /** The flag it corresponds to; null for the action's own inputs. */
  readonly flag: string | null;
  /** The commands that accept it. */
  readonly commands: readonly string[];
}

/** Settings left out as inputs: a message is a one-line plan, and the log is no place for a machine-readable document. */
const LEFT_OUT = ['message', 'output'];

const COMMANDS_OF_MODE: Readonly<Record<Mode, readonly string[]>> = {
  prepare: ['prepare'],
  run: ['run'],
  resume: ['resume'],
  publish: ['publish'],
  'run-and-publish': ['run', 'publish'],
  locate: ['locate'],
};

/** An expression that the runner fills in, so that the value of this default is not known here. */
// biome-ignore lint/suspicious/noTemplateCurlyInString: it is one of GitHub's expressions.
const JOB_TOKEN = '${{ github.token }}';

const RUN_DIR = 'run-dir';
/** Where `run-dir` names the run that there is, and not the folder for a new one. */
const NAMES_RUN: readonly string[] = ['publish', 'resume'];
const AUDIENCE = defaultProvider.federation?.audience ?? '';

const OWN: readonly Omit<ActionInput, 'flag'>[] = [
  {
    name: 'mode',
    description:
      'prepare: before a run, check that GitHub would permit its publication, and say on the issue that work begins. run: carry out the plan. resume: continue a run that a job was too short for, from its run directory. publish: make a pull request of a run, without a model and without a checkout. run-and-publish: both in one job, which has both secrets. locate: say which pull request of patchsmith the event is about, so that its head can be checked out and continued',
    initial: 'run',
    commands: ['prepare', 'run', 'resume', 'publish', 'locate'],
  },
  {
    name: 'plan',
    description: 'The plan itself, in Markdown with optional YAML front matter',
    initial: '',
    commands: ['run'],
  },
  {
    name: 'api-key',
    description:
      'Key of the model provider. Default: its variable in the environment, such as ANTHROPIC_API_KEY or OPENAI_API_KEY',
    initial: '',
    commands: ['run', 'resume'],
  },
  {
    name: 'federation-rule-id',
    description:
      "In place of a key: the federation rule (fdrl_…) by which the Claude API trusts this job's identity. Needs organization-id and the permission id-token: write",
    initial: '',
    commands: ['run', 'resume'],
  },
  {
    name: 'organization-id',
    description: 'Organization of the federation rule in the Claude Console',
    initial: '',
    commands: ['run', 'resume'],
  },
  {
    name: 'service-account-id',
    description: 'Service account (svac_…) that the federation rule must lead to',
    initial: '',
    commands: ['run', 'resume'],
  },
  {
    name: 'workspace-id',
    description: 'Workspace, for a federation rule that holds for several',
    initial: '',
    commands: ['run', 'resume'],
  },
  {
    name: 'oidc-audience',
    description: 'Audience of the identity token, as the federation rule expects it',
    initial: AUDIENCE,
    commands: ['run', 'resume'],
  },
  {
    name: 'sandbox-setup',
    description:
      'auto: on a Linux runner that GitHub hosts, install bubblewrap and load an AppArmor profile for it, where commands could not be contained otherwise; elsewhere nothing is changed, and the run says what to type. off: never (auto|off)',
    initial: 'auto',
    commands: ['run', 'resume'],
  },
  {
    name: 'github-token',
    description:
      'Token for GitHub: to publish, and to read an issue and who wrote it. It replaces GITHUB_TOKEN and GH_TOKEN of the environment. Default: the token of the job',
    initial: JOB_TOKEN,
    commands: ['prepare', 'run', 'resume', 'publish', 'locate'],
  },
];

/** All inputs in the order of action.yml. */
export function actionInputs(): ActionInput[] {
  const settings = settingEntries().flatMap((entry) => {
    // It also names the repository that is published to.
    const commands = Object.entries(SETTINGS_TAKEN).flatMap(([name, taken]) =>
      taken.includes(entry.key) || (entry.flag === RUN_DIR && name !== 'prepare') ? [name] : [],
    );
    return commands.length === 0 || LEFT_OUT.includes(entry.flag) ? [] : [settingInput(entry, commands)];
  });
  return [...OWN.map((input) => ({ ...input, flag: null })), ...settings];
}

/** Defaults that differ from the setting's: nobody types an input, so the safer choice costs nothing. */
const INITIAL: Readonly<Record<string, string>> = { 'verify-in': 'checkout' };

/** What an input means besides, in the modes that are no command of their own. */
const MORE: Readonly<Record<string, string>> = {
  [RUN_DIR]: '. In the modes publish and resume: that of the run, such as an unpacked artifact',
  plan: '. In the mode prepare also several, one a line',
};

function settingInput(entry: SettingEntry, commands: readonly string[]): ActionInput {
  const { flag, help, value, repeatable } = entry;
  const more = MORE[flag] ?? '';
  const several = NAME_LISTS.includes(entry.key) ? 'with commas or one a line' : 'one a line';
  const form = value === undefined ? 'true or false' : repeatable ? `${value}, ${several}` : value;
  return {
    name: flag === 'plan' ? 'plan-file' : flag,
    description: `${help.replace('; - reads stdin', '')}${more} (${form}). Default: ${INITIAL[flag] ?? defaultText(entry)}`,
    initial: INITIAL[flag] ?? '',
    flag,
    commands,
  };
}

/** What makes the Claude API trust a job without a key. */
export interface FederationGiven {
  readonly ruleId: string;
  readonly organizationId: string;
  readonly serviceAccountId: string | null;
  readonly workspaceId: string | null;
  readonly audience: string;
}

/** The inputs of one step, read and validated. */
export interface InputsGiven {
  readonly mode: Mode;
  /** Whether the action may make the sandbox available. */
  readonly sandboxSetup: SandboxSetupMode;
  /** The text of the plan; null when it comes from elsewhere. */
  readonly plan: string | null;
  readonly apiKey: string | null;
  readonly federation: FederationGiven | null;
  readonly githubToken: string | null;
  /** The run to publish or to carry on, unless it is the one that this step makes. */
  readonly runDir: string | null;
  /** Values by flag, as given, for each command of the mode. */
  readonly flags: Readonly<Record<string, Record<string, string>>>;
  readonly problems: readonly Problem[];
  /** About inputs that were given by another action's names. */
  readonly warnings: readonly Warning[];
}

/** A runner passes inputs as `INPUT_<NAME>`, in upper case and keeping dashes; an empty one was not given. */
export function readInputs(env: Readonly<Record<string, string | undefined>>): InputsGiven {
  const known = actionInputs();
  const { given, problems, warnings } = namedInputs(env, known);
  const asked = given.get('mode')?.trim() ?? 'run';
  const mode = MODES.find((name) => name === asked);
  if (mode === undefined)
    problems.push(
      problem('ERR_INVALID_VALUE', `mode: expected one of ${MODES.join(', ')}, got ${shown(asked)}`),
    );
  const setupAsked = given.get('sandbox-setup')?.trim() ?? 'auto';
  const sandboxSetup = SETUP_MODES.find((name) => name === setupAsked);
  if (sandboxSetup === undefined)
    problems.push(
      problem(
        'ERR_INVALID_VALUE',
        `sandbox-setup: expected one of ${SETUP_MODES.join(', ')}, got ${shown(setupAsked)}`,
      ),
    );

  const commands = COMMANDS_OF_MODE[mode ?? 'run-and-publish'];
  const flags: Record<string, Record<string, string>> = {};
  for (const command of commands) flags[command] = {};
  for (const { name, flag, commands: takers } of known) {
    const value = given.get(name);
    if (value === undefined) continue;
    const takenBy = commands.filter((command) => takers.includes(command));
    const isDefault = value === known.find((input) => input.name === name)?.initial;
    if (takenBy.length === 0 && !isDefault)
      problems.push(
        problem(
          'ERR_INPUT_NOT_TAKEN',
          `${name}: is not an input of mode ${mode}, only of ${takers.join(', ')}`,
        ),
      );
    for (const command of takenBy)
      if (flag !== null && !(flag === RUN_DIR && NAMES_RUN.includes(command)))
        Object.assign(flags[command] ?? {}, { [flag]: value });
  }
  if (given.has('plan') && given.has('plan-file'))
    problems.push(problem('ERR_SETTINGS_CONFLICT', 'plan and plan-file: give one of them, not both'));
  if (mode !== undefined && NAMES_RUN.includes(mode) && !given.has(RUN_DIR))
    problems.push(
      problem(
        'ERR_INPUT_MISSING',
        `${RUN_DIR}: mode ${mode} needs the run directory, such as where its artifact was unpacked`,
      ),
    );
  const federation = federationIn(given);
  if (federation !== null && 'code' in federation) problems.push(federation);
  return {
    mode: mode ?? 'run',
    sandboxSetup: sandboxSetup ?? 'off',
    plan: given.get('plan') ?? null,
    apiKey: given.get('api-key')?.trim() ?? null,
    federation: federation !== null && 'code' in federation ? null : federation,
    githubToken: given.get('github-token')?.trim() ?? null,
    runDir: given.get(RUN_DIR)?.trim() ?? null,
    flags,
    problems,
    warnings,
  };
}

/** Values by the names of action.yml, where one stands for another action's name as well. */
function namedInputs(
  env: Readonly<Record<string, string | undefined>>,
  known: readonly ActionInput[],
): { given: Map<string, string>; problems: Problem[]; warnings: Warning[] } {
  const names = new Set(known.map(({ name }) => name));
  const initial = new Map(known.map((input) => [input.name, input.initial]));
  const given = new Map<string, string>();
  const borrowed: [name: string, input: string, value: string][] = [];
  const problems: Problem[] = [];
  for (const [variable, value = ''] of Object.entries(env)) {
    if (!variable.startsWith(PREFIX)) continue;
    const name = variable.slice(PREFIX.length).toLowerCase();
    const input = names.has(name) ? name : inputNamed(name, names);
    if (input === null) {
      const nearest = didYouMean(name, [...names], 'action.yml lists them all');
      problems.push(
        problem('ERR_UNKNOWN_INPUT', `${shown(name).slice(1, -1)}: there is no such input; ${nearest}`),
      );
    } else if (value.trim() === '') continue;
    else if (input === name) given.set(name, value);
    else borrowed.push([name, input, value]);
  }
  const warnings: Warning[] = [];
  for (const [name, input, value] of borrowed) {
    // The runner passes on defaults like what was given.
    const mayBeDefault = given.get(input) === initial.get(input) || initial.get(input) === JOB_TOKEN;
    if (given.has(input) && !mayBeDefault)
      problems.push(
        problem(
          'ERR_SETTINGS_CONFLICT',
          `${name}: is called ${input} here, and ${input} has another value already; give one of them`,
        ),
      );
    else {
      given.set(input, value);
      warnings.push(
        warning('WARN_INPUT_OF_ANOTHER_ACTION', `${name}: taken as ${input}, which is its name here`),
      );
    }
  }
  return { given, problems, warnings };
}

function federationIn(given: ReadonlyMap<string, string>): FederationGiven | Problem | null {
  const of = (name: string) => given.get(name)?.trim() ?? null;
  const ruleId = of('federation-rule-id');
  const organizationId = of('organization-id');
  const serviceAccountId = of('service-account-id');
  const workspaceId = of('workspace-id');
  if ([ruleId, organizationId, serviceAccountId, workspaceId].every((id) => id === null)) return null;
  if (ruleId === null || organizationId === null)
    return problem(
      'ERR_INPUT_MISSING',
      'federation-rule-id and organization-id: a login without a key needs both',
    );
  if (given.has('api-key'))
    return problem('ERR_SETTINGS_CONFLICT', 'api-key and federation-rule-id: give one of them, not both');
  const audience = of('oidc-audience') ?? AUDIENCE;
  return { ruleId, organizationId, serviceAccountId, workspaceId, audience };
}

/** The environment without the inputs, which have already been read. */
export function withoutInputs(env: Readonly<Record<string, string | undefined>>): typeof env {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith(PREFIX)));
}

const PREFIX = 'INPUT_';
