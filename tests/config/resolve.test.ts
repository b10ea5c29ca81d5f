import { describe, expect, test } from 'vitest';
import { unusedPrices } from '../../src/config/contradictions.ts';
import { resolveSettings, type SettingInputs } from '../../src/config/resolve.ts';
import type { Settings } from '../../src/config/schema.ts';
import { settingEntries } from '../../src/config/schema.ts';
import { problemLine } from '../../src/domain/errors/problem.ts';

const resolve = (inputs: Partial<SettingInputs>) =>
  resolveSettings({ flags: {}, env: {}, file: null, ...inputs });

const file = (values: Record<string, unknown>, lines: Record<string, number> = {}) => ({
  file: { values, lines },
});

function settingsOf(inputs: Partial<SettingInputs>): Settings {
  const resolved = resolve(inputs);
  if (resolved.status === 'failed') throw new Error(resolved.problems.map(problemLine).join('\n'));
  return resolved.settings;
}

function problemsOf(inputs: Partial<SettingInputs>): string[] {
  const resolved = resolve(inputs);
  return resolved.status === 'failed' ? resolved.problems.map(({ message }) => message) : [];
}

test('an empty variable is an absent one', () => {
  expect(settingsOf({ env: { PATCHSMITH_MAX_ITERATIONS: '' } }).maxIterations).toBe(25);
});

test('an invalid value is reported even if a flag overrides it', () => {
  const flags = { 'max-iterations': '3' };
  expect(problemsOf({ flags, env: { PATCHSMITH_MAX_ITERATIONS: 'many' } })).toEqual([
    'PATCHSMITH_MAX_ITERATIONS: expected a whole number of at least 1, got "many"',
  ]);
});

describe('values', () => {
  test.each<[string, unknown, Partial<Settings>]>([
    ['deadline', '90s', { deadlineMs: 90_000 }],
    ['deadline', '30m', { deadlineMs: 1_800_000 }],
    ['deadline', '1h', { deadlineMs: 3_600_000 }],
    ['deadline', '1.5h', { deadlineMs: 5_400_000 }],
    ['deadline', '0.5', { deadlineMs: 500 }],
    ['deadline', '45', { deadlineMs: 45_000 }],
    ['deadline', 45, { deadlineMs: 45_000 }],
    ['max-total-tokens', '1000', { maxTotalTokens: 1_000 }],
    ['max-cost-usd', '2.50', { maxCostUsd: 2.5 }],
    ['verify', ['npm test', 'npm run lint'], { verify: ['npm test', 'npm run lint'] }],
    ['verify', 'npm test\n\n npm run lint \n', { verify: ['npm test', 'npm run lint'] }],
    ['quiet', true, { quiet: true }],
    ['quiet', 'yes', { quiet: true }],
    ['quiet', '0', { quiet: false }],
    ['fix-rounds', '0', { fixRounds: 0 }],
    ['effort', 'xhigh', { effort: 'xhigh' }],
    ['base-url', 'https://example.com/api/', { baseUrl: 'https://example.com/api' }],
    [
      'base-url',
      'https://me.openai.azure.com/openai/deployments/x/?api-version=2024-10-21',
      { baseUrl: 'https://me.openai.azure.com/openai/deployments/x?api-version=2024-10-21' },
    ],
    ['base-url', 'http://127.0.0.1:8080', { baseUrl: 'http://127.0.0.1:8080' }],
    ['base-url', 'http://[::1]:8080/', { baseUrl: 'http://[::1]:8080' }],
    [
      'price',
      'input=2,output=10,cache-read=0.1,cache-write=2.5,cache-write-1h=4',
      {
        price: [
          {
            model: null,
            price: { input: 2, output: 10, cacheRead: 0.1, cacheWrite: 2.5, cacheWrite1h: 4 },
          },
        ],
      },
    ],
    [
      'price',
      'bedrock/eu.claude-v1:0:input=2,output=10,cache-read=0,cache-write=0,cache-write-1h=0\n',
      {
        price: [
          {
            model: 'bedrock/eu.claude-v1:0',
            price: { input: 2, output: 10, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0 },
          },
        ],
      },
    ],
  ])('--%s %j is taken', (flag, value, expected) => {
    expect(settingsOf({ flags: { [flag]: value } })).toEqual({ ...settingsOf({}), ...expected });
  });

  test.each<[string, unknown]>([
    ['deadline', 'soon'],
    ['deadline', '0'],
    ['deadline', '-5m'],
    ['deadline', '1d'],
    ['deadline', '501h'],
    ['deadline', '1e3'],
    ['max-iterations', '0'],
    ['max-iterations', '2.5'],
    ['max-iterations', '0x10'],
    ['max-iterations', '99999999999999999999'],
    ['max-iterations', true],
    ['max-output-tokens', '8191'],
    ['max-cost-usd', '0'],
    ['max-cost-usd', 'Infinity'],
    ['max-cost-usd', '$2'],
    ['effort', 'huge'],
    ['sandbox', 'OFF'],
    ['quiet', 'perhaps'],
    ['model', '  '],
    ['model', ['a', 'b']],
    ['verify', []],
    ['verify', 'true'],
    ['verify', ['npm test', 'echo ok']],
    ['base-url', 'http://example.com'],
    ['base-url', 'http://127.0.0.1.example.com'],
    ['base-url', 'http://localhost@example.com'],
    ['base-url', 'https://user:pass@example.com'],
    ['base-url', 'https://example.com/?q=1'],
    ['base-url', 'https://example.com/?api-version=1&q=1'],
    ['base-url', 'ftp://example.com'],
    ['base-url', 'example.com'],
    ['patch', '-'],
    ['price', 'input=2,output=10'],
    ['price', 'input=2,output=10,cache-read=0.1,cache-write=2.5,cache-write-1h=4,bonus=1'],
    ['price', 'input=2,input=3,output=10,cache-read=0.1,cache-write=2.5,cache-write-1h=4'],
    ['price', 'input=-2,output=10,cache-read=0.1,cache-write=2.5,cache-write-1h=4'],
    ['price', 3],
  ])('--%s %j is refused by name', (flag, value) => {
    const problems = problemsOf({ flags: { [flag]: value } });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(new RegExp(`^--${flag}: .+`));
  });

  test('a refused address is not repeated, since it can hold a password', () => {
    expect(problemsOf({ env: { ANTHROPIC_BASE_URL: 'https://me:hunter22@example.com' } })).toEqual([
      "ANTHROPIC_BASE_URL: expected an http(s) address without user name or query (but Azure's ?api-version=)",
    ]);
  });

  test('plain http to another host has to be permitted', () => {
    const flags = { 'base-url': 'http://gateway.cluster.local:8080/' };
    expect(problemsOf({ flags })).toEqual([
      '--base-url: plain http to another host, where the key could be read on the way; use https, or permit it with --allow-insecure-base-url',
    ]);
    expect(problemsOf({ flags: { ...flags, 'allow-insecure-base-url': true } })).toEqual([]);
    expect(problemsOf({ flags: { 'base-url': 'http://127.0.0.1:8080' } })).toEqual([]);
    expect(
      problemsOf({ flags: { 'github-api-url': 'http://ghes.example', 'allow-insecure-base-url': true } }),
    ).toHaveLength(1);
  });

  test('what a problem quotes is short and cannot steer a terminal', () => {
    const [problem = ''] = problemsOf(file({ effort: `\u001b[2J\u009b\u202e${'x'.repeat(200)}` }));
    expect(problem).toMatch(/^\.patchsmith\.yml: effort: expected one of .+…$/);
    expect(problem).not.toMatch(/[\x00-\x1f\x7f-\x9f\u202e]/);
    expect(problem.length).toBeLessThan(200);
  });
});

test('a name without its end is taken for the only one that begins with it', () => {
  const flags = { 'max-cost': '1', 'verify-time': '1m' };
  expect(problemsOf({ flags })).toEqual([
    '--max-cost: there is no such flag; the nearest is --max-cost-usd',
    '--verify-time: there is no such flag; the nearest is --verify-timeout',
  ]);
});

test('a key of the project file without a value, and an entry without text, are answered in words', () => {
  expect(problemsOf(file({ verify: null, protect: [''] }, { verify: 2, protect: 4 }))).toEqual([
    '.patchsmith.yml:2: verify: there is no value; write one, or leave the line out',
    '.patchsmith.yml:4: protect: the glob "" has to have 1 to 1000 characters',
  ]);
  expect(problemsOf({ flags: { label: [' '], principles: [''] } })).toEqual([
    '--principles: an entry must not be empty',
    '--label: an entry must not be empty',
  ]);
});

test('labels, people and teams can have commas or line breaks between them, and people their @', () => {
  const flags = {
    label: ['bot, needs review', 'urgent,'],
    reviewer: 'octocat\n @hubot, mona',
    'team-reviewer': '@octo/core,docs',
  };
  expect(settingsOf({ flags, env: { PATCHSMITH_ASSIGNEE: 'octocat,hubot' } })).toMatchObject({
    labels: ['bot', 'needs review', 'urgent'],
    reviewers: ['octocat', 'hubot', 'mona'],
    teamReviewers: ['octo/core', 'docs'],
    assignees: ['octocat', 'hubot'],
  });
  expect(problemsOf({ flags: { 'team-reviewer': 'a/b/c', label: ',' } })).toEqual([
    '--label: an entry must not be empty',
    '--team-reviewer: expected the slug of a team, also as ORGANISATION/SLUG, got "a/b/c"',
  ]);
});

test('a glob that can name no path of the repository is an error', () => {
  const why = '"..": it names paths below the root of the repository';
  expect(problemsOf({ flags: { protect: '../secrets' }, env: { PATCHSMITH_ALLOW: 'src/../lib' } })).toEqual([
    `PATCHSMITH_ALLOW: the glob "src/../lib" cannot have ${why}`,
    `--protect: the glob "../secrets" cannot have ${why}`,
  ]);
  const [long = ''] = problemsOf({ flags: { protect: 'x'.repeat(5_000) } });
  expect(long).toMatch(/^--protect: the glob "x{198}… has to have 1 to 1000 characters$/);
});

test('a name that is like none gets no other one as advice', () => {
  expect(
    problemsOf({
      flags: { z: 'x' },
      env: { PATCHSMITH_: '1' },
      ...file({ 'api-key': 'k' }, { 'api-key': 1 }),
    }),
  ).toEqual([
    '--z: there is no such flag; patchsmith help run shows them all',
    expect.stringMatching(/^PATCHSMITH_: there is no such variable; /),
    '.patchsmith.yml:1: there is no setting "api-key"; patchsmith help run shows them all',
  ]);
});

test('the name that could mean one answer or the whole run is an error that names both', () => {
  expect(
    problemsOf({
      flags: { 'max-tokens': '5000' },
      env: { PATCHSMITH_MAX_TOKENS: '5000' },
      ...file({ 'max-tokens': 5000, max_tokens: 5000 }, { 'max-tokens': 1, max_tokens: 2 }),
    }),
  ).toEqual([
    '--max-tokens: there is no such flag; the nearest are --max-output-tokens and --max-total-tokens',
    'PATCHSMITH_MAX_TOKENS: there is no such variable; the nearest are PATCHSMITH_MAX_OUTPUT_TOKENS and PATCHSMITH_MAX_TOTAL_TOKENS',
    '.patchsmith.yml:1: there is no setting "max-tokens"; the nearest are max-output-tokens and max-total-tokens',
    '.patchsmith.yml:2: there is no setting "max_tokens"; the nearest are max-output-tokens and max-total-tokens',
  ]);
});

test('the key and the address of the API have no PATCHSMITH_ names, and the message names theirs', () => {
  expect(problemsOf({ env: { PATCHSMITH_API_KEY: 'k', PATCHSMITH_BASE_URL: 'https://x' } })).toEqual([
    expect.stringContaining('PATCHSMITH_API_KEY: there is no such variable; the nearest is '),
    expect.stringContaining('PATCHSMITH_BASE_URL: there is no such variable; the nearest is '),
  ]);
});

describe('a project file', () => {
  test('may set what loosens nothing', () => {
    const values = {
      model: 'claude-opus-5-5',
      effort: 'high',
      verify: ['npm test'],
      sandbox: 'required',
      deadline: '10m',
      'max-iterations': 10,
      'max-total-tokens': 5_000_000,
      'max-cost-usd': 1.5,
      'if-no-changes': 'error',
    };
    expect(settingsOf(file(values))).toEqual({
      ...settingsOf({}),
      model: 'claude-opus-5-5',
      effort: 'high',
      verify: ['npm test'],
      sandbox: 'required',
      deadlineMs: 600_000,
      maxIterations: 10,
      maxTotalTokens: 5_000_000,
      maxCostUsd: 1.5,
      ifNoChanges: 'error',
    });
  });

  test('may leave out domains that the operator allows, and not add any', () => {
    const flags = { 'allow-domain': ['registry.npmjs.org', '*.example.com'] };
    const narrowed = (list: unknown) => ({ flags, ...file({ 'allow-domain': list }, { 'allow-domain': 3 }) });
    expect(settingsOf({ flags }).allowedDomains).toEqual(['registry.npmjs.org', '*.example.com']);
    expect(settingsOf(narrowed('registry.npmjs.org')).allowedDomains).toEqual(['registry.npmjs.org']);
    expect(settingsOf(narrowed(['a.example.com'])).allowedDomains).toEqual(['a.example.com']);
    expect(settingsOf(narrowed([])).allowedDomains).toEqual([]);
    const refused = (domain: string) =>
      `.patchsmith.yml:3: a project file may only leave out what --allow-domain or PATCHSMITH_ALLOW_DOMAIN allows, and "${domain}" is not one of them`;
    expect(problemsOf(narrowed(['registry.npmjs.org', 'evil.com', 'registry.npmjs.org:22']))).toEqual([
      refused('evil.com'),
      refused('registry.npmjs.org:22'),
    ]);
    const alone = file({ 'allow-domain': 'registry.npmjs.org' }, { 'allow-domain': 3 });
    expect(problemsOf(alone)).toEqual([refused('registry.npmjs.org')]);
    const variable = { PATCHSMITH_ALLOW_DOMAIN: 'registry.npmjs.org\n*.example.com' };
    expect(settingsOf({ ...alone, env: variable }).allowedDomains).toEqual(['registry.npmjs.org']);
  });

  test.each(settingEntries().filter((entry) => entry.file === 'lower' && entry.initial !== null))(
    'may lower $flag and not raise it',
    ({ flag, key, initial }) => {
      const unit = key.endsWith('Ms') ? 1_000 : 1;
      const standard = Number(initial) / unit;
      expect(problemsOf(file({ [flag]: standard }))).toEqual([]);
      expect(problemsOf(file({ [flag]: standard + 1 }))).toEqual([
        expect.stringContaining(`a project file may lower ${flag} below its default, not raise it`),
      ]);
    },
  );

  test('has no inherited names', () => {
    expect(problemsOf(file(JSON.parse('{"__proto__": 1, "constructor": 2}')))).toHaveLength(2);
  });
});

describe('the sandbox default', () => {
  test.each<[Record<string, string>, Settings['sandbox']]>([
    [{ CI: 'true' }, 'required'],
    [{ CI: '1' }, 'required'],
    [{ GITHUB_ACTIONS: 'true' }, 'required'],
    [{ CI: 'false' }, 'auto'],
    [{ CI: '' }, 'auto'],
    [{}, 'auto'],
    [{ CI: 'true', PATCHSMITH_SANDBOX: 'off' }, 'off'],
  ])('with %j is %s', (env, expected) => {
    expect(settingsOf({ env }).sandbox).toBe(expected);
  });
});

const PRICE = 'input=2,output=10,cache-read=0.1,cache-write=2.5,cache-write-1h=4';

describe('settings that do not go together', () => {
  test.each<[Record<string, unknown>, string]>([
    [{ plan: 'p', message: 'm' }, '--plan and --message: give one of them, not both'],
    [{ quiet: true, verbose: true }, '--quiet and --verbose: give one of them, not both'],
    [
      { 'command-timeout': '20m' },
      '--command-timeout: is over --max-command-timeout, which is 600 s (the default of --max-command-timeout)',
    ],
    [{ provider: 'replay' }, '--provider: replay needs a journal or a script; use --recording FILE'],
    [
      { 'fallback-model': 'openai/gpt-5.4', compaction: 'server' },
      '--compaction: openai has no compaction of its own for "gpt-5.4", the fallback model; use --compaction summarize',
    ],
    [
      { provider: 'replay', recording: 'x', 'fallback-model': 'claude-opus-5-5' },
      '--fallback-model: a recording cannot fall back to another model',
    ],
    [
      { 'review-model': 'openai/gpt-5.4', 'max-cost-usd': '1', price: PRICE },
      '--max-cost-usd: the price of "gpt-5.4", the reviewer, is not known, so its cost cannot be limited; use --price "openai/gpt-5.4:PRICES" or --max-total-tokens',
    ],
    [{ recording: 'x' }, '--recording: is only used with --provider replay'],
    [
      { model: 'claude-9', 'max-cost-usd': '1' },
      '--max-cost-usd: the price of "claude-9" is not known, so its cost cannot be limited; use --price',
    ],
  ])('%j', (flags, problem) => {
    expect(problemsOf({ flags })).toEqual([problem]);
  });

  test.each(['openai/gpt-5.4', 'gpt-5.4'])('a cost limit holds where %s has its price', (name) => {
    const others = { 'review-model': 'openai/gpt-5.4', 'fallback-model': 'openai/gpt-5.4' };
    expect(problemsOf({ flags: { ...others, 'max-cost-usd': '1', price: [`${name}:${PRICE}`] } })).toEqual(
      [],
    );
  });
});

test('a price of a model that the run does not ask is refused', () => {
  const unused = (inputs: Partial<SettingInputs>) => {
    const resolved = resolve(inputs);
    if (resolved.status === 'failed') throw new Error(resolved.problems.map(problemLine).join('\n'));
    return unusedPrices(resolved.settings, resolved.sources).map(problemLine);
  };
  const price = [PRICE, `gpt-5.4:${PRICE}`, `claude-sonet-5-5:${PRICE}`];
  expect(unused({ flags: { price, 'review-model': 'openai/gpt-5.4' } })).toEqual([
    '[ERR_SETTING_WITHOUT_EFFECT] --price: this run does not ask "claude-sonet-5-5"; its models are "anthropic/claude-sonnet-5-5", "openai/gpt-5.4"',
  ]);
  expect(unused({ env: { PATCHSMITH_PRICE: `x:${PRICE}` } })).toEqual([
    expect.stringContaining('PATCHSMITH_PRICE: this run does not ask "x"'),
  ]);
});

test('a size is bytes, with units of 1024', () => {
  const sizes = ['512m', '4g', '1.5G', '10 MiB', '64kb', '1t', '4096'].map(
    (text) => settingsOf({ flags: { 'max-disk': text } }).maxDiskBytes,
  );
  expect(sizes).toEqual([2 ** 29, 2 ** 32, 1.5 * 2 ** 30, 10 * 2 ** 20, 2 ** 16, 2 ** 40, 4096]);
  for (const text of ['0', '-1g', 'much', '1x', '1e9', '99999999t', 'g']) {
    expect(problemsOf({ flags: { 'max-memory': text } })).toEqual([
      expect.stringContaining('--max-memory: expected a size such as 512m or 4g'),
    ]);
  }
});

describe('provider and model as one text', () => {
  const key = 'PATCHSMITH_MODEL';
  test.each<[string, Partial<SettingInputs>, string, string]>([
    ['a provider before the slash', { flags: { model: 'openai/gpt-5.4' } }, 'openai', 'gpt-5.4'],
    ['the default by its name', { flags: { model: 'anthropic/x' } }, 'anthropic', 'x'],
    ['a name of two parts after it', { flags: { model: 'openai/openai/oss' } }, 'openai', 'openai/oss'],
    ['a variable', { env: { [key]: 'openai/gpt-5.4' } }, 'openai', 'gpt-5.4'],
    ['a flag over a variable', { flags: { model: 'x' }, env: { [key]: 'openai/y' } }, 'anthropic', 'x'],
    [
      'a provider given by itself',
      { flags: { provider: 'openai', model: 'openai/oss' } },
      'openai',
      'openai/oss',
    ],
    ['a name that is no provider', { flags: { model: 'meta/llama' } }, 'anthropic', 'meta/llama'],
    ['a provider that asks nobody', { flags: { model: 'replay/x' } }, 'anthropic', 'replay/x'],
    ['the project file, for the default', file({ model: 'anthropic/x' }), 'anthropic', 'x'],
  ])('%s', (_name, inputs, provider, model) => {
    expect(settingsOf(inputs)).toMatchObject({ provider, model });
  });

  test('the address is the one of that provider', () => {
    const env = { OPENAI_BASE_URL: 'https://a.example/v1', ANTHROPIC_BASE_URL: 'https://b.example' };
    expect(settingsOf({ flags: { model: 'openai/x' }, env }).baseUrl).toBe('https://a.example/v1');
  });

  test('a project file chooses no provider', () => {
    expect(problemsOf(file({ model: 'openai/x' }, { model: 3 }))).toEqual([
      '.patchsmith.yml:3: a project file may not set provider, as in model: openai/…; use --model openai/… or PATCHSMITH_MODEL',
    ]);
  });
});
