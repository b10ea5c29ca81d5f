/** Reads the inputs of one step from its environment, as the runner passes them, and reports problems. */

import { didYouMean } from '../config/did-you-mean.ts';
import { shown } from '../config/values/value.ts';
import type { Environment } from '../domain/environment.ts';
import { type Problem, problem } from '../domain/errors/problem.ts';
import { type Warning, warning } from '../domain/warnings/warning.ts';
import type { Federation } from '../ports/network.ts';
import {
  type ActionInput,
  AUDIENCE,
  actionInputs,
  isFilledIn,
  MODES,
  type Mode,
  RUN_DIR,
  type SandboxSetupMode,
  SETUP_MODES,
} from './inputs.ts';

/** Where `run-dir` names the run that there is, and not the folder for a new one. */
const NAMES_RUN: readonly string[] = ['publish', 'resume'];

/** What makes the Claude API trust a job without a key. */
export interface FederationGiven extends Omit<Federation, 'identityToken' | 'onAccessToken'> {
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
  /** The run to publish or continue, unless this step makes it. */
  readonly runDir: string | null;
  /** Values by flag, as given, for each command of the mode. */
  readonly flags: Readonly<Record<string, Record<string, string>>>;
  readonly problems: readonly Problem[];
  /** About inputs that were given by another action's names. */
  readonly warnings: readonly Warning[];
}

/** A runner passes inputs as `INPUT_<NAME>`, in upper case and keeping dashes; an empty one was not given. */
export function readInputs(env: Environment): InputsGiven {
  const known = actionInputs();
  const { given, problems, warnings } = namedInputs(env, known);
  const text = (name: string) => given.get(name)?.trim() ?? null;
  const oneOf = <T extends string>(name: string, values: readonly T[], initial: T): T | null => {
    const asked = text(name) ?? initial;
    const value = values.find((one) => one === asked);
    const said = `${name}: expected one of ${values.join(', ')}, got ${shown(asked)}`;
    if (value === undefined) problems.push(problem('ERR_INVALID_VALUE', said));
    return value ?? null;
  };
  const mode = oneOf('mode', MODES, 'run');
  const sandboxSetup = oneOf('sandbox-setup', SETUP_MODES, 'auto');
  const commands: string[] = mode === null || mode === 'run-and-publish' ? ['run', 'publish'] : [mode];
  const flags: Record<string, Record<string, string>> = Object.fromEntries(commands.map((one) => [one, {}]));
  for (const { name, flag, initial, commands: takers } of known) {
    const value = given.get(name);
    if (value === undefined) continue;
    const takenBy = commands.filter((command) => takers.includes(command));
    const said = `${name}: is not an input of mode ${mode}, only of ${takers.join(', ')}`;
    if (takenBy.length === 0 && value !== initial) problems.push(problem('ERR_INPUT_NOT_TAKEN', said));
    for (const command of takenBy)
      if (flag !== null && !(flag === RUN_DIR && NAMES_RUN.includes(command)))
        Object.assign(flags[command] ?? {}, { [flag]: value });
  }
  if (given.has('plan') && given.has('plan-file'))
    problems.push(problem('ERR_SETTINGS_CONFLICT', 'plan and plan-file: give one of them, not both'));
  const noRun = `${RUN_DIR}: mode ${mode} needs the run directory, such as where its artifact was unpacked`;
  if (mode !== null && NAMES_RUN.includes(mode) && !given.has(RUN_DIR))
    problems.push(problem('ERR_INPUT_MISSING', noRun));
  return {
    mode: mode ?? 'run',
    sandboxSetup: sandboxSetup ?? 'off',
    plan: given.get('plan') ?? null,
    apiKey: text('api-key'),
    federation: federationIn(text, problems),
    githubToken: text('github-token'),
    runDir: text(RUN_DIR),
    flags,
    problems,
    warnings,
  };
}

interface NamedInputs {
  readonly given: Map<string, string>;
  readonly problems: Problem[];
  readonly warnings: Warning[];
}

/** Values by the names in action.yml, with names from other actions translated. */
function namedInputs(env: Environment, known: readonly ActionInput[]): NamedInputs {
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
      const said = `${shown(name).slice(1, -1)}: there is no such input; ${nearest}`;
      problems.push(problem('ERR_UNKNOWN_INPUT', said));
    } else if (value.trim() === '') continue;
    else if (input === name) given.set(name, value);
    else borrowed.push([name, input, value]);
  }
  const warnings: Warning[] = [];
  for (const [name, input, value] of borrowed) {
    // The runner passes defaults like given values.
    const mayBeDefault = given.get(input) === initial.get(input) || isFilledIn(initial.get(input) ?? '');
    if (given.has(input) && !mayBeDefault) {
      const said = `${name}: is called ${input} here, and ${input} has another value already; give one of them`;
      problems.push(problem('ERR_SETTINGS_CONFLICT', said));
      continue;
    }
    given.set(input, value);
    const said = `${name}: taken as ${input}, which is its name here`;
    warnings.push(warning('WARN_INPUT_OF_ANOTHER_ACTION', said));
  }
  return { given, problems, warnings };
}

/** Null, with a problem, if it is not complete. */
function federationIn(of: (name: string) => string | null, problems: Problem[]): FederationGiven | null {
  const ruleId = of('federation-rule-id');
  const organizationId = of('organization-id');
  const serviceAccountId = of('service-account-id');
  const workspaceId = of('workspace-id');
  if ([ruleId, organizationId, serviceAccountId, workspaceId].every((id) => id === null)) return null;
  if (ruleId === null || organizationId === null) {
    const lacking = 'federation-rule-id and organization-id: a login without a key needs both';
    problems.push(problem('ERR_INPUT_MISSING', lacking));
    return null;
  }
  if (of('api-key') !== null) {
    const both = 'api-key and federation-rule-id: give one of them, not both';
    problems.push(problem('ERR_SETTINGS_CONFLICT', both));
    return null;
  }
  const audience = of('oidc-audience') ?? AUDIENCE;
  return { ruleId, organizationId, serviceAccountId, workspaceId, audience };
}

/** The environment without the inputs, which have already been read. */
export function withoutInputs(env: Environment): typeof env {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith(PREFIX)));
}

const PREFIX = 'INPUT_';

const INPUT_OF: Readonly<Record<string, string>> = {
  token: 'github-token',
  prompt: 'plan',
  'direct-prompt': 'plan',
  'prompt-file': 'plan-file',
  'anthropic-api-key': 'api-key',
  'claude-api-key': 'api-key',
  'max-turns': 'max-iterations',
  'base-branch': 'base',
  'push-to-fork': 'head-repo',
  labels: 'label',
  reviewers: 'reviewer',
  'team-reviewers': 'team-reviewer',
  assignees: 'assignee',
};

/**
 * The input for such a name, also with underscores: `anthropic_api_key`, `github_token`. Null if there is no such name, or if its
 * values mean something else here.
 */
function inputNamed(name: string, known: ReadonlySet<string>): string | null {
  const dashed = name.replaceAll('_', '-');
  if (known.has(dashed)) return dashed;
  return Object.hasOwn(INPUT_OF, dashed) ? (INPUT_OF[dashed] ?? null) : null;
}
