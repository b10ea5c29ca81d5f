/** Which conflicts a model can resolve, what it sees of them, and what is still one. */

import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { conflictHunks, conflictKind, hasMarkers, markerCheck } from '../../../src/domain/github/conflict.ts';
import { temporaryFolder } from '../../support/files/repository.ts';

const side = (mode = '100644') => ({ mode, blob: 'a'.repeat(40) });
const HUNK = '<<<<<<< pull-request\nours\n||||||| 1234567\nthen\n=======\ntheirs\n>>>>>>> base\n';

test.each([
  ['both changed lines', { ours: side(), theirs: side() }, `x\n${HUNK}`, 'lines'],
  ['both changed a binary file', { ours: side(), theirs: side() }, `\0${HUNK}`, null],
  [
    'both changed what git merges without markers, such as a mode',
    { ours: side(), theirs: side() },
    'x',
    null,
  ],
  ['one is a link', { ours: side('120000'), theirs: side() }, HUNK, null],
  ['the base deleted it', { ours: side(), theirs: null }, 'x', 'deleted in the base'],
  ['the pull request deleted it', { ours: null, theirs: side() }, 'x', 'deleted in the pull request'],
  ['both moved it', { ours: null, theirs: null }, 'x', null],
  ['nothing is there', { ours: side(), theirs: null }, null, null],
])('%s', (_, sides, merged, kind) => {
  const conflict = { path: 'a', before: side(), ...sides };
  expect(conflictKind(conflict, merged === null ? null : Buffer.from(merged))).toBe(kind);
});

test('hunks have the lines around them and the number of the first; those that meet are one', () => {
  const before = ['1', '2', '3', '4', '5'].join('\n');
  const text = `${before}\n${HUNK}6\n${HUNK}7\n8\n9\n10\n`;
  expect(conflictHunks(text, 10_000)).toBe(`line 3:\n3\n4\n5\n${HUNK}6\n${HUNK}7\n8\n9`);
  expect(conflictHunks(text, 10)).toHaveLength(10);
  expect([text, 'x <<<<<<< pull-request', '=======\n'].map(hasMarkers)).toEqual([true, false, false]);
});

test('the check fails for any file with a marker, whatever its name, but not for a deleted one', () => {
  const cwd = temporaryFolder();
  const names = ['gone', "it's $(touch x).txt", '-n'];
  const run = () => execFileSync('sh', ['-c', markerCheck(names)], { cwd, stdio: 'pipe' }).toString();
  expect(run()).toBe('');
  for (const name of names.slice(1)) {
    writeFileSync(join(cwd, name), `x\n${HUNK}`);
    expect(run).toThrow();
    writeFileSync(join(cwd, name), 'x\n=======\n');
    expect(run()).toBe('');
  }
});
