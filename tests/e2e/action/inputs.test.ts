/** Each input of action.yml reaches what it is for, and each output is set: in one job here, or in a test that is named. */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../support/files/repository.ts';
import { MANIFEST } from '../../support/jobs/action-runner.ts';
import { NAME } from '../../support/jobs/publishing.ts';
import { edit, oneJob, place } from '../../support/jobs/publishing-job.ts';
import { call } from '../../support/runs/scripted-run.ts';
import { testAtNight } from '../../support/setup/at-night.ts';

const FOLDER = temporaryFolder();

function file(name: string, text: string): string {
  writeFileSync(join(FOLDER, name), text);
  return join(FOLDER, name);
}

/** Values that are found in what comes of the job: in its journal, requests, log, commit or pull request. */
const FOUND: Readonly<Record<string, string>> = {
  ...{ plan: '# Renew the greeting\n\nDo it', setup: 'echo being-set-up', verify: 'grep -q new a.txt' },
  ...{ allow: 'a*.txt', protect: 'kept/**', 'accept-secrets': 'keys/**', 'verify-in': 'worktree' },
  ...{ 'web-fetch': 'docs.example.com', model: 'claude-sonnet-5-5', 'fallback-model': 'claude-haiku-5-5' },
  ...{ 'review-model': 'claude-opus-5-5', effort: 'low', provider: 'anthropic', compaction: 'summarize' },
  ...{ 'compact-at': '40007', 'max-output-tokens': '9001', 'max-iterations': '71' },
  ...{ 'max-total-tokens': '900007', 'max-cost-usd': '7.25', 'max-changed-files': '73', 'fix-rounds': '6' },
  ...{ 'max-changed-size': '1000003', 'max-changed-file-size': '100003', 'max-tool-output': '30011' },
  ...{ 'allow-domain': 'registry.example.com', 'allow-private': 'nexus.example:4873', deadline: '1007' },
  service: 'postgres=localhost:5432',
  ...{ 'run-dir': join(FOLDER, 'run'), branch: 'bot/renew', 'title-prefix': 'bot: ', label: 'mechanical' },
  ...{ author: 'Ann <ann@a.example>', committer: 'Bob <bob@b.example>', 'co-author': 'Cy <cy@c.example>' },
  ...{
    'body-header': 'Above all',
    'body-footer': 'Below all',
    assignee: 'ann',
    reviewer: 'ann',
    milestone: 'v1',
  },
  ...{ 'report-url': 'https://reports.example.com/7', repository: NAME, base: 'main' },
};

/** Values whose effect has other words. */
const SEEN: Readonly<Record<string, readonly [value: string, effect: string]>> = {
  principles: [file('PRINCIPLES.md', 'Write short lines.\n'), 'Write short lines.'],
  'output-schema': [file('schema.json', '{"type":"object","title":"How it went"}'), 'How it went'],
  title: ['Of all: {title}', 'bot: Of all: Renew the greeting'],
  'commit-message': ['Renewed: {title}', 'Renewed: Renew the greeting'],
  signoff: ['true', 'Signed-off-by: Bob'],
  draft: ['always', '"pull-request-draft":"true"'],
  'verify-baseline': ['true', 'before the work: grep'],
  review: ['true', 'review'],
  comment: ['always', '#issuecomment-'],
};

/** Values that the job accepts. What else is given for them, all of them, is refused with the name of the input. */
const READ: Readonly<Record<string, string>> = {
  ...{ tools: 'read_file, write_file', 'no-tools': 'search', preflight: 'off', 'include-foreign': 'true' },
  ...{ 'if-no-changes': 'error', 'if-denied': 'report', 'if-not-reviewed': 'report', 'read-only': 'false' },
  ...{
    'idle-timeout': '61s',
    'rate-limit-wait': '62s',
    'outage-wait': '63s',
    'max-principles-bytes': '5003',
  },
  ...{ price: 'input=2,output=10,cache-read=0.1,cache-write=2.5,cache-write-1h=4', 'keep-base': 'false' },
  ...{ 'command-timeout': '64s', 'max-command-timeout': '65s', 'verify-timeout': '66s', sandbox: 'required' },
  'sandbox-level': 'namespaces',
  ...{ 'max-processes': '509', 'max-memory': '1g', 'max-file-size': '7m', 'max-disk': '3g' },
  ...{ 'max-total-size': '4g', 'branch-suffix': 'short-commit-hash', sign: 'auto' },
  ...{ 'publish-as': 'pull-request', 'cost-per-day': '90', 'cost-per-plan': '91' },
  ...{ 'maintainer-can-modify': 'true', 'max-patch-files': '7', 'max-patch-size': '1m', protected: 'draft' },
  ...{
    'publish-unfinished': 'true',
    fallback: 'issue',
    stale: 'keep',
    'delete-branch': 'false',
    reopen: 'always',
  },
  ...{
    'resolve-threads': 'true',
    quiet: 'false',
    verbose: 'true',
  },
  ...{ 'trust-author': 'member', 'issue-comments': 'none', 'dry-run': 'false' },
  ...{ 'allow-insecure-base-url': 'true', 'allow-untrusted-checkout': 'false', attempts: '1' },
  ...{
    'flaky-reruns': '0',
    'verify-all': 'true',
    'prove-tests': 'off',
    'if-not-proven': 'report',
    'follow-up-rounds': '2',
    'follow-ups-per-day': '21',
  },
};

/** What the job has besides: where it is, and what is not found in so many words. */
const REST = [
  'mode',
  'issue',
  'api-key',
  'base-url',
  'github-token',
  'repo',
  'github-api-url',
  'github-server-url',
];
const UNSEEN: Readonly<Record<string, string>> = {
  ...{ patch: join(FOLDER, 'x.patch'), mount: '/usr/lib', 'setup-env': 'A_LOGIN', 'allow-bot': '7' },
  ...{
    'working-directory': '.',
    'accept-protected': 'x/**',
    exclude: 'x/**',
    cache: 'npm',
    'sandbox-setup': 'off',
  },
  'test-paths': 'checks/**',
  'mcp-config': file('mcp.json', '{"mcpServers":{}}'),
};

/** What does not go together with the above, and the test that has it. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'federation-rule-id': 'tests/e2e/action/federation.test.ts',
  'organization-id': 'tests/e2e/action/federation.test.ts',
  'service-account-id': 'tests/e2e/action/federation.test.ts',
  'workspace-id': 'tests/e2e/action/federation.test.ts',
  'oidc-audience': 'tests/e2e/action/federation.test.ts',
  'plan-file': 'tests/e2e/refusals/publication.test.ts',
  'plan-from-comment': 'tests/e2e/follow-up/rounds.test.ts',
  'plan-from-issue': 'tests/e2e/refusals/before-the-work.test.ts',
  continue: 'tests/e2e/follow-up/rounds.test.ts',
  'team-reviewer': 'tests/e2e/refusals/publication.test.ts',
  'trigger-label': 'tests/e2e/refusals/before-the-work.test.ts',
};

/** Set in jobs of their own, below. */
const IN_OTHER_JOBS = ['mcp', 'head-repo', 'recording', 'rules-from'];

const NO_ERROR = ['error-code'];
/** tests/e2e/follow-up/rounds.test.ts and tests/e2e/action/workflows.test.ts have them. */
const OF_OTHER_MODES = ['continue', 'ref', 'pull-requests', 'plans'];

test('each input of action.yml is in one of these lists', () => {
  const known = [FOUND, SEEN, READ, UNSEEN, ELSEWHERE].flatMap((list) => Object.keys(list));
  expect([...known, ...REST, ...IN_OTHER_JOBS].sort()).toEqual(Object.keys(MANIFEST.inputs).sort());
  for (const [name, path] of Object.entries(ELSEWHERE))
    expect([name, readFileSync(path, 'utf8')]).toEqual([
      name,
      expect.stringMatching(new RegExp(`(?:'${name}'|\\b${name}): `)),
    ]);
});

test('a job with all of them has their effects, and sets the outputs', async () => {
  const finish = call('finish', { status: 'done', summary: 'Renewed.', answer: { ok: true } });
  const review = call('report_findings', { findings: [] });
  const at = await place([edit, { calls: [finish] }, { calls: [review] }, { text: 'No findings.' }], {
    collaborators: { ann: 'write' },
    milestones: ['v1'],
  });
  const { number } = at.github.addIssue(NAME, { title: 'Renew', author: 'ann' });
  mkdirSync(join(FOLDER, 'cache/_cacache'), { recursive: true });
  const seen = Object.fromEntries(Object.entries(SEEN).map(([name, [value]]) => [name, value]));
  const { root } = at.checkout;
  const places = {
    repo: root,
    issue: String(number),
    'github-api-url': at.github.url,
    'github-server-url': at.github.serverUrl,
  };
  const ended = await oneJob(at, {
    inputs: { ...FOUND, ...seen, ...READ, ...UNSEEN, ...places },
    env: { npm_config_cache: join(FOLDER, 'cache'), A_LOGIN: 'an-example-0123456789' },
  });
  const [pull] = at.hosted.pulls();
  const traces = [
    ...['events.jsonl', 'result.json'].map((name) => readFileSync(join(FOLDER, 'run', name), 'utf8')),
    ...[ended.stderr, JSON.stringify(ended.outputs), JSON.stringify(pull)],
    JSON.stringify(at.model.requests.map(({ body }) => body)),
    await at.hosted.git('log', '-1', '--format=fuller', pull?.pull?.head ?? 'main'),
  ].join('\n');
  const effects = [
    ...Object.entries(FOUND),
    ...Object.entries(SEEN).map(([name, [, effect]]) => [name, effect]),
  ];
  const isThere = (text: string) =>
    [text, JSON.stringify(text).slice(1, -1)].some((one) => traces.includes(one));
  const missing = effects.filter(([, effect = '']) => !isThere(effect));
  expect([missing, ended.exitCode], ended.stderr).toEqual([[], 0]);
  const unset = Object.keys(MANIFEST.outputs).filter((name) => !ended.outputs[name]);
  expect(unset.sort()).toEqual([...NO_ERROR, ...OF_OTHER_MODES].sort());
});

test('each that has a form is refused by its name in another', async () => {
  const at = await place([]);
  const names = Object.keys(READ);
  const wrong = Object.fromEntries(names.map((name) => [name, 'per haps?']));
  const ended = await oneJob(at, { inputs: wrong });
  expect(
    names.filter((name) => !new RegExp(`\\] --${name}: `).test(ended.stderr)),
    ended.stderr,
  ).toEqual([]);
});

testAtNight('principles of another commit, a server for the model, and a fork for the branch', async () => {
  const at = await place([edit, { text: 'Done.' }]);
  const { git, write } = at.checkout;
  write('AGENTS.md', 'Rule of before.\n');
  await git('add', '-A');
  await git('commit', '-q', '-m', 'Rule');
  const before = await git('rev-parse', 'HEAD');
  write('AGENTS.md', 'Rule of now.\n');
  await git('commit', '-q', '-a', '-m', 'Other rule');
  const answers =
    "{ initialize: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'n', version: '1' } }, 'tools/list': { tools: [{ name: 'look', inputSchema: { type: 'object' } }] } }";
  const server = file(
    'notes.mjs',
    `import { createInterface } from 'node:readline';
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result: ${answers}[method] ?? {} }));
});
`,
  );
  const ended = await oneJob(at, {
    inputs: { 'rules-from': before, mcp: `notes=node ${server}`, mount: FOLDER },
  });
  const [request] = at.model.requests.map(({ body }) => JSON.stringify(body));
  expect(request, ended.stderr).toContain('notes__look');
  expect(request).toContain('Rule of before.');
  expect(request).not.toContain('Rule of now.');

  const permissions = { contents: 'write', pull_requests: 'write', issues: 'write' } as const;
  const fork = await place([edit, { text: 'Done.' }], { collaborators: { ann: 'write' } });
  await fork.github.addRepository('ann/shop', { forkOf: NAME });
  const token = fork.github.addToken({ kind: 'user', login: 'ann', permissions });
  const published = await oneJob(fork, { inputs: { 'head-repo': 'ann/shop', 'github-token': token } });
  expect(published.exitCode, published.stderr).toBe(0);
  expect(await fork.hosted.head(published.outputs.branch ?? '')).toBe(null);
});

test('a recording in place of an API', async () => {
  const at = await place([]);
  const script = file('script.yml', '- text: Played.\n');
  const inputs = { mode: 'run', 'api-key': '', 'base-url': '', provider: 'replay', recording: script };
  const played = await oneJob(at, { inputs });
  expect([played.exitCode, played.outputs.outcome], played.stderr).toEqual([0, 'no_change']);
});
