import { describe, expect, test } from 'vitest';
import { actionInputs } from '../../src/action/inputs.ts';
import { readInputs, withoutInputs } from '../../src/action/read-inputs.ts';
import { settingEntries } from '../../src/config/schema.ts';
import { isSecretName } from '../../src/domain/secrets/token-formats.ts';

const variable = (name: string) => `INPUT_${name.toUpperCase()}`;

describe('the inputs', () => {
  test('are the settings of run and publish by name, except message and output, and those of the action itself', () => {
    const names = actionInputs().map(({ name }) => name);
    const settings = settingEntries().map(({ flag }) => flag);
    expect(new Set(names).size).toBe(names.length);
    expect(settings.filter((flag) => !names.includes(flag))).toEqual([
      'message',
      'older-than',
      'since',
      'by',
      'output',
    ]);
    expect(names.filter((name) => !settings.includes(name)).sort()).toEqual([
      'api-key',
      'federation-rule-id',
      'github-token',
      'mode',
      'oidc-audience',
      'organization-id',
      'plan-file',
      'sandbox-setup',
      'service-account-id',
      'workspace-id',
    ]);
    for (const name of names) expect(name).toMatch(/^[a-z]+(-[a-z0-9]+)*$/);
  });

  test('that hold secrets are those that the environment is wiped of', () => {
    const secret = actionInputs().filter(({ name }) => isSecretName(variable(name)));
    expect(secret.map(({ name }) => name)).toEqual(['api-key', 'github-token']);
  });
});

describe('reading them', () => {
  test('treats an empty one as absent, and gives each command the ones it accepts', () => {
    const env = {
      INPUT_MODE: 'run-and-publish',
      INPUT_PLAN: '# Do it\n',
      'INPUT_MAX-ITERATIONS': '3',
      'INPUT_PLAN-FILE': '',
      INPUT_LABEL: 'bot\nurgent',
      'INPUT_RUN-DIR': '/tmp/run',
      'INPUT_API-KEY': ' key\n',
      INPUT_DEADLINE: ' ',
      OTHER: 'kept',
    };
    expect(readInputs(env)).toEqual({
      mode: 'run-and-publish',
      sandboxSetup: 'auto',
      plan: '# Do it\n',
      apiKey: 'key',
      federation: null,
      githubToken: null,
      flags: {
        run: { 'max-iterations': '3', 'run-dir': '/tmp/run' },
        publish: { label: 'bot\nurgent' },
      },
      runDir: '/tmp/run',
      problems: [],
      warnings: [],
    });
    expect(withoutInputs(env)).toEqual({ OTHER: 'kept' });
  });

  test('to resume, takes the run and what it is permitted today', () => {
    const env = { INPUT_MODE: 'resume', 'INPUT_RUN-DIR': 'r', 'INPUT_MAX-COST-USD': '5', INPUT_CACHE: 'npm' };
    const { runDir, flags, problems } = readInputs(env);
    expect({ runDir, flags, problems }).toEqual({
      runDir: 'r',
      flags: { resume: { 'max-cost-usd': '5', cache: 'npm' } },
      problems: [],
    });
  });

  test('names the file of a plan as the setting does', () => {
    expect(readInputs({ 'INPUT_PLAN-FILE': 'plan.md' }).flags).toEqual({ run: { plan: 'plan.md' } });
  });

  test('accepts the names of other actions for them, and says what they are called here', () => {
    const env = {
      INPUT_MODE: 'run-and-publish',
      INPUT_PROMPT: 'Do it',
      INPUT_ANTHROPIC_API_KEY: 'key',
      INPUT_TOKEN: 'ghs_1',
      INPUT_LABELS: 'bot, urgent',
      'INPUT_TEAM-REVIEWERS': 'core',
      INPUT_MAX_TURNS: '3',
      'INPUT_VERIFY-IN': 'checkout',
      INPUT_VERIFY_IN: 'worktree',
    };
    const read = readInputs(env);
    expect([read.plan, read.apiKey, read.githubToken, read.problems]).toEqual(['Do it', 'key', 'ghs_1', []]);
    expect(read.flags).toEqual({
      run: { 'max-iterations': '3', 'verify-in': 'worktree' },
      publish: { label: 'bot, urgent', 'team-reviewer': 'core' },
    });
    expect(read.warnings).toEqual([
      '[WARN_INPUT_OF_ANOTHER_ACTION] prompt: taken as plan, which is its name here',
      '[WARN_INPUT_OF_ANOTHER_ACTION] anthropic_api_key: taken as api-key, which is its name here',
      '[WARN_INPUT_OF_ANOTHER_ACTION] token: taken as github-token, which is its name here',
      '[WARN_INPUT_OF_ANOTHER_ACTION] labels: taken as label, which is its name here',
      '[WARN_INPUT_OF_ANOTHER_ACTION] team-reviewers: taken as team-reviewer, which is its name here',
      '[WARN_INPUT_OF_ANOTHER_ACTION] max_turns: taken as max-iterations, which is its name here',
      '[WARN_INPUT_OF_ANOTHER_ACTION] verify_in: taken as verify-in, which is its name here',
    ]);
    expect(isSecretName('INPUT_TOKEN') && isSecretName('INPUT_ANTHROPIC_API_KEY')).toBe(true);
  });

  test('a token given under another name takes precedence over the default one of the job', () => {
    const read = readInputs({ 'INPUT_GITHUB-TOKEN': 'of the job', INPUT_TOKEN: 'of an app' });
    expect([read.githubToken, read.problems]).toEqual(['of an app', []]);
  });

  test.each([
    [
      { INPUT_PROMPT: 'a', INPUT_PLAN: 'b' },
      'prompt: is called plan here, and plan has another value already; give one of them',
    ],
    [{ INPUT_CONSTRUCTOR: 'a' }, 'constructor: there is no such input; action.yml lists them all'],
    [{ INPUT_PROTCT: 'x' }, 'protct: there is no such input; the nearest is protect'],
    [
      { 'INPUT_MAX-TOKENS': '5000' },
      'max-tokens: there is no such input; the nearest are max-output-tokens and max-total-tokens',
    ],
    [
      { INPUT_MODE: 'both' },
      'mode: expected one of prepare, run, resume, publish, run-and-publish, got "both"',
    ],
    [{ 'INPUT_SANDBOX-SETUP': 'yes' }, 'sandbox-setup: expected one of auto, off, got "yes"'],
    [{ INPUT_PLAN: 'a', 'INPUT_PLAN-FILE': 'b' }, 'plan and plan-file: give one of them, not both'],
    [
      { INPUT_MODE: 'resume', 'INPUT_MAX-COST-USD': '5' },
      'run-dir: mode resume needs the run directory, such as where its artifact was unpacked',
    ],
    [
      { INPUT_MODE: 'resume', 'INPUT_RUN-DIR': 'r', INPUT_MODEL: 'a' },
      'model: is not an input of mode resume, only of run',
    ],
    [{ INPUT_LABEL: 'bot' }, 'label: is not an input of mode run, only of publish'],
    [
      { INPUT_MODE: 'publish', 'INPUT_RUN-DIR': 'r', INPUT_PLAN: 'a' },
      'plan: is not an input of mode publish, only of run',
    ],
  ])('%o is told', (env, problem) => {
    expect(readInputs(env).problems.map(({ message }) => message)).toEqual([problem]);
  });
});
