/** Claude on Bedrock and on Vertex by the built command, whose clients are not part of it. */

import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { expect, onTestFinished, test } from 'vitest';
import { startBedrockServer, startVertexServer } from '../../support/claude-server/clouds.ts';
import type { Script } from '../../support/claude-server/script.ts';
import { makeRepository, temporaryFolder } from '../../support/files/repository.ts';
import { listenLocally } from '../../support/http/local-server.ts';
import { CLI } from '../../support/runs/cli.ts';
import { holdingEvents } from '../../support/runs/valid-events.ts';
import { IS_FULL, sampled } from '../../support/setup/sample.ts';
import { PATIENCE_MS } from '../../support/waiting/patience.ts';

const TOKEN = 'cloud-token-0123456789';
const CLOUDS = {
  bedrock: { start: startBedrockServer, address: 'ANTHROPIC_BEDROCK_BASE_URL' },
  vertex: { start: startVertexServer, address: 'ANTHROPIC_VERTEX_BASE_URL' },
};

async function run(
  cli: string,
  turns: Script,
  flags: string[] = [],
  cloud: keyof typeof CLOUDS = 'bedrock',
  own: Record<string, string> = {},
) {
  const { start, address } = CLOUDS[cloud];
  const server = await start(turns, TOKEN);
  onTestFinished(() => server.close());
  const { root } = await makeRepository({ 'a.txt': 'old\n' });
  const folder = temporaryFolder();
  const { env: login, baseUrl } = server.settings(TOKEN);
  const env = { PATH: process.env.PATH, HOME: folder, ...login, [address]: baseUrl, ...own };
  const line = [
    cli,
    'run',
    '-m',
    'Do it',
    '--sandbox',
    'off',
    '--run-dir',
    join(folder, 'run'),
    '--provider',
    cloud,
  ];
  const end = await holdingEvents({ args: line, cwd: root, env }, () =>
    execa(process.execPath, [...line, ...flags], {
      cwd: root,
      env,
      extendEnv: false,
      reject: false,
      timeout: PATIENCE_MS,
    }),
  );
  return { ...end, root, folder };
}

/** The login of a workload. */
const EXTERNAL = {
  type: 'external_account',
  audience: '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/x',
  subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
  credential_source: { file: '/etc/hostname' },
};

const write = { name: 'write_file', input: { path: 'a.txt', content: 'new\n' } };
const model = ['--model', 'claude-sonnet-5-5'];

test.each(['bedrock', 'vertex'] as const)(
  'a run with %s ends as any other, and its token is in no file',
  async (cloud) => {
    const turns = [{ calls: [write] }, { text: 'Done.' }];
    const { exitCode, stderr, root, folder } = await run(CLI, turns, model, cloud);
    expect([exitCode, readFileSync(join(root, 'a.txt'), 'utf8')], stderr).toEqual([0, 'new\n']);
    expect(readFileSync(join(folder, 'run', 'events.jsonl'), 'utf8')).not.toContain(TOKEN);
  },
);

test('a refusal by Bedrock is not a bug', async () => {
  const fault = { kind: 'http', status: 400, message: 'Malformed input request' } as const;
  const { exitCode, stderr } = await run(CLI, [{ fault }], model);
  expect([exitCode, stderr]).toEqual([4, expect.stringContaining('Malformed input request')]);
});

test('without its client, or without a model, it says what to type', async () => {
  const elsewhere = join(temporaryFolder(), 'package', 'dist', 'cli.js');
  mkdirSync(dirname(elsewhere), { recursive: true });
  cpSync(dirname(CLI), dirname(elsewhere), { recursive: true });
  cpSync('package.json', join(dirname(elsewhere), '..', 'package.json'));
  const { exitCode, stderr } = await run(elsewhere, [], model);
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining('npm install @anthropic-ai/bedrock-sdk')]);
  expect((await run(CLI, [])).stderr).toContain('bedrock has no default model; use --model ID');
});

const VERTEX_ERROR = { exitCode: 4, outcome: 'provider_error' };
const NO_FILE = { exitCode: 2, outcome: 'usage_error' };
/** Only paths that do not exist are asked for a login, and no address of a metadata server answers. */
const NOWHERE = { GCE_METADATA_HOST: '127.0.0.1:1', METADATA_SERVER_DETECTION: 'none' };

const FAULTS = [
  ['no login', {}, VERTEX_ERROR, /no login: Could not load the default credentials/],
  ['a file that is missing', { file: null }, NO_FILE, /GOOGLE_APPLICATION_CREDENTIALS .*does not exist/],
  ['a file that is not JSON', { file: `key=${TOKEN}` }, NO_FILE, /is not a JSON object/],
  ['a file of an unknown kind', { file: '{"type":"x"}' }, VERTEX_ERROR, /no login: .*client_email/],
  [
    'a login that is refused',
    { file: { token_url: 'http://127.0.0.1:1/token' } },
    VERTEX_ERROR,
    /no login: .*ECONNREFUSED/,
  ],
  [
    'an endpoint that refuses',
    { base: 'http://127.0.0.1:65531/v1' },
    VERTEX_ERROR,
    /No connection: .*ECONNREFUSED/,
  ],
] as const;

test.each(sampled(FAULTS, ([, , { outcome }]) => outcome))(
  'Vertex with %s ends with a document, and nothing is left',
  async (_, given, end, reason) => {
    const folder = temporaryFolder();
    const own: Record<string, string> = { ...NOWHERE, TMPDIR: temporaryFolder() };
    const file = join(folder, 'login.json');
    if ('base' in given) own.ANTHROPIC_VERTEX_BASE_URL = given.base;
    else own.GOOGLE_APPLICATION_CREDENTIALS = 'file' in given ? file : '';
    if ('file' in given && given.file !== null)
      writeFileSync(
        file,
        typeof given.file === 'string' ? given.file : JSON.stringify({ ...EXTERNAL, ...given.file }),
      );
    const flags = [...model, '--output', 'json', '--outage-wait', '1s'];
    const { exitCode, stdout, stderr, folder: place } = await run(CLI, [], flags, 'vertex', own);
    expect({ exitCode, outcome: JSON.parse(stdout).outcome }, stderr).toEqual(end);
    expect(JSON.parse(stdout).reason).toMatch(reason);
    expect(stdout + stderr).not.toContain(TOKEN);
    expect(existsSync(join(place, 'run', 'scratch'))).toBe(false);
    expect(readdirSync(own.TMPDIR ?? '')).toEqual([]);
  },
);

const SILENT = [
  ['vertex', 'deadline (exit 124)', ['--deadline', '4s']],
  ['bedrock', 'deadline (exit 124)', ['--deadline', '4s']],
  ['vertex', 'provider_error (exit 4)', ['--idle-timeout', '1s']],
] as const;

test.runIf(IS_FULL).each(SILENT)(
  '%s with a login that is never answered ends as %s',
  async (cloud, end, flags) => {
    const silent = await listenLocally(
      () => new Promise(() => undefined),
      () => undefined,
    );
    onTestFinished(() => silent.close());
    const [file, profiles] = [join(temporaryFolder(), 'login.json'), join(temporaryFolder(), 'config')];
    writeFileSync(file, JSON.stringify({ ...EXTERNAL, token_url: silent.url }));
    writeFileSync(profiles, '[default]\ncredential_process = sleep 20\n');
    const own = {
      ...NOWHERE,
      GOOGLE_APPLICATION_CREDENTIALS: file,
      AWS_BEARER_TOKEN_BEDROCK: '',
      AWS_CONFIG_FILE: profiles,
    };
    const given = [...model, '--output', 'json', '--outage-wait', '1s', ...flags];
    const { exitCode, stdout, stderr } = await run(CLI, [], given, cloud, own);
    expect(stderr).toContain(`patchsmith: ${end}`);
    expect(JSON.parse(stdout)).toMatchObject({ status: 'finished', exitCode });
  },
);
