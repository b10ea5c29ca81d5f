/**
 * Finds the checkout that contains a folder: the nearest one with a `.git`. Git is asked afterwards, and a repository whose settings
 * make it give another answer is refused.
 */

import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { UnusableFile } from '../../domain/errors/thrown.ts';
import { type Failed, failed } from '../../domain/failed.ts';
import { shellWord } from '../../domain/shell-word.ts';
import { withoutUsers } from '../../domain/text/uri.ts';
import { sentence } from '../../domain/text/words.ts';
import { decodeName } from '../../files/names.ts';
import { pathBelow } from '../../files/path-within.ts';
import { timeoutSignal } from '../../files/time-limit.ts';
import type { Checkout } from '../../git/checkout-layout.ts';
import { repositoryRoot } from '../../git/checkout-layout.ts';
import { askGit, findGit, type GitAnswer, type GitCall, PROGRAM_FOLDERS } from '../../git/git.ts';
import { askHead } from '../../git/revision.ts';
import { type UserEnvironment, userGitEnvironment } from '../../git/user-settings.ts';
import { checkRepositoryOf, looksLikeGitDir, type RepositoryFolders } from './repository-check.ts';

/** The checkout that contains a path, or why it cannot be used. */
export type CheckoutResult = { status: 'ok'; checkout: Checkout } | Failed;

/** `env` locates the user's git configuration, which says whose checkouts are safe to use. */
export async function findCheckout(startDir: string, env: UserEnvironment): Promise<CheckoutResult> {
  if (findGit() === null)
    return failed(`git is not installed (looked in ${PROGRAM_FOLDERS.join(', ')}). Install it.`);
  const obstacle = obstacleTo(startDir);
  if (obstacle !== null) return failed(`${withoutUsers(startDir)} ${obstacle}. Name a checkout with --repo.`);
  const bytes = realpathSync.native(startDir, 'buffer');
  const start = bytes.toString('utf8');
  if (!Buffer.from(start, 'utf8').equals(bytes))
    return failed(`The path of ${startDir} is not UTF-8. Move the checkout.`);
  const root = await repositoryRoot(start);
  const inGitDir = whyInGitDir(start, root);
  if (inGitDir !== null) return failed(inGitDir);
  if (root === null)
    return failed(
      `${start} is not in a git repository. Name a checkout with --repo, or create one: with actions/checkout in a workflow, otherwise with git init`,
    );
  let folders: RepositoryFolders;
  try {
    folders = await checkRepositoryOf(root);
  } catch (error) {
    if (error instanceof UnusableFile) return failed(error.message);
    throw error;
  }
  const late = timeoutSignal(FIRST_ANSWERS_MS);
  const call = { cwd: root, env: userGitEnvironment(env), signal: late };
  const ask = (...args: string[]) => askGit({ ...call, args });
  // Also where git does not die, since its disk does not answer.
  const answer = await Promise.race([ask('rev-parse', ...QUESTIONS), aborted(late)]);
  if (answer === null) return failed(`git gave no answer in ${root}: ${NO_ANSWER}`);
  if (answer.exitCode !== 0) return failed(await whyNot(root, answer, ask));
  const [, format, places = '', commit, tree, ref] = ANSWERS.exec(decodeName(answer.stdout)) ?? [];
  const [own, here] = [`${folders.gitDir}\n`, `${root}\n`];
  // Git goes on to the folders above if it finds something wrong here.
  if (!places.startsWith(own)) return failed(notARepository(root));
  const isHere = places.startsWith(here, own.length);
  const inRepository = folders.kind === 'elsewhere' ? await workTreeOf(folders.gitDir, call) : null;
  const named = inRepository ?? (isHere ? root : line(await ask('rev-parse', '--show-toplevel')));
  if (!isHere || named !== root) return failed(whyElsewhere(root, folders, named));
  const commonDir = realpathSync(resolve(root, places.slice(own.length + here.length)));
  if (commonDir !== folders.commonDir) return failed(notARepository(root));
  const head =
    commit !== undefined && ref !== undefined
      ? { commit, branchRef: ref === 'HEAD' ? null : ref }
      : await askHead(ask);
  return {
    status: 'ok',
    checkout: {
      root,
      gitDir: folders.gitDir,
      commonDir,
      objects: join(commonDir, 'objects'),
      prefix: relative(root, start),
      objectFormat: format === 'sha256' ? 'sha256' : 'sha1',
      head,
      headTree: commit === head.commit ? (tree ?? null) : null,
    },
  };
}

/** A folder of the checkout at `root` that commands may start in, relative to the root, or why `path` cannot be one. */
export async function folderIn(
  root: string,
  path: string,
): Promise<{ status: 'ok'; folder: string } | Failed> {
  const refused = (why: string) => failed(`The working directory ${path} ${why}.`);
  const obstacle = obstacleTo(path);
  if (obstacle !== null) return refused(obstacle);
  const real = realpathSync(path);
  const folder = pathBelow(root, real);
  if (folder === null) return refused(`is not in the checkout ${root}`);
  const inGitDir = whyInGitDir(real, root);
  if (inGitDir !== null) return failed(inGitDir);
  const nearest = await repositoryRoot(real);
  return nearest === root ? { status: 'ok', folder } : refused(`is in another repository, ${nearest}`);
}

/** The same where a checkout is not needed: null if there is no `.git` at or above the folder. */
export async function checkoutAround(startDir: string, env: UserEnvironment): Promise<CheckoutResult | null> {
  return (await repositoryRoot(startDir)) === null ? null : findCheckout(startDir, env);
}

/** Why a folder cannot be worked in although a checkout may be around it: git would take its repository for the one to use. */
function whyInGitDir(start: string, root: string | null): string | null {
  if (
    relative(root ?? '/', start)
      .split('/')
      .includes('.git')
  )
    return `${start} is inside a .git folder. Run patchsmith in the work tree, or name it with --repo.`;
  for (let folder = start; folder !== root; folder = dirname(folder)) {
    if (looksLikeGitDir(folder))
      return root === null
        ? `${folder} is a bare repository, which has no work tree. Clone it, or add one: git worktree add <folder>`
        : `${folder} is a bare repository in the checkout ${root}. Start outside it, or name the checkout: --repo ${root}`;
    if (folder === dirname(folder)) break;
  }
  return null;
}

/** What a git dir itself says is its work tree; the git dir if it says nothing. */
async function workTreeOf(gitDir: string, call: Omit<GitCall, 'cwd' | 'args'>): Promise<string> {
  const args = [`--git-dir=${gitDir}`, 'rev-parse', '--show-toplevel'];
  return line(await askGit({ ...call, cwd: gitDir, args })) || gitDir;
}

/** Why a git dir and the folder in which its `.git` was found do not belong together. */
function whyElsewhere(root: string, { gitDir, kind }: RepositoryFolders, named: string): string {
  const setting = `git --git-dir=${shellWord(gitDir)} config`;
  if (kind === 'elsewhere')
    return `${root}/.git names the repository ${gitDir}, which ${named === gitDir ? 'does not name' : `names ${named}, not`} ${root} as its work tree (core.worktree). If it is yours: ${setting} core.worktree ${shellWord(root)}`;
  return `The repository ${gitDir} names ${named} as its work tree (core.worktree), not ${root}, where its .git was found. If it is yours: ${setting} --unset core.worktree`;
}

/** Timeout in milliseconds for git's first answers, which normally take a few; a slow disk needs more. */
const FIRST_ANSWERS_MS = 20_000;

const NO_ANSWER =
  'a file that its configuration includes (git config --no-includes --get-all include.path) may be a pipe, or its disk does not answer.';

function aborted(signal: AbortSignal): Promise<null> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(null), { once: true }));
}

/** Why git cannot be started in a folder, as the end of a sentence; null when it can. */
function obstacleTo(folder: string): string | null {
  try {
    if (!statSync(folder).isDirectory()) return 'is not a folder';
    accessSync(folder, constants.X_OK);
    return null;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return 'does not exist';
    return error.code === 'EACCES' ? 'may not be entered' : `cannot be opened (${error.message})`;
  }
}

/** Why nothing can be written to the root of a work tree, for people; null when it can. */
export function whyReadOnly(root: string): string | null {
  try {
    accessSync(root, constants.W_OK | constants.X_OK);
    return null;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    const why =
      error.code === 'EROFS'
        ? 'it is on a read-only file system'
        : error.code === 'EACCES'
          ? 'this user may not write there'
          : error.message;
    return `${sentence(`Nothing can be written to the work tree ${root}: ${why}`)} Make it writable, or name another checkout with --repo.`;
  }
}

type Ask = (...args: string[]) => Promise<GitAnswer>;
/** All in one process, with one answer per line; none about a HEAD that has no commit or is ambiguous. */
const QUESTIONS = [
  ...['--show-object-format', '--absolute-git-dir', '--show-toplevel', '--git-common-dir'],
  ...['--revs-only', 'HEAD', 'HEAD^{tree}', '--symbolic-full-name', 'HEAD'],
];

/** Format, places (whose names may contain newlines), commit, its tree and ref. */
const ANSWERS = /^(sha\d+)\n(.*?)(?:\n([0-9a-f]{40,})(?:\n([0-9a-f]{40,}))?(?:\n(HEAD|refs\/[^\n]+))?)?\n$/s;

const SAFE_DIRECTORY = 'git config --global --add safe.directory <folder>';

async function whyNot(root: string, { stderr }: GitAnswer, ask: Ask): Promise<string> {
  if (stderr.includes('safe.directory')) {
    const fix = /^[ \t]*(git config --global --add safe\.directory .*)$/m.exec(stderr)?.[1];
    return `The repository of ${root} belongs to another user, so git refuses it. If you trust it: ${fix ?? SAFE_DIRECTORY}`;
  }
  if (stderr.includes('not a git repository')) return notARepository(root);
  const bare = await ask('rev-parse', '--is-bare-repository');
  if (bare.exitCode === 0 && line(bare) === 'true')
    return `${root}/.git is a bare repository, which has no work tree. Clone it, or add one: git worktree add <folder>`;
  return `git cannot use ${root}: ${stderr || 'no reason given'}`;
}

function notARepository(root: string): string {
  return `${root}/.git is not a git repository: a part of it is missing or unreadable. Repair it, or name another checkout with --repo.`;
}

/** Output without its final newline; names may contain newlines themselves. */
function line({ stdout }: GitAnswer): string {
  return decodeName(stdout).replace(/\n$/, '');
}
