import { expect, test } from 'vitest';
import { makeRepository } from '../../support/files/repository.ts';
import { cliHere } from '../../support/runs/in-process.ts';
import { call, scriptedRun } from '../../support/runs/scripted-run.ts';

const finish = { calls: [call('finish', { status: 'done', summary: 'Looked.' })] };
const toolsOf = (request: { body?: Record<string, unknown> | null } | undefined) =>
  ((request?.body?.tools ?? []) as { name: string }[]).map(({ name }) => name);

test('the web is there where hosts are named, and adding to a file where it is named', async () => {
  const repository = await makeRepository({ 'a.txt': 'old\n' });
  const plain = await scriptedRun({ repository, turns: [finish] });
  expect(toolsOf(plain.server.requests[0])).not.toEqual(
    expect.arrayContaining([expect.stringMatching(/^web_|^append/)]),
  );

  const { exitCode, stderr, server, events, result, runDir, patch } = await scriptedRun({
    repository,
    turns: [
      {
        calls: [
          call('web_fetch', { url: 'https://169.254.169.254/latest/' }),
          call('web_fetch', { url: 'https://elsewhere.example.org/?secret=1' }),
        ],
      },
      {
        calls: [call('write_file', { path: 'a.txt', content: 'new' })],
      },
      finish,
    ],
    args: ['--web-fetch', 'docs.example.com', '--tools', 'write_file,run_command,web_fetch'],
  });
  expect(exitCode, stderr).toBe(0);
  expect(toolsOf(server.requests[0])).toEqual(['write_file', 'run_command', 'web_fetch', 'finish']);
  const said = events.flatMap((event) => (event.type === 'tool.completed' ? [event.outcome] : []));
  expect(said[0]).toMatchObject({
    reason: 'policy',
    text: expect.stringContaining('an address is not a host name'),
  });
  expect(said[1]).toMatchObject({
    text: 'Not read: elsewhere.example.org is not one of the hosts that may be read (--web-fetch: docs.example.com).',
  });
  expect(patch).toContain('+new\n\\ No newline at end of file');
  expect(result.denied.map(({ kind, what, calls }) => [kind, what, calls.length])).toEqual([
    ['network', expect.any(String), 1],
    ['network', 'elsewhere.example.org', 1],
  ]);

  // What came from outside is in the journal: a replay has the same tools, and asks nobody.
  const replayed = await cliHere(['replay', runDir, '--repo', repository.root], {
    cwd: repository.root,
    env: { PATH: process.env.PATH, HOME: repository.root },
  });
  expect(replayed).toMatchObject({ exitCode: 0 });
});

test('a run that only reads may read the web, and cannot add to a file', async () => {
  const repository = await makeRepository({ 'a.txt': 'old\n' });
  const { server } = await scriptedRun({
    repository,
    turns: [finish],
    args: ['--read-only', '--web-fetch', '*', '--tools', 'write_file,read_file,web_fetch'],
  });
  expect(toolsOf(server.requests[0])).toEqual(['read_file', 'web_fetch', 'finish']);
});

test('an invalid host is a usage error', async () => {
  const repository = await makeRepository({});
  const { exitCode, stderr } = await scriptedRun({
    repository,
    turns: [],
    args: ['--web-fetch', 'https://x.org/a'],
  });
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining('"https://x.org/a"')]);
});
