/**
 * Which inputs the action has. Settings among them derive from the settings of `run` and `publish`; the others are defined
 * here.
 */

import { defaultProvider } from '../adapters/providers/registry.ts';
import { defaultText, type SettingEntry, settingEntries, settingsOf } from '../config/schema.ts';

/** What one step can do, according to its `mode` input. */
export const MODES = ['prepare', 'run', 'resume', 'publish', 'run-and-publish'] as const;
/** One of `MODES`. */
export type Mode = (typeof MODES)[number];

/** Those that have a command of their name, or are one of their own. */
const COMMANDS_OF_MODES = MODES.filter((mode) => mode !== 'run-and-publish');

/** The steps allowed to make the sandbox available. */
export const SETUP_MODES = ['auto', 'off'] as const;
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

/** An expression that the runner fills in, so that the value of this default is not known here. */
// biome-ignore lint/suspicious/noTemplateCurlyInString: it is one of GitHub's expressions.
const JOB_TOKEN = '${{ github.token }}';

/** The input that names the run directory. */
export const RUN_DIR = 'run-dir';
/** What the identity token of a job is made for, unless an input says otherwise. */
export const AUDIENCE = defaultProvider.federation?.audience ?? '';

const RUNS: readonly string[] = ['run', 'resume'];

function own(name: string, commands: readonly string[], description: string, initial = ''): ActionInput {
  return { name, description, initial, flag: null, commands };
}

const OWN: readonly ActionInput[] = [
  own(
    'mode',
    COMMANDS_OF_MODES,
    'prepare: before a run, check that GitHub would permit its publication, record the round if a pull request is continued, and say on the issue that work starts. run: carry out the plan. resume: continue, from its run directory, a run that was cut off by the time limit of the job. publish: make a pull request from a run, without a model and without a checkout. run-and-publish: both in one job, which has both secrets',
    'run',
  ),
  own('plan', ['run'], 'The plan itself, in Markdown with optional YAML front matter'),
  own(
    'api-key',
    RUNS,
    'Key of the model provider. Default: its variable in the environment, such as ANTHROPIC_API_KEY or OPENAI_API_KEY',
  ),
  own(
    'federation-rule-id',
    RUNS,
    "In place of a key: the federation rule (fdrl_…) by which the Claude API trusts this job's identity. Needs organization-id and the permission id-token: write",
  ),
  own('organization-id', RUNS, 'Organization of the federation rule in the Claude Console'),
  own('service-account-id', RUNS, 'Service account (svac_…) that the federation rule must lead to'),
  own('workspace-id', RUNS, 'Workspace, if the federation rule covers several'),
  own('oidc-audience', RUNS, 'Audience of the identity token, as the federation rule expects it', AUDIENCE),
  own(
    'sandbox-setup',
    RUNS,
    'auto: on a GitHub-hosted Linux runner, install bubblewrap and load an AppArmor profile for it if commands could not be sandboxed otherwise; on other runners nothing is changed, and the run prints the commands to type. off: never (auto|off)',
    'auto',
  ),
  own(
    'github-token',
    COMMANDS_OF_MODES,
    'Token for GitHub: to publish, and to read an issue and who wrote it. It replaces GITHUB_TOKEN and GH_TOKEN of the environment. Default: the token of the job',
    JOB_TOKEN,
  ),
];

/** All inputs in the order of action.yml. */
export function actionInputs(): ActionInput[] {
  const settings = settingEntries().flatMap((entry) => {
    // It also names the repository that is published to.
    const commands = COMMANDS_OF_MODES.filter(
      (name) => settingsOf(name).includes(entry.key) || (entry.flag === RUN_DIR && name !== 'prepare'),
    );
    return commands.length === 0 || LEFT_OUT.includes(entry.flag) ? [] : [settingInput(entry, commands)];
  });
  return [...OWN, ...settings];
}

/** For this default, the runner passes a different text from the one in action.yml. */
export function isFilledIn(initial: string): boolean {
  return initial === JOB_TOKEN;
}

/** Defaults that differ from the setting's: inputs are not typed by hand, so the safer default costs nothing. */
const INITIAL: Readonly<Record<string, string>> = { 'verify-in': 'checkout' };

/** Additional meaning of an input in modes that are not commands themselves. */
const MORE: Readonly<Record<string, string>> = {
  [RUN_DIR]: '. In the modes publish and resume: that of the run, such as an unpacked artifact',
  plan: '. In the mode prepare also several, one a line',
};

function settingInput(entry: SettingEntry, commands: readonly string[]): ActionInput {
  const { flag, help, value, repeatable } = entry;
  const more = MORE[flag] ?? '';
  const several = repeatable === 'commas' ? 'with commas or one a line' : 'one a line';
  const form = value === undefined ? 'true or false' : repeatable ? `${value}, ${several}` : value;
  return {
    name: flag === 'plan' ? 'plan-file' : flag,
    description: `${help.replace('; - reads stdin', '')}${more} (${form}). Default: ${INITIAL[flag] ?? defaultText(entry)}`,
    initial: INITIAL[flag] ?? '',
    flag,
    commands,
  };
}
