/** The tree that a run began with: stores it whole in the shadow repository on request, and makes a fresh checkout of it. */

import { copyFileSync, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { BaseRevision } from '../../../domain/run/events.ts';
import { sentence } from '../../../domain/text/words.ts';
import { encodeNames } from '../../../files/names.ts';
import { readRegularFile } from '../../../files/regular-file.ts';
import { askGit, askIn, type GitAnswer, OWN_IDENTITY } from '../../../git/git.ts';
import { makeRepository } from '../../../git/store/bare-repository.ts';
import { treeEntries } from '../../../git/store/trees.ts';
import type { CoreSettings } from '../../../git/user-settings.ts';
import { leftOut } from '../run-start.ts';

/** Takes the objects of a tree into another git dir, without those of the tree `known`. Null when that went well, else why not. */
export function packTree(
  shadowDir: string,
  tree: string,
  intoGitDir: string,
  known: string | null = null,
): Promise<string | null> {
  // Blobs may be missing, as in a partial clone.
  const options = ['--revs', '--missing=allow-any'];
  return pack(shadowDir, intoGitDir, [tree, ...(known === null ? [] : [`^${known}`])], options);
}

/** Takes objects into another git dir. Null when that went well, else why not. */
export async function pack(
  shadowDir: string,
  intoGitDir: string,
  ids: readonly string[],
  options: readonly string[] = [],
): Promise<string | null> {
  const input = Buffer.from(ids.map((id) => `${id}\n`).join(''));
  const packed = await askIn(shadowDir, [...PACK, ...options, join(intoGitDir, 'objects/pack/pack')], {
    input,
  });
  return packed.exitCode === 0 ? null : packed.stderr || 'git did not say why';
}

/** Large blobs are streamed. Existing deltas are reused; new ones would cost more than they save. */
const PACK = '-c core.bigFileThreshold=32m pack-objects --quiet --window=0 --threads=1'.split(' ');

/** Paths of the base whose contents are in none of its stores; null if not even its folders are. */
export async function missingOfBase({
  shadowDir,
  objectsGitDir,
  base: { tree },
}: Omit<CopyRequest, 'folder'>): Promise<string[] | null> {
  const args = ['rev-list', '--objects', '--no-object-names', '--missing=print', tree];
  const walked = await askIn(objectsGitDir, args);
  const entries = walked.exitCode === 0 ? await treeEntries(objectsGitDir, tree) : null;
  if (entries === null) return null;
  const missing = new Set(walked.stdout.toString('latin1').match(/(?<=^\?)[0-9a-f]+/gm));
  const absent = new Set(leftOut(shadowDir));
  return entries.flatMap(({ path, id }) => (missing.has(id) && !absent.has(path) ? [path] : []));
}

/** Which base to copy, and where to. */
export interface CopyRequest {
  /** The shadow repository of the run; it is only read. */
  readonly shadowDir: string;
  /** The git dir through which its objects are read. */
  readonly objectsGitDir: string;
  readonly base: BaseRevision;
  /** An empty folder. */
  readonly folder: string;
}

/**
 * Turns `folder` into a repository with one commit, the run's base, checked out as it was then: with the same ignore rules
 * and line endings, and without the files that a sparse checkout left out. Null on success, otherwise the reason.
 */
export async function copyBase({
  shadowDir,
  objectsGitDir,
  base,
  folder,
}: CopyRequest): Promise<string | null> {
  const rules = join(shadowDir, 'rules');
  const gitDir = join(folder, '.git');
  makeRepository({
    gitDir,
    objectFormat: base.objectFormat,
    alternate: null,
    head: 'ref: refs/heads/main',
    core: {
      ...startSettings(shadowDir),
      bare: false,
      excludesFile: configPath(join(rules, 'excludes')),
      attributesFile: configPath(join(rules, 'attributes')),
      protectHFS: false,
      protectNTFS: false,
    },
  });
  // With its own objects, since the shadow repository may borrow from a checkout that is gone.
  const unpacked = (await packTree(objectsGitDir, base.tree, gitDir)) ?? (await whyCorrupt(gitDir));
  if (unpacked !== null) return unpacked;
  for (const name of ['info/exclude', 'info/attributes']) {
    const kept = join(rules, 'git', name);
    if (existsSync(kept)) copyFileSync(kept, join(gitDir, name));
  }
  const ask = gitIn(folder, gitDir);
  // An invalid branch name leaves HEAD as it is.
  if (base.branch !== null) await ask(['symbolic-ref', 'HEAD', `refs/heads/${base.branch}`]);
  const commit = await ask(['commit-tree', '-m', 'Base of the run', base.tree]);
  if (commit.exitCode !== 0) return commit.stderr;
  const sha = commit.stdout.toString('latin1').trim();
  return inTurn(ask, [
    // A base without a branch is checked out without one, too.
    [['update-ref', ...(base.branch === null ? ['--no-deref'] : []), 'HEAD', sha]],
    [['read-tree', base.tree]],
    ...checkoutSteps(leftOut(shadowDir)),
  ]);
}

/** One command of git, with what it reads. */
type GitStep = readonly [args: readonly string[], input?: Buffer];

/** Asks git in a work tree of our own. */
export function gitIn(workTree: string, gitDir: string, settings: readonly string[] = []) {
  return (...[args, input]: GitStep): Promise<GitAnswer> =>
    askGit({
      cwd: workTree,
      args: [...settings.flatMap((setting) => ['-c', setting]), ...args],
      env: { ...OWN_IDENTITY, GIT_DIR: gitDir, GIT_WORK_TREE: workTree },
      ...(input === undefined ? {} : { input }),
    });
}

/** Makes the files of the index in a work tree that is empty. `left` are the paths that stay out. */
export function checkoutSteps(left: readonly string[]): GitStep[] {
  // Only writes files that do not exist yet, and follows no link.
  const checkOut: GitStep = [['-c', 'checkout.workers=4', 'checkout-index', '--all', '--index', '--quiet']];
  return left.length === 0
    ? [checkOut]
    : [[['update-index', '--skip-worktree', '-z', '--stdin'], encodeNames(left)], checkOut];
}

/** Takes the steps until one fails. Null when none did, otherwise the reason. */
export async function inTurn(
  ask: ReturnType<typeof gitIn>,
  steps: readonly GitStep[],
): Promise<string | null> {
  for (const step of steps) {
    const { exitCode, stderr } = await ask(...step);
    if (exitCode !== 0) return stderr || `git ${step[0][0]} gave no reason`;
  }
  return null;
}

/** Packing does not check whether contents belong to their ids, and a run directory may have anything under an id. */
async function whyCorrupt(gitDir: string): Promise<string | null> {
  const packs = join(gitDir, 'objects/pack');
  const names = readdirSync(packs).filter((name) => name.endsWith('.idx'));
  const answer = await askIn(gitDir, ['verify-pack', ...names.map((name) => join(packs, name))]);
  return answer.exitCode === 0 ? null : answer.stderr || 'git verify-pack gave no reason';
}

/** What we write there takes some hundred bytes. */
const MAX_CONFIG_BYTES = 64 * 1024;

/** How files are read in a run, as `makeLookingGit` wrote it; anything else in that file is ignored. */
export function startSettings(shadowDir: string): CoreSettings {
  const file = join(shadowDir, 'rules/git/config');
  const read = readRegularFile(file, MAX_CONFIG_BYTES);
  if (read.status !== 'ok') throw new Error(sentence(`${file} ${read.why}`));
  const lines = read.bytes.toString('utf8').matchAll(/^\t(filemode|ignorecase|autocrlf|eol) = (\w+)$/gm);
  return Object.fromEntries([...lines].map(([, name = '', value = '']) => [name, value]));
}

function configPath(path: string): string {
  return `"${path.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n')}"`;
}
