import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findRun } from '../../../src/adapters/storage/find-run.ts';
import { tempFolder } from '../../support/files/temp-folder.ts';

describe('a run is found', () => {
  test('by its folder, and by its id in the places where runs are kept', async () => {
    const cwd = tempFolder({
      'here/events.jsonl': '',
      'state/patchsmith/r1/result.json': '',
      'runner/x': '',
    });
    const env = { RUNNER_TEMP: join(cwd, 'runner'), XDG_STATE_HOME: join(cwd, 'state'), HOME: cwd };
    const found = async (run: string) => {
      const result = await findRun(run, { cwd, env });
      return result.status === 'ok' ? result.directory.path : result.message;
    };
    expect(await found('here')).toBe(join(cwd, 'here'));
    expect(await found(join(cwd, 'here'))).toBe(join(cwd, 'here'));
    expect(await found('r1')).toBe(join(cwd, 'state/patchsmith/r1'));
    expect(await found('r2')).toBe(
      `There is no run "r2" (looked in ${['r2', 'runner/patchsmith/r2', 'state/patchsmith/r2', '.local/state/patchsmith/r2'].map((place) => join(cwd, place)).join(', ')}). Name its run directory.`,
    );
    expect(await found('x/r1')).toBe(
      `There is no run "x/r1" (looked in ${join(cwd, 'x/r1')}). Name its run directory.`,
    );
  });
});
