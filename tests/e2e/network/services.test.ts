/** Services of the machine that commands may reach: `--service`. */

import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { execa, execaSync, type Options } from 'execa';
import { describe, expect, onTestFinished, test } from 'vitest';
import { makeRepository, separated, temporaryFolder } from '../../support/files/repository.ts';
import { freePort } from '../../support/http/listening.ts';
import { WITHOUT_NAMESPACES } from '../../support/machine/without-filters.ts';
import { runCli } from '../../support/runs/cli.ts';
import { call, type FinishedRun, scriptedRun } from '../../support/runs/scripted-run.ts';
import { IS_FULL } from '../../support/setup/sample.ts';

function start(file: string, args: readonly string[], options: Options): void {
  const service = execa(file, args, { ...options, reject: false });
  onTestFinished(async () => {
    service.kill('SIGKILL');
    await service;
  });
}

/** Repeats a command until it succeeds. */
async function answers(file: string, args: readonly string[]): Promise<void> {
  for (let tries = 0; (await execa(file, args, { reject: false })).exitCode !== 0; tries++)
    if (tries === 100) throw new Error(`${file} ${args.join(' ')} never succeeded`);
}

type Level = 'namespaces' | 'landlock';

async function run(
  level: Level,
  script: string,
  ...args: readonly string[]
): Promise<FinishedRun & { said: string }> {
  const [make, wrap] = level === 'landlock' ? [separated, WITHOUT_NAMESPACES] : [makeRepository, []];
  const repository = await make({ 'a.txt': 'a\n' });
  const turns = [{ calls: [call('run_command', { command: script })] }, { text: 'Done.' }];
  const finished = await scriptedRun({ repository, turns, args, wrap, built: true });
  expect(finished.result.sandbox).toContain(level);
  return { ...finished, said: JSON.stringify(finished.server.requests[1] ?? {}) };
}

const POSTGRES = '/usr/lib/postgresql';
const there = (program: string) => execaSync('which', [program], { reject: false }).exitCode === 0;

// Landlock gives services no name.
describe.each([
  ['namespaces', 'cache'],
  ['landlock', 'localhost'],
] as const)('--service at level %s', (level, name) => {
  test.skipIf(!there('redis-server'))(
    'opens a Redis of the machine by its name and at localhost, for setup, model and verify, and nothing beside it',
    async () => {
      const [port, other] = [await freePort(), await freePort()];
      for (const at of [port, other]) {
        start('redis-server', ['--port', `${at}`, '--save', ''], { cwd: temporaryFolder() });
        await answers('redis-cli', ['-p', `${at}`, 'ping']);
      }
      const service = `cache=localhost:${port}`;
      const { result, said, lastLine, server } = await run(
        level,
        `redis-cli -h ${name} -p ${port} incr n; redis-cli -p ${port} incr n; redis-cli -p ${other} incr n`,
        ...['--service', service, '--setup', `redis-cli -p ${port} set n 40`],
        ...['--verify', `test "$(redis-cli -h ${name} -p ${port} get n)" = 42`],
      );
      expect(lastLine).toContain('no_change (exit 0)');
      expect(said).toContain('42');
      expect(said).toContain(`Could not connect to Redis at 127.0.0.1:${other}`);
      expect(JSON.stringify(server.requests[0])).toContain(
        `Services they can reach: \`cache\` at \`localhost:${port}\`.`,
      );
      expect(result.network?.allowed).toEqual([service]);
      expect(result.network?.hosts).toContainEqual(
        expect.objectContaining({ host: `cache:${port}`, by: 'command', outcome: 'reached' }),
      );
    },
  );

  const versions = existsSync(POSTGRES) ? readdirSync(POSTGRES) : [];
  const postgres = `${POSTGRES}/${versions.at(-1)}/bin`;
  test.skipIf(versions.length === 0 || process.getuid?.() !== 0 || !(IS_FULL || level === 'namespaces'))(
    'opens a PostgreSQL by its UNIX socket',
    async () => {
      const folder = temporaryFolder();
      const [data, port] = [join(folder, 'data'), await freePort()];
      const [uid, gid] = ['-u', '-g'].map((which) => Number(execaSync('id', [which, 'postgres']).stdout));
      chmodSync(folder, 0o755);
      mkdirSync(data);
      chownSync(data, uid ?? 0, gid ?? 0);
      const asPostgres = { uid: uid ?? 0, gid: gid ?? 0, cwd: data } as const;
      await execa(`${postgres}/initdb`, ['-D', data, '-A', 'trust', '--no-sync'], asPostgres);
      const where = ['-c', `unix_socket_directories=${data}`, '-c', 'listen_addresses=', '-p', `${port}`];
      start(`${postgres}/postgres`, ['-D', data, '-F', ...where], asPostgres);
      await answers(`${postgres}/pg_isready`, ['-h', data, '-p', `${port}`]);
      const { result, said } = await run(
        level,
        `${postgres}/psql -h ${level === 'landlock' ? 'localhost' : 'db'} -U postgres -c 'select 6 * 7 as answer'`,
        ...['--service', `db=${join(data, `.s.PGSQL.${port}`)}:5432`],
      );
      expect(said).toContain('42');
      expect(result.outcome).toBe('no_change');
    },
  );
});

describe('--service', () => {
  test('a service that nobody offers is told from one that is not allowed', async () => {
    const port = await freePort();
    const { result, said } = await run(
      'namespaces',
      `exec 3<>/dev/tcp/db/${port} && cat <&3; echo "ended $?"`,
      ...['--service', `db=localhost:${port}`],
    );
    expect(said).toContain('ended');
    expect(result.network?.hosts).toContainEqual(
      expect.objectContaining({
        host: `db:${port}`,
        outcome: 'failed',
        why: `db:${port} cannot be reached (ECONNREFUSED)`,
      }),
    );
  });

  test.each([
    [['db'], 'expected a service such as postgres=localhost:5432'],
    [['db=localhost:65536'], 'the port is out of range'],
    [['localhost=localhost:5432'], 'localhost is the sandbox itself; choose another name'],
    [['a=localhost:5432', 'b=db.example:5432'], 'port 5432 of the sandbox is in use already'],
    [['a=localhost:17128'], 'port 17128 of the sandbox is in use already'],
  ])('refuses %j', async (services, why) => {
    const { root } = await makeRepository({ 'a.txt': 'a\n' });
    const args = services.flatMap((service) => ['--service', service]);
    const { exitCode, stderr } = await runCli(['run', '--repo', root, '--message', 'x', ...args], {
      cwd: temporaryFolder(),
      env: { ANTHROPIC_API_KEY: 'sk-ant-test' },
    });
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(why)]);
  });
});
