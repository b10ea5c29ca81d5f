import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, describe, expect, test } from 'vitest';
import { MAX_CALLS_IN_A_TURN } from '../../src/domain/tools-phase.ts';
import { makeRepository, removeFolders, temporaryFolder } from '../support/repository.ts';
import { call, type FinishedRun, scriptedRun } from '../support/scripted-run.ts';
import { until } from '../support/until.ts';

afterAll(removeFolders);

/** Plays turns that are written down, since a real model's window would be full of them. */
async function played(
  files: Record<string, string>,
  turns: readonly object[],
  args: readonly string[] = [],
): Promise<FinishedRun> {
  const recording = join(temporaryFolder(), 'turns.jsonl');
  writeFileSync(recording, turns.map((turn) => `${JSON.stringify(turn)}\n`).join(''));
  return scriptedRun({
    repository: await makeRepository(files),
    turns: [],
    args: ['--provider', 'replay', '--recording', recording, ...args],
  });
}

test('a turn of 5,000 calls: the first are run, the others answered, and the run goes on', async () => {
  const calls = Array.from({ length: 5_000 }, () => call('read_file', { path: 'a.txt' }));
  const next = { calls: [call('write_file', { path: 'b.txt', content: 'b\n' })] };
  const run = await played({ 'a.txt': 'a\n' }, [{ calls }, next, { text: 'Done.' }]);
  expect(run.lastLine).toBe('patchsmith: done (exit 0): 1 file changed, nothing to verify.');
  const answers = run.events.flatMap((event) => (event.type === 'tool.completed' ? [event] : []));
  const ends = answers.slice(0, calls.length).map(({ outcome }) => outcome.status);
  expect(ends).toEqual(calls.map((_, at) => (at < MAX_CALLS_IN_A_TURN ? 'ok' : 'failed')));
  expect(answers[MAX_CALLS_IN_A_TURN]?.outcome).toMatchObject({
    reason: 'too_many_calls',
    text: expect.stringContaining(`a turn may have ${MAX_CALLS_IN_A_TURN} calls`),
  });
  expect(run.events.filter(({ type }) => type === 'tool.started')).toHaveLength(MAX_CALLS_IN_A_TURN + 1);
  expect(run.stderr).toContain('[1] 5,000 calls in one turn: only the first 128 are run\n');
});

describe('time that is over', () => {
  /** Takes git hours to compare with a path of that many folders. */
  const endless = { '.gitignore': `${'**/a/'.repeat(12)}x\n`, 'b.txt': 'b\n' };
  const deep = 'mkdir -p $(printf "a/%.0s" $(seq 120)); echo > $(printf "a/%.0s" $(seq 120))f';
  const command = (script: string) => ({ calls: [call('run_command', { command: script })] });

  test('the deadline ends the look at the work tree that the run begins with, and git with it', async () => {
    const repository = await makeRepository(endless);
    await execa('bash', ['-c', deep], { cwd: repository.root });
    const run = await scriptedRun({ repository, turns: [], args: ['--deadline', '2s'] });
    expect(run.lastLine).toBe(
      'patchsmith: deadline (exit 124): The deadline of 2 s passed; no file was changed. Raise it with --deadline.',
    );
    expect(gitIn(run.runDir)).toEqual([]);
  });

  test('a signal ends the look after a command, and git with it; what was recorded before is the patch', async () => {
    const edit = { calls: [call('write_file', { path: 'b.txt', content: 'new\n' })] };
    const run = await scriptedRun({
      repository: await makeRepository(endless),
      turns: [edit, command(deep)],
      async during({ pid, runDir }) {
        await until(
          'git looks at the folders',
          () => gitIn(runDir).length > 0 && countOf(runDir, 'tool.started') === 2,
        );
        process.kill(pid, 'SIGTERM');
      },
    });
    expect(run.lastLine).toBe(
      'patchsmith: interrupted (exit 143): Stopped by SIGTERM; the patch so far has 1 file.',
    );
    expect(run.result.changedFiles.map(({ path }) => path)).toEqual(['b.txt']);
    expect(run.result.warnings.join()).toContain('There was no time to look at the whole work tree');
    expect(run.events.slice(-2).map(({ type }) => type)).toEqual(['run.interrupted', 'run.stopped']);
    expect(gitIn(run.runDir)).toEqual([]);
  });
});

/** Processes of git that work with a run's folders. */
function gitIn(runDir: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
        const environment = readFileSync(`/proc/${pid}/environ`, 'utf8');
        return /^\S*\/git /.test(line) && `${line}${environment}`.includes(runDir) ? [line] : [];
      } catch {
        return [];
      }
    });
}

function countOf(runDir: string, type: string): number {
  const journal = join(runDir, 'events.jsonl');
  return existsSync(journal) ? readFileSync(journal, 'utf8').split(`"type":"${type}"`).length - 1 : 0;
}
