/** The end of a run, when one of its steps fails or has no time left: what the other steps made is still there. */

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { withDefaults } from '../../../src/config/schema.ts';
import { CutShort } from '../../../src/domain/errors/thrown.ts';
import { RunResult } from '../../../src/domain/run/result.ts';
import { freshRun } from '../../../src/engine/fresh/spec.ts';
import { openRun } from '../../../src/engine/open-run.ts';
import { runOpened } from '../../../src/engine/run.ts';
import type { Workspace } from '../../../src/ports/workspace.ts';
import { startClaudeServer } from '../../support/claude-server/server.ts';
import { makeRepository, temporaryFolder } from '../../support/files/repository.ts';
import { inputOf, sink } from '../../support/runs/from-sources.ts';
import { call, KEY } from '../../support/runs/scripted-run.ts';

/** Writes one file, and ends with a workspace that fails in this method. */
async function endingWith(method: keyof Workspace, error: Error) {
  const { root } = await makeRepository({ 'a.txt': 'a\n' });
  const server = await startClaudeServer({
    turns: [{ calls: [call('write_file', { path: 'b.txt', content: 'b\n' })] }, { text: 'Done.' }],
    apiKey: KEY,
  });
  onTestFinished(() => server.close());
  const runDir = join(temporaryFolder(), 'run');
  const settings = withDefaults({
    ...{ repo: root, message: 'Do it', sandbox: 'off', runDir, baseUrl: server.url },
  });
  const input = inputOf(
    settings,
    sink(() => {}),
  );
  const { name, reason } = await runOpened(input, async (session) => {
    const ready = await openRun(session, freshRun);
    return ready.status === 'stopped'
      ? ready
      : { ...ready, workspace: { ...ready.workspace, [method]: () => Promise.reject(error) } };
  });
  const result = RunResult.parse(JSON.parse(readFileSync(join(runDir, 'result.json'), 'utf8')));
  const changed = result.changedFiles.map(({ path }) => path);
  const isPatchThere = existsSync(join(runDir, 'changes.patch'));
  return { name, reason, changed, isPatchThere, isPatchTold: result.patch !== null, result };
}

describe('a run whose end fails in one step', () => {
  test.each(['nestedChanges', 'ignoredWrites'] as const)(
    'in %s is a bug, and its patch is in the result anyway',
    async (method) => {
      const end = await endingWith(method, new Error('boom'));
      expect(end).toMatchObject({ name: 'internal_error', changed: ['b.txt'], isPatchThere: true });
      expect([end.isPatchTold, end.result.treeSha]).toEqual([true, expect.any(String)]);
      expect(end.reason).toContain('boom. This is a bug in patchsmith');
    },
  );

  test('in the patch is a bug, and there is no patch', async () => {
    const end = await endingWith('makePatch', new Error('boom'));
    expect(end).toMatchObject({
      name: 'internal_error',
      changed: [],
      isPatchThere: false,
      isPatchTold: false,
    });
  });

  test('caused by the machine says how to continue', async () => {
    const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
    const end = await endingWith('ignoredWrites', full);
    expect(end).toMatchObject({ name: 'internal_error', isPatchThere: true });
    expect(end.reason).toMatch(/^No space is left.*patchsmith resume /);
  });
});

test('a run directory that cannot be tidied is a warning', async () => {
  const end = await endingWith('keepEssentials', new Error('boom'));
  expect([end.name, end.result.warnings]).toEqual([
    'done',
    ['[WARN_RUN_DIRECTORY_LARGE] The run directory is larger than necessary: Error: boom'],
  ]);
});

test('a run without time to look for changes outside its own repository still has its patch', async () => {
  const end = await endingWith('nestedChanges', new CutShort());
  expect(end).toMatchObject({ name: 'done', changed: ['b.txt'], isPatchThere: true, isPatchTold: true });
  expect(end.result.warnings.join()).toContain(
    '[WARN_LOOK_CUT_SHORT] There was not enough time to look for changes in submodules',
  );
});
