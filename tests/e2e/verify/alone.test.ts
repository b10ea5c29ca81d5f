/** Nothing that lives longer than a call acts while verify commands judge the work. */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeRepository, temporaryFolder } from '../../support/files/repository.ts';
import { call, done, type FinishedRun, scriptedRun } from '../../support/runs/scripted-run.ts';

const SERVER = readFileSync(join(import.meta.dirname, '../../support/mcp/server.mjs'), 'utf8');
const PROJECT = 'mcp:\n  own: { command: node, args: [server.mjs] }\n';
const FILES = { 'server.mjs': SERVER, 'a.txt': 'a\n', '.gitignore': '*.log\n' };

const write = call('write_file', { path: 'fixed.txt', content: 'fixed\n' });
const served = (command: string) => call('own__run', { command });
const said = ({ events }: FinishedRun) =>
  events.flatMap((event) => (event.type === 'tool.completed' ? [event.outcome.text] : []));

test('a fix round starts a server again, which has forgotten its state', async () => {
  const repository = await makeRepository({ ...FILES, '.patchsmith.yml': PROJECT });
  const run = await scriptedRun({
    repository,
    args: ['--verify', 'test ! -e /tmp/state && test -e fixed.txt'],
    turns: [
      { calls: [served('echo kept > /tmp/state; cat /tmp/state'), served('cat /tmp/state')] },
      { calls: [call('write_file', { path: 'a.txt', content: 'b\n' })] },
      done,
      { calls: [served('cat /tmp/state || echo forgotten'), served('echo again')] },
      { calls: [write] },
      done,
    ],
  });
  expect([run.exitCode, run.result.outcome], run.stderr).toEqual([0, 'done']);
  expect(said(run).filter((text) => text.startsWith('[from'))).toEqual(
    ['kept', 'kept', 'forgotten', 'again'].map((word) => expect.stringContaining(`\n${word}`)),
  );
  expect(run.result.mcp).toEqual([expect.objectContaining({ status: 'connected', reason: null })]);
  expect(run.result.warnings).toEqual([]);
});

test('no process of a server lives while the start is verified, while the work is, and while it is reviewed', async () => {
  const repository = await makeRepository({
    ...FILES,
    'start.sh': '(while sleep 0.02; do date +%s%N > beat.log; done) & exec node server.mjs\n',
    '.patchsmith.yml': 'mcp:\n  own: { command: sh, args: [start.sh] }\n',
  });
  const beat = join(repository.root, 'beat.log');
  const beats = () => {
    const before = readFileSync(beat, 'utf8');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
    return readFileSync(beat, 'utf8') !== before;
  };
  const seen: [string, boolean][] = [];
  const work = [{ calls: [served('true'), write] }, done];
  const run = await scriptedRun({
    repository,
    args: [
      ...['--verify-baseline', '--review'],
      ...['--verify', 'touch beat.log; a=$(cat beat.log); sleep 0.3; test "$a" = "$(cat beat.log)"'],
    ],
    turns: ({ tools }) => {
      const isReview = JSON.stringify(tools).includes('submit_review');
      seen.push([isReview ? 'review' : 'work', beats()]);
      return isReview ? { calls: [call('submit_review', { findings: [] })] } : (work.shift() ?? done);
    },
  });
  expect([run.exitCode, run.result.outcome], run.stderr).toEqual([0, 'done']);
  expect(seen).toEqual([
    ['work', true],
    ['work', true],
    ['review', false],
  ]);
  const verified = [...(run.result.verifyBaseline ?? []), ...run.result.verify];
  expect(verified.map(({ end }) => end.exitCode)).toEqual([0, 0]);
});

test('a server in the sandbox that has a secret is not started again where the model has written', async () => {
  const repository = await makeRepository(FILES);
  const config = join(temporaryFolder(), 'mcp.json');
  writeFileSync(
    config,
    JSON.stringify({
      mcpServers: {
        own: { command: 'node', args: ['server.mjs'], env: { A_TOKEN: 'secret-of-the-server' } },
      },
    }),
  );
  const stolen =
    "import { writeFileSync } from 'node:fs'; writeFileSync('stolen.txt', process.env.A_TOKEN);\n";
  const run = await scriptedRun({
    repository,
    args: ['--mcp-config', config, '--verify', 'test -e fixed.txt'],
    turns: [
      { calls: [served('echo first')] },
      { calls: [call('run_command', { command: `cat > server.mjs <<'END'\n${stolen}END` })] },
      done,
      { calls: [served('echo second')] },
      { calls: [write] },
      done,
    ],
  });
  expect([run.exitCode, run.result.outcome], run.stderr).toEqual([0, 'done']);
  expect(run.result.changedFiles.map(({ path }) => path)).toEqual(['fixed.txt', 'server.mjs']);
  expect(run.result.mcp).toEqual([
    expect.objectContaining({
      status: 'ended',
      reason: expect.stringContaining('it has secret variables'),
    }),
  ]);
});
