import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { RunEvent } from '../../../src/domain/run/events.ts';
import { makeRepository, temporaryFolder } from '../../support/files/repository.ts';
import { checkoutOf, runCli } from '../../support/runs/cli.ts';
import { call, command, done, type FinishedRun, scriptedRun } from '../../support/runs/scripted-run.ts';
import { testAtNight } from '../../support/setup/at-night.ts';
import { withEnoughTime } from '../../support/waiting/enough-time.ts';

const write = (path: string, content: string) => ({ calls: [call('write_file', { path, content })] });

/** Replays a run from an empty folder, without a key. */
async function replay({ runDir }: Pick<FinishedRun, 'runDir'>, ...args: string[]) {
  const state = temporaryFolder();
  const repository = args.includes('--repo') ? [] : ['--repo', checkoutOf(runDir)];
  const end = await runCli(['replay', runDir, ...repository, ...args], {
    cwd: temporaryFolder(),
    env: { XDG_STATE_HOME: state },
  });
  return { ...end, state };
}

/** Changes one event of a finished run's journal. */
function rewrite({ runDir }: FinishedRun, seq: number, change: (event: RunEvent) => unknown): void {
  const journal = join(runDir, 'events.jsonl');
  const lines = readFileSync(journal, 'utf8').trimEnd().split('\n');
  lines[seq - 1] = JSON.stringify(change(JSON.parse(lines[seq - 1] ?? '') as RunEvent));
  writeFileSync(journal, `${lines.join('\n')}\n`);
}

const proven =
  /^patchsmith: done \(exit 0\): \d+ events replayed to the same patch, byte for byte \([\d,]+ bytes\)\.$/;

test('a journal of another version is refused', async () => {
  const repository = await makeRepository({ 'a.txt': 'a\n' });
  const run = await scriptedRun({
    repository,
    turns: [write('b.txt', 'b\n'), done],
    args: ['--sandbox', 'off'],
  });
  rewrite(run, 1, (event) => ({ ...event, journalVersion: 2 }));
  const unknown = await replay(run, '--sandbox', 'off');
  expect([unknown.exitCode, unknown.lastLine]).toEqual([2, expect.stringContaining('journalVersion')]);
});

describe('a replay proves the same patch', () => {
  test('with all seven tools, setup and verify commands, after the checkout of a run with --keep-base has gone', async () => {
    const repository = await makeRepository({
      'plan.md':
        '---\nsetup: [echo generated > generated.txt]\nverify: [test -f new.txt && pwd && date]\nprotect: [kept.txt]\n---\nDo it.\n',
      'a.txt': 'old\n',
      '.gitattributes': '*.bat eol=crlf\n',
      '.gitignore': 'out\n',
      'run.bat': 'one\r\ntwo\r\n',
      'dir/b.txt': 'b\n',
    });
    repository.write('dirty.txt', 'uncommitted\n');
    const recorded = await scriptedRun({
      repository,
      plan: join(repository.root, 'plan.md'),
      args: ['--keep-base'],
      turns: [
        {
          calls: [
            call('list_files', { path: '.' }),
            call('search', { pattern: 'old' }),
            call('read_file', { path: 'run.bat' }),
            call('write_file', { path: 'kept.txt', content: 'refused' }),
          ],
        },
        { calls: [call('edit_file', { path: 'a.txt', find: 'old', replace: 'new' })] },
        // What is recorded and stays out of the patch is not compared.
        { calls: [...write('out', 'x\n').calls, ...command('echo b > dir/b.txt').calls] },
        command('pwd; ls -l; date; pwd > new.txt; git log --format=%s | wc -l; time true; rm dir/b.txt'),
        command(`cd ${repository.root} && chmod +x a.txt; exit 3`),
        { calls: [call('finish', { status: 'done', summary: 'Done.' })] },
      ],
    });
    expect(recorded.result.outcome, recorded.stderr).toBe('done');
    rmSync(repository.root, { recursive: true });
    const end = await replay(recorded, '--repo', temporaryFolder());
    expect(end.lastLine, end.stderr).toMatch(proven);
    expect(end.exitCode).toBe(0);
  });

  testAtNight('of runs that did not go well: a limit, failed verification, a failing provider', async () => {
    const unhappy = [
      { turns: [write('a.txt', 'x\n')], args: ['--max-iterations', '1'] },
      { turns: [write('a.txt', 'x\n'), done], args: ['--verify', 'echo red; false', '--fix-rounds', '0'] },
    ];
    for (const { turns, args } of unhappy) {
      const repository = await makeRepository({ 'a.txt': 'old\n' });
      const recorded = await scriptedRun({ repository, turns, args });
      expect(recorded.exitCode).not.toBe(0);
      const end = await replay(recorded);
      expect(end.lastLine, `${args} ${end.stderr}`).toMatch(proven);
    }
  });

  testAtNight(
    'of a run whose model was asked again, and whose deadline struck while it was silent',
    async () => {
      const overloaded = { fault: { kind: 'http', status: 529, retryAfter: '0' } } as const;
      const silent = { text: 'half', fault: { kind: 'stall', afterEvents: 3 } } as const;
      const recorded = await withEnoughTime(
        async (limitMs) => {
          const repository = await makeRepository({ 'a.txt': 'old\n' });
          const turns = [overloaded, write('a.txt', 'x\n'), overloaded, silent];
          return scriptedRun({ repository, turns, args: ['--deadline', `${limitMs / 1000}s`] });
        },
        ({ events }) => events.some(({ type }) => type === 'turn.interrupted'),
      );
      const end = await replay(recorded);
      expect(end.lastLine, end.stderr).toMatch(proven);
    },
  );

  test('of a run that reached its deadline during a command', async () => {
    const turns = [write('a.txt', 'x\n'), command('echo half > half.txt; sleep 600')];
    const recorded = await withEnoughTime(
      async (limitMs) => {
        const repository = await makeRepository({ 'a.txt': 'old\n' });
        return scriptedRun({ repository, turns, args: ['--deadline', `${limitMs / 1000}s`] });
      },
      ({ patch }) => patch.includes('+half'),
    );
    expect(recorded.result.outcome).toBe('deadline');
    const end = await replay(recorded);
    expect(end.lastLine, end.stderr).toMatch(proven);
  });
});

describe('what differs is named:', () => {
  test('another tool result, with the same patch', async () => {
    const repository = await makeRepository({ 'a.txt': 'old\n' });
    const recorded = await scriptedRun({
      repository,
      turns: [{ calls: [call('read_file', { path: 'a.txt' })] }, write('a.txt', 'new\n'), done],
    });
    const seq = recorded.events.findIndex((event) => event.type === 'tool.completed') + 1;
    rewrite(recorded, seq, (event) => JSON.parse(JSON.stringify(event).replace('old', 'odd')));
    const end = await replay(recorded);
    expect(end.exitCode).toBe(0);
    expect(end.lastLine).toMatch(
      new RegExp(
        `^patchsmith: done \\(exit 0\\): The patch is identical \\([0-9]+ bytes\\)\\. The output differs at event ${seq} \\(tool.completed \\w+\\), outcome.text: expected ".*odd.*", got ".*old.*"\\.$`,
      ),
    );
  });

  test('another patch', async () => {
    const repository = await makeRepository({ 'a.txt': 'old\n' });
    const recorded = await scriptedRun({ repository, turns: [write('a.txt', 'new\n'), done] });
    appendFileSync(join(recorded.runDir, 'changes.patch'), '\n');
    const end = await replay(recorded);
    expect(end.lastLine).toContain(
      'verify_failed (exit 9) [ERR_REPLAY_OTHER_PATCH]: The patch is not that of ',
    );
  });
});

test('an unfinished run, or a folder without one, is refused by name', async () => {
  const repository = await makeRepository({ 'a.txt': 'old\n' });
  const recorded = await scriptedRun({ repository, turns: [write('a.txt', 'new\n'), done] });
  const journal = join(recorded.runDir, 'events.jsonl');
  writeFileSync(journal, readFileSync(journal, 'utf8').slice(0, -20));
  expect((await replay(recorded)).lastLine).toMatch(
    /usage_error \(exit 2\) \[ERR_NOT_REPLAYABLE\]: The run \S+ was not finished: its journal ends with event \d+\.$/,
  );
  const kept = join(temporaryFolder(), 'kept');
  expect((await replay({ runDir: 'nothing' }, '--run-dir', kept)).lastLine).toMatch(
    /usage_error \(exit 2\) \[ERR_RUN_NOT_FOUND\]: There is no run "nothing"/,
  );
  expect(readFileSync(join(kept, 'result.json'), 'utf8')).toContain('There is no run');
  const misspelt = join(temporaryFolder(), 'misspelt');
  expect((await replay(recorded, '--run-dir', misspelt, '--max-processes', 'many')).exitCode).toBe(2);
  expect(readFileSync(join(misspelt, 'result.json'), 'utf8')).toContain('--max-processes');
});

test('a replay leaves the run as it was and no copy behind', async () => {
  const repository = await makeRepository({ 'a.txt': 'old\n' });
  const recorded = await scriptedRun({ repository, turns: [write('a.txt', 'new\n'), done] });
  const temporary = temporaryFolder();
  const end = await runCli(
    ['replay', recorded.runDir, '--repo', repository.root, '--run-dir', join(temporary, 'again')],
    {
      cwd: temporary,
      env: { TMPDIR: temporary },
      built: true,
    },
  );
  expect(end.lastLine).toMatch(proven);
  expect(readFileSync(join(temporary, 'again/changes.patch'))).toEqual(
    readFileSync(join(recorded.runDir, 'changes.patch')),
  );
  expect(existsSync(join(temporary, 'again/result.json'))).toBe(true);
});
