/**
 * Random arrangements of git dirs, `.git` files, links, pipes and settings. A run is refused, or works in the nearest folder with a
 * `.git` whose repository belongs to it; what lies outside is neither read nor written.
 */

import {
  cpSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { git, makePipe, tempFolder } from '../../support/files/temp-folder.ts';
import { call, scriptedRun } from '../../support/runs/scripted-run.ts';
import { IS_FULL, MATRIX_MS } from '../../support/setup/sample.ts';

const FOLDERS = ['.', 'work', 'work/clone', 'work/clone/sub', 'work/clone/sub/deep', 'other', 'linked'];
const GIT_DIRS = ['work/clone/.git', 'work/clone/sub', 'other/.git', 'other/.git/worktrees/linked'];
const PARTS = [
  'HEAD',
  'config',
  'index',
  'info',
  'info/exclude',
  'objects',
  'refs',
  'packed-refs',
  'commondir',
];

const folder = fc.constantFrom(...FOLDERS);
const gitDir = fc.constantFrom(...GIT_DIRS);
const isRelative = fc.boolean();
const change = fc.oneof(
  fc.record({ do: fc.constant('file' as const), folder, gitDir, isRelative }),
  fc.record({ do: fc.constant('link' as const), folder, gitDir }),
  fc.record({ do: fc.constant('copy' as const), folder }),
  fc.record({ do: fc.constant('bare' as const), folder }),
  fc.record({ do: fc.constant('empty' as const), folder }),
  fc.record({ do: fc.constant('worktree' as const), gitDir, folder, isRelative }),
  fc.record({ do: fc.constant('common' as const), gitDir, other: gitDir, isRelative }),
  fc.record({ do: fc.constant('back' as const), gitDir, folder }),
  fc.record({
    do: fc.constant('swap' as const),
    gitDir,
    part: fc.constantFrom(...PARTS),
    isPipe: fc.boolean(),
  }),
);
type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;

const SECRETS = ['.ssh/id', 'other/private.txt'];

/** One made by git, of which each arrangement gets a copy at the same place. */
function makeTemplate(): string {
  const home = tempFolder({
    'work/clone/a.txt': 'a\n',
    'work/clone/sub/deep/b.txt': 'b\n',
    'other/c.txt': 'c\n',
  });
  for (const root of ['work/clone', 'other']) {
    git(join(home, root), 'init', '--quiet');
    git(join(home, root), 'add', '--all');
    git(join(home, root), 'commit', '--quiet', '--message', 'Start');
  }
  git(join(home, 'other'), 'worktree', 'add', '--quiet', '--detach', '../linked');
  for (const path of SECRETS) put(join(home, path), `cnry-${path}\n`);
  return home;
}

function put(path: string, content: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

/** What an earlier change has made impossible is left out. */
function tryTo(act: () => void): void {
  try {
    act();
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
  }
}

function perform(home: string, made: Change): void {
  const at = (path: string) => join(home, path);
  const named = (from: string, to: string, isShort: boolean) =>
    isShort ? relative(at(from), at(to)) || '.' : at(to);
  const replace = (path: string) => rmSync(path, { recursive: true, force: true });
  switch (made.do) {
    case 'file':
      replace(at(`${made.folder}/.git`));
      put(at(`${made.folder}/.git`), `gitdir: ${named(made.folder, made.gitDir, made.isRelative)}\n`);
      return;
    case 'link':
      replace(at(`${made.folder}/.git`));
      symlinkSync(at(made.gitDir), at(`${made.folder}/.git`));
      return;
    case 'copy':
      if (made.folder === 'other') return;
      replace(at(`${made.folder}/.git`));
      cpSync(at('other/.git'), at(`${made.folder}/.git`), { recursive: true });
      return;
    case 'bare':
      for (const part of ['HEAD', 'objects', 'refs', 'config'])
        cpSync(at(`other/.git/${part}`), at(`${made.folder}/${part}`), { recursive: true });
      return;
    case 'empty':
      replace(at(`${made.folder}/.git`));
      mkdirSync(at(`${made.folder}/.git`));
      return;
    case 'worktree': {
      const place = named(made.gitDir, made.folder, made.isRelative);
      put(at(`${made.gitDir}/config`), `[core]\n\trepositoryformatversion = 0\n\tworktree = ${place}\n`);
      return;
    }
    case 'common':
      put(at(`${made.gitDir}/commondir`), `${named(made.gitDir, made.other, made.isRelative)}\n`);
      return;
    case 'back':
      put(at(`${made.gitDir}/gitdir`), `${at(made.folder)}/.git\n`);
      return;
    case 'swap': {
      const path = at(`${made.gitDir}/${made.part}`);
      replace(path);
      mkdirSync(dirname(path), { recursive: true });
      if (made.isPipe) makePipe(path);
      else symlinkSync(at(`other/.git/${made.part}`), path);
    }
  }
}

/** The nearest folder with a `.git`. */
function rootAround(start: string): string | null {
  for (let at = start; ; at = dirname(at)) {
    if (lstatSync(join(at, '.git'), { throwIfNoEntry: false })) return at;
    if (at === dirname(at)) return null;
  }
}

/** Whether the repository that a root leads to is its own: inside, or one that names the root. */
function belongs(root: string): boolean {
  const dotGit = join(root, '.git');
  const stat = lstatSync(dotGit);
  if (stat.isDirectory()) return !statSync(join(dotGit, 'commondir'), { throwIfNoEntry: false });
  if (!stat.isFile()) return false;
  const gitDirOfRoot = realpathSync(
    resolve(root, readFileSync(dotGit, 'utf8').slice('gitdir: '.length).trim()),
  );
  const common = join(gitDirOfRoot, 'commondir');
  if (statSync(common, { throwIfNoEntry: false })) {
    const commonDir = realpathSync(resolve(gitDirOfRoot, readFileSync(common, 'utf8').trim()));
    const back = resolve(gitDirOfRoot, readFileSync(join(gitDirOfRoot, 'gitdir'), 'utf8').trim());
    return dirname(gitDirOfRoot) === join(commonDir, 'worktrees') && back === dotGit;
  }
  const place = git(gitDirOfRoot, 'config', '--file', 'config', 'core.worktree').trim();
  return realpathSync(resolve(gitDirOfRoot, place)) === root;
}

test(
  'a run never leaves the checkout around its start, whatever repositories say',
  async () => {
    const template = makeTemplate();
    const counts = { refused: 0, done: 0 };
    const arrangement = fc.record({
      changes: fc.array(change, { maxLength: 3 }),
      start: folder,
      throughLink: fc.boolean(),
    });
    const property = fc.asyncProperty(arrangement, async ({ changes, start, throughLink }) => {
      const outer = tempFolder();
      const home = join(outer, 'home');
      cpSync(template, home, { recursive: true });
      // The copy is at another place, and its worktree knows.
      put(join(home, 'linked/.git'), `gitdir: ${home}/other/.git/worktrees/linked\n`);
      put(join(home, 'other/.git/worktrees/linked/gitdir'), `${home}/linked/.git\n`);
      for (const made of changes) tryTo(() => perform(home, made));
      symlinkSync(join(home, start), join(outer, 'start'));
      const place = throughLink ? join(outer, 'start') : join(home, start);
      const run = await scriptedRun({
        repository: { root: place },
        env: { HOME: home },
        args: ['--sandbox', 'off'],
        turns: [
          {
            calls: [
              ...SECRETS.map((path) => call('read_file', { path })),
              call('read_file', { path: 'private.txt' }),
              call('read_file', { path: 'id' }),
              call('write_file', { path: 'written.txt', content: 'mine\n' }),
            ],
          },
          { text: 'Done.' },
        ],
      });
      const said = run.server.requests.map(({ bytes }) => bytes).join('\n');
      const written = FOLDERS.filter((at) =>
        lstatSync(join(home, at, 'written.txt'), { throwIfNoEntry: false }),
      );
      if (run.exitCode === 2) {
        counts.refused += 1;
        expect([said, written]).toEqual(['', []]);
        return;
      }
      counts.done += 1;
      const stood = realpathSync(place);
      const root = rootAround(stood) ?? 'none';
      expect([run.exitCode, run.result.outcome, belongs(root)]).toEqual([0, 'done', true]);
      expect(written.map((at) => resolve(home, at))).toEqual([stood]);
      for (const path of SECRETS) {
        const isInside = !relative(root, join(home, path)).startsWith('..');
        expect(said.includes(`cnry-${path}`) && !isInside).toBe(false);
        expect(readFileSync(join(home, path), 'utf8')).toBe(`cnry-${path}\n`);
      }
    });
    await fc.assert(property, IS_FULL ? { numRuns: 300 } : { numRuns: 5, seed: 4 });
    expect(Math.min(counts.refused, counts.done)).toBeGreaterThan(0);
  },
  MATRIX_MS,
);
