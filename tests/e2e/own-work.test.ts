import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { MAX_CALLS_IN_A_TURN } from '../../src/domain/tools-phase.ts';
import { makeRepository, removeFolders, temporaryFolder } from '../support/repository.ts';
import { call, type FinishedRun, scriptedRun } from '../support/scripted-run.ts';

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

test('a turn of 20,000 calls: the first are run, the others answered, and the run goes on', async () => {
  const calls = Array.from({ length: 20_000 }, () => call('read_file', { path: 'a.txt' }));
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
  expect(run.stderr).toContain('[1] 20,000 calls in one turn: only the first 128 are run\n');
});
