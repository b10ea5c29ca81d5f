/** Large run directories: whoever reads them hears signals and the deadline meanwhile. */

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { readJournal, stateAfter } from '../../src/adapters/storage/read-journal.ts';
import { runDirectoryAt } from '../../src/adapters/storage/run-directory.ts';
import { whyNotUsable } from '../../src/adapters/storage/run-directory-check.ts';
import { CutShort } from '../../src/domain/errors/thrown.ts';
import type { RunEvents } from '../../src/domain/run/events.ts';
import { until } from '../../src/files/time-limit.ts';
import { makeRepository, temporaryFolder } from '../support/files/repository.ts';
import { started } from '../support/runs/events.ts';
import { finishedRun } from '../support/runs/finished-run.ts';
import { sourcesHere } from '../support/runs/from-sources.ts';
import { KEY } from '../support/runs/scripted-run.ts';

const RUN_ID = '20261121-164500-3f9a2c';

/** The events of a run from which so many files with names of so many characters were hidden. */
function eventsOf(root: string, count: number, length = 1): RunEvents {
  const name = 'm'.repeat(length);
  const hidden = Array.from({ length: count }, (_, at) => ({
    type: 'files.hidden' as const,
    paths: [`${name}${at}`],
    seq: at + 2,
    at: at + 2,
  }));
  return [{ ...started, runId: RUN_ID, root, seq: 1, at: 1 }, ...hidden];
}

/** A run directory among those of a user, with a journal of these events. */
function recorded(events: RunEvents) {
  const state = temporaryFolder();
  const runDir = join(state, 'patchsmith', RUN_ID);
  mkdirSync(runDir, { recursive: true, mode: 0o700 });
  const lines = events.map((event) => JSON.stringify(event));
  writeFileSync(join(runDir, 'events.jsonl'), `${lines.join('\n')}\n`);
  writeFileSync(join(runDir, 'result.json'), JSON.stringify({ ...finishedRun(), runId: RUN_ID }));
  return { state, runDir };
}

/** A signal that comes when whoever is at work lets others have a turn. */
async function inTheMidstOf<T>(work: () => Promise<T>): Promise<T> {
  const signal = new AbortController();
  const result = until(signal.signal, work);
  await setImmediate();
  signal.abort({ cause: 'signal', signal: 'SIGTERM' });
  return result;
}

describe('a signal is heard', () => {
  test('while a journal of megabytes is read', async () => {
    const { runDir } = recorded(eventsOf('/work', 4, 2 ** 20));
    await expect(inTheMidstOf(() => readJournal(join(runDir, 'events.jsonl')))).rejects.toThrow(CutShort);
  });

  test('while its events are folded', async () => {
    await expect(inTheMidstOf(() => stateAfter(eventsOf('/work', 1_000)))).rejects.toThrow(CutShort);
  });

  test('while a run directory of many files is looked through', async () => {
    const { runDir } = recorded(eventsOf('/work', 1));
    for (let at = 0; at < 256; at += 1)
      mkdirSync(join(runDir, 'shadow.git/objects', at.toString(16).padStart(2, '0'), 'x'), {
        recursive: true,
      });
    await expect(inTheMidstOf(() => whyNotUsable(runDirectoryAt(runDir)))).rejects.toThrow(CutShort);
  });
});

const SIGTERM = AbortSignal.abort({ cause: 'signal', signal: 'SIGTERM' });

describe('a command ends at a signal before it has read a run', () => {
  test.each(['resume', 'replay', 'undo', 'blame', 'show', 'report', 'runs', 'usage'])(
    '%s',
    async (command) => {
      const { root } = await makeRepository({});
      const { state, runDir } = recorded(eventsOf(root, 1));
      // What a run has spent stands in its journal where it has not ended.
      if (command === 'usage') writeFileSync(join(runDir, 'result.json'), '{}');
      const words = ['runs', 'usage'].includes(command) ? [command] : [command, runDir];
      const env = { PATH: process.env.PATH, HOME: root, XDG_STATE_HOME: state, ANTHROPIC_API_KEY: KEY };
      const end = await sourcesHere(words, { cwd: root, env, interrupt: SIGTERM });
      expect(end.exitCode, end.stderr).toBe(143);
    },
  );
});

test('resume keeps its deadline while it reads, and tells machines so', async () => {
  const { root } = await makeRepository({});
  const { runDir } = recorded(eventsOf(root, 1_000));
  const { exitCode, stdout, stderr } = await sourcesHere(
    ['resume', runDir, '--deadline', '0.001s', '--output', 'json'],
    { cwd: root, env: { PATH: process.env.PATH, HOME: root, ANTHROPIC_API_KEY: KEY } },
  );
  expect(exitCode).toBe(124);
  expect(JSON.parse(stdout)).toMatchObject({ outcome: 'deadline', exitCode: 124 });
  expect(stderr).toContain('the run directory was not read completely');
});
