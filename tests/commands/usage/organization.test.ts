import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { readOrganization } from '../../../src/adapters/providers/anthropic/organization.ts';
import { type AdminServer, startAdminServer } from '../../support/claude-server/admin-server.ts';
import { tempFolder } from '../../support/files/temp-folder.ts';
import { sourcesHere } from '../../support/runs/from-sources.ts';

const key = 'sk-ant-admin01-a-key-of-tests';
const row = (model: string, part: object = {}) => ({
  account_id: null,
  model,
  service_tier: 'standard',
  uncached_input_tokens: 100,
  cache_creation: { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 20 },
  cache_read_input_tokens: 270,
  output_tokens: 50,
  server_tool_use: { web_search_requests: 0 },
  ...part,
});
const cost = (amount: string, model: string | null, description = 'Usage') => ({
  amount,
  currency: 'USD',
  model,
  description,
});

let server: AdminServer;
beforeAll(async () => {
  server = await startAdminServer({
    key,
    usage: {
      '2026-01-05': [row('opus'), row('opus', { service_tier: 'batch' })],
      '2026-03-01': [row('sonnet'), row('later')],
      '2026-03-02': [row('sonnet', { service_tier: 'priority' })],
    },
    cost: {
      '2026-01-05': [
        cost('123.45', 'opus', 'Input'),
        cost('0.055', 'opus', 'Output'),
        cost('-23.5', null, 'Credit'),
      ],
      '2026-03-01': [cost('1000', 'sonnet'), cost('40', null, 'Web Search Usage')],
      '2026-03-02': [cost('5', 'sonnet')],
    },
  });
});
afterAll(() => server.close());

const usage = (words: readonly string[] = [], env: Record<string, string> = {}, cwd = tempFolder()) =>
  sourcesHere(['usage', '--organization', ...words], {
    cwd,
    env: { ANTHROPIC_BASE_URL: server.url, ANTHROPIC_ADMIN_API_KEY: key, ...env },
  });

const ask = (part: object = {}) =>
  readOrganization({
    apiKey: key,
    baseUrl: server.url,
    fetch,
    signal: new AbortController().signal,
    from: Date.UTC(2026, 0, 1),
    to: Date.UTC(2026, 2, 3),
    ...part,
  });

test('every page of both reports is read, and cents become dollars', async () => {
  const before = server.requests.length;
  const read = await ask();
  expect(
    server.requests.slice(before).map((request) => new URL(request, server.url).searchParams.get('page')),
  ).toEqual(
    // 61 days, 31 a page
    [null, expect.stringMatching('^page_'), null, expect.stringMatching('^page_')],
  );
  const rows = read.status === 'ok' ? read.spending : [];
  expect(rows.map(({ day, model, costUsd, tokens }) => [day, model, costUsd, tokens.input])).toEqual([
    ['2026-01-05', 'opus', expect.closeTo(1.23505, 10), 200],
    ['2026-03-01', 'sonnet', 10, 100],
    // Tokens without a cost row, and those of the Priority Tier, cost something that is not known.
    ['2026-03-01', 'later', 'unknown', 100],
    ['2026-03-02', 'sonnet', 0.05, 100],
    ['2026-03-02', 'sonnet', 'unknown', 0],
    ['2026-01-05', 'Credit', -0.235, 0],
    ['2026-03-01', 'Web Search Usage', 0.4, 0],
  ]);
});

test('the command sums them by model and day, with a key from a .env, and the key is nowhere', async () => {
  const cwd = tempFolder();
  writeFileSync(join(cwd, '.env'), `ANTHROPIC_ADMIN_API_KEY=${key}\n`);
  const since = ['--since', '2026-01-01'];
  const { stdout, stderr, exitCode } = await usage(
    [...since, '--json'],
    { ANTHROPIC_ADMIN_API_KEY: '' },
    cwd,
  );
  const document = JSON.parse(stdout);
  expect(exitCode).toBe(0);
  expect(document).toMatchObject({
    since: '2026-01-01T00:00:00.000Z',
    total: { costUsd: 11.45005, unknownCosts: 2, totalTokens: 2250, cacheShare: 0.675 },
  });
  expect(Object.keys(document.by)).toEqual(['model', 'day']);
  expect(stdout + stderr).not.toContain(key);
  expect((await usage([...since, '--by', 'model'])).stdout.split('\n')).toEqual([
    'MODEL             TOKENS  OUTPUT  CACHED  COST',
    'later             450     50      68%     unknown',
    'sonnet            900     100     68%     > $10.0500',
    'opus              900     100     68%     $1.2350',
    'Web Search Usage  0       0       –       $0.4000',
    'Credit            0       0       –       -$0.2350',
    '',
  ]);
});

test('errors that prevent it from starting are reported before any request', async () => {
  const before = server.requests.length;
  for (const [end, said] of [
    [usage([], { ANTHROPIC_ADMIN_API_KEY: '' }), 'there is no ANTHROPIC_ADMIN_API_KEY: '],
    [usage([], { ANTHROPIC_ADMIN_API_KEY: 'a b' }), 'contains blanks'],
    [usage(['--by', 'plan']), '--by plan: an organisation has no plans'],
    [usage([], { ANTHROPIC_BASE_URL: 'http://gateway.example' }), 'plain http'],
  ] as const)
    expect(await end).toEqual({ exitCode: 2, stdout: '', stderr: expect.stringContaining(said) });
  expect(server.requests.length).toBe(before);
});

test('a signal ends it while the server is silent', async () => {
  const stop = new AbortController();
  const silent = createServer(() => stop.abort({ cause: 'signal', signal: 'SIGINT' }));
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    silent.closeAllConnections();
    silent.close();
  });
  const { port } = silent.address() as AddressInfo;
  const env = { ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}`, ANTHROPIC_ADMIN_API_KEY: key };
  const end = await sourcesHere(['usage', '--organization'], {
    cwd: tempFolder(),
    env,
    interrupt: stop.signal,
  });
  expect([end.exitCode, end.stdout]).toEqual([130, '']);
});

test('refusals are answered in words, once, and the run of a hostile server ends', async () => {
  const error = (message: string) => ({ type: 'error', error: { type: 'x', message } });
  const page = (part: object) => ({
    status: 200,
    body: { data: [], has_more: false, next_page: null, ...part },
  });
  const said = async (answer: Parameters<AdminServer['answer']>[0]) => {
    server.answer(answer);
    const before = server.requests.length;
    const { stderr, stdout, exitCode } = await usage();
    expect([exitCode, stdout, server.requests.length - before < 3]).toEqual([4, '', true]);
    return stderr.replace('patchsmith: provider_error (exit 4) [ERR_SPENDING_UNREADABLE]: ', '');
  };
  const wrong = await ask({ apiKey: 'sk-ant-api03-ordinary' });
  expect(wrong).toMatchObject({
    message: expect.stringContaining(
      'answers 401 authentication_error: invalid x-api-key. Check ANTHROPIC_ADMIN_API_KEY: it has to be an Admin API key',
    ),
  });
  expect(await said({ status: 403, body: error(`no ${key}`) })).toMatch(
    /^The Admin API answers 403 x: no \*\*\*\. This key may not read/,
  );
  expect(await said({ status: 429, body: error('slow'), headers: { 'retry-after': '37' } })).toContain(
    'try again in 37 s.',
  );
  expect(await said({ status: 429, headers: { 'retry-after': 'x' } })).toContain('try again in a minute.');
  expect(await said({ status: 307, headers: { location: 'http://127.0.0.1:1/' } })).toContain(
    'redirects are not followed',
  );
  expect(await said({ status: 502, body: '<html><title>Bad Gateway</title>' })).toContain(
    '502: an HTML page titled "Bad Gateway". Try again later',
  );
  expect(await said({ status: 200, body: '{"data":' })).toContain('cannot be used: no report');
  expect(await said(page({ data: [{ starting_at: 'x', results: [] }] }))).toContain('data.0.starting_at');
  expect(await said(page({ has_more: true, next_page: 'p' }))).toContain('does not name the next one');
  expect(await said(page({ has_more: true }))).toContain('does not name the next one');
  expect(await said({ status: 200, body: ' '.repeat(17 * 1024 * 1024) })).toContain('larger than 16 MiB');
  const bucket = (result: object) =>
    page({ data: [{ starting_at: '2026-01-01T00:00:00Z', results: [result] }] });
  expect(await said(bucket({ ...row('m'), amount: '1e9', currency: 'USD' }))).toContain(
    'amount: not a decimal number of cents',
  );
  expect(await said(bucket({ ...row('m'), amount: '1', currency: 'EUR' }))).toContain(
    'currency: not an amount in USD',
  );
  expect(await said(bucket(row('m', { output_tokens: -1 })))).toContain('data.0.results.0.output_tokens');
  expect(await ask({ baseUrl: 'http://127.0.0.1:1' })).toMatchObject({
    message: expect.stringContaining('No connection: '),
  });
});
