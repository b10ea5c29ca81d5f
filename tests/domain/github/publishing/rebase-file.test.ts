import { describe, expect, test } from 'vitest';
import type { FileMode } from '../../../../src/domain/changes/change.ts';
import type { PatchedPath, PatchedState } from '../../../../src/domain/changes/patch-text.ts';
import { type Occupant, rebaseFile } from '../../../../src/domain/github/publishing/rebase-file.ts';

const file = (blob: string, mode: FileMode = '100644') => ({ mode, blob });
const at =
  (tree: Record<string, PatchedState | 'folder'>) =>
  (path: string): Occupant | null => {
    const there = tree[path];
    if (there === undefined) return null;
    return there === 'folder' ? { kind: 'folder' } : ({ kind: 'file', ...there } as Occupant);
  };
const change = (
  before: PatchedState | null,
  after: PatchedState | null,
  from: string | null = null,
): PatchedPath => ({
  path: 'f',
  from,
  before,
  after,
  additions: 1,
  deletions: 1,
});
const put = (part: object) => ({
  do: 'put',
  path: 'f',
  removed: null,
  mode: '100644',
  current: null,
  ...part,
});
const conflict = (why: string) => ({ do: 'conflict', path: 'f', why });

describe('a file that the patch makes', () => {
  const made = change(null, file('new'));
  test.each([
    ['is made where there is none', {}, put({ content: 'patch' })],
    ['is there already', { f: file('new') }, { do: 'nothing' }],
    ['is in the way of another one', { f: file('else') }, conflict('another file was created there since')],
    ['has a folder in its place', { f: 'folder' as const }, conflict('a folder has taken its place')],
  ])('%s', (_, tree, expected) => {
    expect(rebaseFile(made, at(tree))).toEqual(expected);
  });
});

describe('a file that the patch deletes', () => {
  const gone = change(file('old'), null);
  test.each([
    ['is deleted', { f: file('old') }, { do: 'delete', path: 'f' }],
    ['is gone already', {}, { do: 'nothing' }],
    ['has changed since', { f: file('else') }, conflict('it has changed since')],
    ['has another mode since', { f: file('old', '100755') }, conflict('it has changed since')],
  ])('%s', (_, tree, expected) => {
    expect(rebaseFile(gone, at(tree))).toEqual(expected);
  });
});

describe('a file that the patch changes', () => {
  const changed = change(file('old'), file('new'));
  test.each([
    ['as it was', { f: file('old') }, put({ content: 'patch', current: 'old' })],
    ['has the change already', { f: file('new') }, { do: 'nothing' }],
    ['has changed too', { f: file('else') }, put({ content: 'merge', current: 'else' })],
    [
      'has another mode since, which it keeps',
      { f: file('old', '100755') },
      put({ content: 'patch', mode: '100755', current: 'old' }),
    ],
    ['is gone', {}, conflict('it is gone')],
    ['has become a link', { f: file('old', '120000') }, conflict('it has changed since')],
  ])('%s', (_, tree, expected) => {
    expect(rebaseFile(changed, at(tree))).toEqual(expected);
  });

  test('in its mode alone keeps whatever content it has now', () => {
    const executable = change({ mode: '100644', blob: null }, { mode: '100755', blob: null });
    expect(rebaseFile(executable, at({ f: file('any') }))).toEqual(
      put({ content: 'tree', mode: '100755', current: 'any' }),
    );
    expect(rebaseFile(executable, at({ f: file('any', '100755') }))).toEqual({ do: 'nothing' });
  });

  test('and that is a link is not merged', () => {
    const link = change(file('old', '120000'), file('new', '120000'));
    expect(rebaseFile(link, at({ f: file('else', '120000') }))).toEqual(conflict('it has changed since'));
  });
});

describe('a file that the patch renames', () => {
  const renamed = change(file('old'), file('new'), 'g');
  const moved = { removed: 'g', current: 'old' };
  test.each([
    ['as it was', { g: file('old') }, put({ ...moved, content: 'patch' })],
    ['has changed too', { g: file('else') }, put({ ...moved, content: 'merge', current: 'else' })],
    ['has been renamed already', { f: file('new') }, { do: 'nothing' }],
    ['is gone', {}, conflict('g is gone')],
    [
      'has another file in its new place',
      { g: file('old'), f: file('x') },
      conflict('another file was created there since'),
    ],
  ])('%s', (_, tree, expected) => {
    expect(rebaseFile(renamed, at(tree))).toEqual(expected);
  });

  test('and leaves as it is takes its content along', () => {
    const pure = change({ mode: null, blob: null }, { mode: null, blob: null }, 'g');
    expect(rebaseFile(pure, at({ g: file('any', '120000') }))).toEqual(
      put({ removed: 'g', current: 'any', content: 'tree', mode: '120000' }),
    );
  });
});
