import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeRepository, type Repository, temporaryFolder } from '../../support/files/repository.ts';
import { checkoutOf, runCli } from '../../support/runs/cli.ts';
import { call, command, done, type FinishedRun, scriptedRun } from '../../support/runs/scripted-run.ts';
import { testAtNight } from '../../support/setup/at-night.ts';

const edit = (path: string, find: string, replace: string) => ({
  calls: [call('edit_file', { path, find, replace })],
});

const blame = (run: FinishedRun, ...more: string[]) =>
  runCli(['blame', run.runDir, ...more], { cwd: temporaryFolder() });

describe('who made the patch', () => {
  const turns = [
    edit('a.js', 'one()', 'uno(1,2)'),
    command("sed -i 's/uno(1,2)/uno(1, 2);/' a.js && chmod +x run.sh && git mv b.js c.js"),
    done,
  ];

  async function changed(): Promise<FinishedRun> {
    const repository = await makeRepository({
      'a.js': 'start()\none()\nend()\n',
      'b.js': 'b()\n',
      'run.sh': '#!/bin/sh\n',
    });
    return scriptedRun({ repository, turns });
  }

  const shared = changed();

  test('is in result.json for every file and hunk, also with a formatter after an edit', async () => {
    const { result } = await shared;
    const edited = { by: 'tool', tool: 'edit_file', calls: ['toolu_0_0'], iteration: 1 };
    const formatted = { by: 'tool', tool: 'run_command', calls: ['toolu_1_0'], iteration: 2 };
    expect(result.provenance).toEqual({
      files: [
        {
          path: 'a.js',
          sources: [edited, formatted],
          hunks: [{ oldStart: 1, oldLines: 3, newStart: 1, newLines: 3, sources: [edited, formatted] }],
          cut: null,
        },
        { path: 'c.js', from: 'b.js', sources: [formatted], hunks: [], cut: null },
        { path: 'run.sh', sources: [formatted], hunks: [], cut: null },
      ],
      filesLeftOut: 0,
    });
  });

  test('is shown by patchsmith blame, line by line', async () => {
    const run = await shared;
    const said = await blame(run);
    expect(said.stdout).toBe(`[1]  turn 1  edit_file a.js
[2]  turn 2  run_command sed -i 's/uno(1,2)/uno(1, 2);/' a.js && chmod +x run.sh && git mv b.js c.js

M a.js +1 −1  [1,2]
  @@ -1,3 +1,3 @@  [1,2]
  1 -one()
  2 +uno(1, 2);

R b.js → c.js +0 −0  [2]

M run.sh mode  [2]
`);
    expect(said.stderr).toBe('patchsmith: done (exit 0): 3 files of the patch attributed.\n');
    expect((await blame(run, 'c.js')).stdout).toContain('R b.js → c.js');
    expect((await blame(run, '.')).stdout).toBe(said.stdout);
    const elsewhere = await blame(run, 'd.js');
    expect([elsewhere.exitCode, elsewhere.stdout]).toEqual([2, '']);
    expect(elsewhere.lastLine).toContain('does not change "d.js". It changes a.js, c.js, run.sh.');
  });

  test('commands of one turn run in parallel, as the model learns, and share what they changed', async () => {
    const waits = 'until test -e go.txt; do sleep 0.02; done; echo new > v.txt';
    const both = [call('run_command', { command: waits }), call('run_command', { command: 'echo > go.txt' })];
    const repository = await makeRepository({ 'v.txt': 'old\n' });
    const run = await scriptedRun({ repository, turns: [{ calls: both }, done] });
    const [request] = run.server.requests;
    const body = request?.body as { tools: { name: string; description: string }[] } | undefined;
    expect(body?.tools.find(({ name }) => name === 'run_command')?.description).toContain(
      'Commands of one turn run side by side.',
    );
    expect((await blame(run, 'v.txt')).stdout).toBe(`[1]  turn 1  ran together:
       run_command ${waits}
       run_command echo > go.txt

M v.txt +1 −1  [1]
  @@ -1,1 +1,1 @@  [1]
  1 -old
  1 +new
`);
  });

  test('is printed for machines as one document', async () => {
    const run = await shared;
    const { stdout } = await blame(run, 'a.js', '--output', 'json');
    const document = JSON.parse(stdout);
    expect([document.version, document.runId, document.files.length]).toEqual([1, run.result.runId, 1]);
    expect(document.files[0].hunks[0].lines[1]).toEqual({
      sign: '+',
      at: 2,
      text: 'uno(1, 2);',
      sources: run.result.provenance?.files[0]?.sources.slice(1),
    });
    expect((await blame(run, '--output', 'patch')).lastLine).toContain('blame prints text');
  });

  test('is not told of a run that is not there, has no patch, or whose patch is another', async () => {
    const run = await changed();
    writeFileSync(join(run.runDir, 'changes.patch'), 'something else\n');
    expect((await blame(run)).lastLine).toContain('is not the patch that the run wrote');
    rmSync(join(run.runDir, 'changes.patch'));
    expect((await blame(run)).lastLine).toContain('has made no patch');
    const nowhere = await runCli(['blame', 'no-such-run'], { cwd: temporaryFolder() });
    expect([nowhere.exitCode, nowhere.lastLine]).toEqual([
      2,
      expect.stringContaining('There is no run "no-such-run"'),
    ]);
    const unnamed = await runCli(['blame'], { cwd: temporaryFolder() });
    expect(unnamed.lastLine).toContain('is not in a checkout, so it has no last run. Name the run by its id');
  });
});

describe('a change that no call explains', () => {
  /** While the model thinks about its second turn, somebody edits one file, makes another, and removes a third. */
  async function meddled(args: readonly string[], second = command('echo command > by-command.txt')) {
    const repository: Repository = await makeRepository({
      'a.txt': 'a\n',
      'mine.txt': 'one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n',
      'old/gone.txt': 'g\n',
    });
    const meddle = () => {
      repository.write('a.txt', 'foreign\n');
      repository.write('foreign/new.txt', 'foreign\n');
      rmSync(join(repository.root, 'old/gone.txt'));
    };
    // The answer takes longer than a tick of the file system's clock.
    const slow = { ...second, pings: 3, gapMs: 25 };
    const script = [command('sed -i s/one/uno/ mine.txt'), slow, done];
    return scriptedRun({
      repository,
      turns: (_request, index) => {
        if (index === 1) meddle();
        return script[index] ?? done;
      },
      args,
    });
  }

  test('is not put down to the next command, is reported, and stays out of the patch', async () => {
    const { result, stderr } = await meddled([]);
    expect(result.changedFiles.map(({ path }) => path)).toEqual(['by-command.txt', 'mine.txt']);
    expect(result.unexplained).toEqual([
      { path: 'a.txt', by: 'outside' },
      { path: 'foreign/new.txt', by: 'outside' },
      { path: 'old/gone.txt', by: 'outside' },
    ]);
    expect(stderr).toContain(
      '[WARN_MADE_BY_OTHERS] Not in the patch, because no tool call made them: a.txt (outside)',
    );
  });

  testAtNight(
    'is taken into the patch with --include-foreign, named as what it is, and there again in a replay',
    async () => {
      const { result, stderr, runDir } = await meddled(['--include-foreign']);
      const replayed = await runCli(['replay', runDir, '--repo', checkoutOf(runDir), '--sandbox', 'off'], {
        cwd: temporaryFolder(),
      });
      expect(replayed.lastLine).toContain('replayed to the same patch, byte for byte');
      expect(result.unexplained).toEqual([]);
      expect(
        result.provenance?.files.map(({ path, sources }) => [path, sources.map(({ by }) => by)]),
      ).toEqual([
        ['a.txt', ['outside']],
        ['by-command.txt', ['tool']],
        ['foreign/new.txt', ['outside']],
        ['mine.txt', ['tool']],
        ['old/gone.txt', ['outside']],
      ]);
      expect(stderr).toContain(
        '[WARN_NOT_BY_TOOL_CALLS] In the patch, although not all of it was made by tool calls: a.txt (outside), foreign/new.txt (outside), old/gone.txt (outside)',
      );
    },
  );
});
