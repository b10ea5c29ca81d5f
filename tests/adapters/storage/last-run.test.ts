import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findLastRun } from '../../../src/adapters/storage/find-run.ts';
import type { RunStarted } from '../../../src/domain/run/events.ts';
import { makeRepository, temporaryFolder } from '../../support/files/repository.ts';
import { started } from '../../support/runs/events.ts';
import { sourcesHere } from '../../support/runs/from-sources.ts';

/** A state folder with runs by their ids; null for one that ended before it began to work. */
function stateWith(runs: Readonly<Record<string, (Partial<RunStarted> & { at?: number }) | null>>) {
  const state = temporaryFolder();
  for (const [id, start] of Object.entries(runs)) {
    const folder = join(state, 'patchsmith', id);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(join(folder, 'result.json'), '{}');
    if (start === null) continue;
    const event = { ...started, at: 1, ...start, runId: id, seq: 1 };
    writeFileSync(join(folder, 'events.jsonl'), `${JSON.stringify(event)}\n{"type":"turn.comp`);
  }
  return { state, at: (id: string) => join(state, 'patchsmith', id) };
}

const id = (second: number) => `20261121-10150${second}-3f9a2c`;

test('the last run is the newest one that started work in this checkout', async () => {
  const { root } = await makeRepository({ 'dir/a.txt': 'a\n' });
  const { state, at } = stateWith({
    [id(1)]: { root },
    [id(2)]: { root },
    [id(3)]: { root, replayOf: id(2) },
    [id(4)]: { root: `${root}-other` },
    [id(5)]: null,
    '20991231-zzz': { root },
  });
  symlinkSync(at(id(1)), at(id(9)));
  const found = await findLastRun({ cwd: join(root, 'dir'), env: { XDG_STATE_HOME: state } });
  expect(found).toMatchObject({ status: 'ok', directory: { path: at(id(2)) } });
  const other = temporaryFolder();
  expect(await findLastRun({ cwd: other, env: { XDG_STATE_HOME: state } })).toEqual({
    status: 'failed',
    message: `${other} is not in a checkout, so it has no last run. Name the run by its id or run directory.`,
  });
});

test('the folder of the runs may be a link, for lists too', async () => {
  const { root } = await makeRepository({});
  const { state, at } = stateWith({ [id(1)]: { root } });
  const env = { XDG_STATE_HOME: temporaryFolder() };
  symlinkSync(join(state, 'patchsmith'), join(env.XDG_STATE_HOME, 'patchsmith'));
  const found = await findLastRun({ cwd: root, env });
  expect(found).toMatchObject({ status: 'ok', directory: { path: at(id(1)) } });
  expect((await sourcesHere(['runs'], { cwd: root, env })).stdout).toContain(id(1));
});

test('among runs of the same second, the last one is the one that started later', async () => {
  const { root } = await makeRepository({});
  const ids = ['20261121-101502-aaaaaa', '20261121-101502-bbbbbb', '20261121-101502-cccccc'] as const;
  const { state, at } = stateWith({
    [id(1)]: { root, at: 9 },
    [ids[0]]: { root, at: 2 },
    [ids[1]]: { root, at: 3 },
    [ids[2]]: { root, at: 1 },
  });
  const found = await findLastRun({ cwd: root, env: { XDG_STATE_HOME: state } });
  expect(found).toMatchObject({ status: 'ok', directory: { path: at(ids[1]) } });
});

test('a command that uses the last run says which one it is', async () => {
  const { root } = await makeRepository({ 'a.txt': 'a\n' });
  const { state, at } = stateWith({ [id(1)]: { root } });
  const github = {
    GITHUB_TOKEN: 'ghs_0',
    GITHUB_REPOSITORY: 'acme/shop',
    GITHUB_API_URL: 'http://127.0.0.1:9',
  };
  const given = { cwd: root, env: { XDG_STATE_HOME: state, ...github } };
  for (const words of [
    ['undo'],
    ['undo', 'last'],
    ['blame', 'last', 'a.txt'],
    ['blame', 'a.txt'],
    ['replay'],
    ['publish'],
    ['publish', 'last'],
  ])
    expect([words, (await sourcesHere(words, given).catch(String)).valueOf()]).toEqual([
      words,
      expect.objectContaining({ stderr: expect.stringContaining(`last run: ${at(id(1))}\n`) }),
    ]);
  const resumed = await sourcesHere(['resume', 'last'], given);
  expect(resumed.stderr).toContain(`of the run ${id(1)} come from replay`);
  const none = { XDG_STATE_HOME: `${state}/none`, PATH: process.env.PATH };
  expect((await sourcesHere(['undo'], { cwd: root, env: none })).stderr).toMatch(
    /No run in \S+\/none\/patchsmith(?:, \S+)? has begun to work in /,
  );
});
