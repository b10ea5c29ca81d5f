import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  clearScratch,
  makeRunDirectory,
  placesOf,
  type RunDirectoryRequest,
  resultLine,
  writeResult,
} from '../../../src/adapters/storage/run-directory.ts';
import { redactorFor } from '../../../src/domain/secrets/redact.ts';
import { jsonDocument } from '../../../src/domain/text/terminal.ts';
import { emptyResult } from '../../../src/engine/finish/empty-result.ts';
import { tempFolder } from '../../support/files/temp-folder.ts';

function make(part: Partial<RunDirectoryRequest>) {
  const made = makeRunDirectory({ runId: 'id', chosen: null, cwd: '/', env: {}, workTree: null, ...part });
  return made.status === 'ok' ? made.directory : made.message;
}

const pathOf = (part: Partial<RunDirectoryRequest>) => {
  const made = make(part);
  return typeof made === 'string' ? made : made.path;
};

test('the folder is the chosen one, else the runner’s, else one in the state folder of the user', () => {
  const home = tempFolder();
  const env = { HOME: home };
  expect(pathOf({ chosen: 'x/y', cwd: home, env })).toBe(join(home, 'x/y'));
  expect(pathOf({ env: { ...env, RUNNER_TEMP: join(home, 'r') } })).toBe(join(home, 'r/patchsmith/id'));
  expect(pathOf({ env: { ...env, XDG_STATE_HOME: join(home, 's') } })).toBe(join(home, 's/patchsmith/id'));
  expect(pathOf({ env })).toBe(join(home, '.local/state/patchsmith/id'));
  expect(statSync(join(home, 'x/y')).mode & 0o777).toBe(0o700);
});

test('a variable without an absolute path says no place', () => {
  const env = { HOME: tempFolder(), XDG_STATE_HOME: 'state', RUNNER_TEMP: '' };
  expect(placesOf('id', env)).toEqual([join(env.HOME, '.local/state/patchsmith/id')]);
  for (const HOME of ['', 'home', undefined])
    expect(placesOf('id', { HOME })).toEqual([join(userInfo().homedir, '.local/state/patchsmith/id')]);
});

test('a folder in the work tree, also through a link, or with a run in it, is refused', () => {
  const workTree = tempFolder();
  const link = join(tempFolder(), 'link');
  symlinkSync(workTree, link);
  const inside = (path: string) =>
    `The run directory ${path} is in the work tree ${workTree}. Choose one outside with --run-dir.`;
  expect(make({ chosen: join(workTree, 'run'), workTree })).toBe(inside(join(workTree, 'run')));
  expect(make({ chosen: join(link, 'a/b'), workTree })).toBe(inside(join(link, 'a/b')));
  expect(readdirSync(workTree)).toEqual([]);
  expect(pathOf({ chosen: `${workTree}-next`, workTree })).toBe(`${workTree}-next`);
  const used = tempFolder({ 'events.jsonl': '' });
  expect(make({ chosen: used })).toContain('already contains a run');
  for (const impossible of ['/dev/null/run', '/proc/run/below'])
    expect(make({ chosen: impossible })).toMatch(
      new RegExp(
        `^The run directory ${impossible} cannot be created: .*\\. Choose another one with --run-dir, or the folder of all runs with XDG_STATE_HOME\\.$`,
      ),
    );
});

test('the result is replaced atomically, is readable only for its owner, and contains no secret', () => {
  const directory = make({ chosen: tempFolder() });
  if (typeof directory === 'string') throw new Error(directory);
  const result = { ...emptyResult('r', '0'), summary: 'It is se"cret-value.', iterations: 12345678 };
  const redact = redactorFor(['se"cret-value', '12345678']);
  writeResult(directory, 'older');
  writeResult(directory, jsonDocument(result, redact));
  expect(JSON.parse(readFileSync(directory.result, 'utf8'))).toEqual({ ...result, summary: 'It is ***.' });
  expect(statSync(directory.result).mode & 0o777).toBe(0o600);
  expect(readdirSync(directory.path)).toEqual(['result.json', 'scratch']);
  expect(JSON.parse(resultLine(result, redact))).toEqual({
    type: 'result',
    ...result,
    summary: 'It is ***.',
  });
});

test('scratch is removed, even with read-only folders in it', () => {
  const directory = make({ chosen: tempFolder() });
  if (typeof directory === 'string') throw new Error(directory);
  mkdirSync(join(directory.scratch, 'mod/pkg'), { recursive: true });
  chmodSync(join(directory.scratch, 'mod/pkg'), 0o500);
  chmodSync(join(directory.scratch, 'mod'), 0o500);
  expect(clearScratch(directory)).toBeNull();
  expect(existsSync(directory.scratch)).toBe(false);
  expect(clearScratch(directory)).toBeNull();
});
