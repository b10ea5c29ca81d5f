/** Finds the checkout that contains a folder. */

import { accessSync, constants, existsSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { UnusableFile } from '../../domain/errors/unusable-file.ts';
import { type Failed, failed } from '../../domain/failed.ts';
import { decodeName } from '../../files/names.ts';
import { timeoutSignal } from '../../files/time-limit.ts';
import type { Checkout } from '../../git/checkout-layout.ts';
import { askGit, findGit, type GitAnswer, PROGRAM_FOLDERS } from '../../git/git.ts';
import { type UserEnvironment, userGitEnvironment } from '../../git/user-settings.ts';
import { checkRepositoryOf } from './repository-check.ts';

/** The checkout that contains a path, or why it cannot be used. */
export type CheckoutResult = { status: 'ok'; checkout: Checkout } | Failed;

/** `env` locates the user's git configuration, which says whose checkouts are safe to use. */
export async function findCheckout(startDir: string, env: UserEnvironment): Promise<CheckoutResult> {
  if (findGit() === null)
    return failed(`git is not installed (looked in ${PROGRAM_FOLDERS.join(', ')}). Install it.`);
  const obstacle = obstacleTo(startDir);
  if (obstacle !== null) return failed(`${startDir} ${obstacle}. Name a checkout with --repo.`);
  const start = realpathSync(startDir);
  try {
    await checkRepositoryOf(start);
  } catch (error) {
    if (error instanceof UnusableFile) return failed(error.message);
    throw error;
  }
  const late = timeoutSignal(FIRST_ANSWERS_MS);
  const call = { cwd: start, env: userGitEnvironment(env), signal: late };
  const ask = (...args: string[]) => askGit({ ...call, args });
  // Also where git does not die, since its disk does not answer.
  const asked = await Promise.race([askAll(ask), aborted(late)]);
  if (asked === null) return failed(`git gave no answer in ${start}: ${NO_ANSWER}`);
  if (asked.status === 'refused') return failed(await whyNot(start, asked.answer, ask));
  const [root, gitDir, commonDir, objects, prefix, format] = asked.places;
  if (Buffer.from(root, 'utf8').toString('utf8') !== root)
    return failed(`The path of ${startDir} is not UTF-8. Move the checkout.`);
  const real = (path: string) => realpathSync(resolve(start, path));
  return {
    status: 'ok',
    checkout: {
      root: realpathSync(root),
      gitDir: real(gitDir),
      commonDir: real(commonDir),
      objects: real(objects),
      prefix: prefix.replace(/\/$/, ''),
      objectFormat: format === 'sha256' ? 'sha256' : 'sha1',
      head: asked.head,
    },
  };
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

type Ask = (...args: string[]) => Promise<GitAnswer>;
type Places = readonly [
  root: string,
  gitDir: string,
  commonDir: string,
  objects: string,
  prefix: string,
  format: string,
];

const QUESTIONS = [
  ['--show-toplevel'],
  ['--absolute-git-dir'],
  ['--git-common-dir'],
  ['--git-path', 'objects'],
  ['--show-prefix'],
  ['--show-object-format'],
];

type CheckoutAnswers =
  | { readonly status: 'known'; readonly places: Places; readonly head: Checkout['head'] }
  | { readonly status: 'refused'; readonly answer: GitAnswer };

/**
 * Asks everything in one process, with one answer per line. Asks one by one where names contain newlines, and again for a HEAD
 * without a commit, since git then prints nothing for it.
 */
async function askAll(ask: Ask): Promise<CheckoutAnswers> {
  const answer = await ask(
    'rev-parse',
    ...QUESTIONS.flat(),
    '--revs-only',
    'HEAD',
    '--symbolic-full-name',
    'HEAD',
  );
  if (answer.exitCode !== 0) return { status: 'refused', answer };
  const together = line(answer).split('\n');
  const [commit = '', ref = ''] = together.slice(QUESTIONS.length);
  if (together.length === QUESTIONS.length + 2 && /^(?:HEAD$|refs\/)/.test(ref))
    return {
      status: 'known',
      places: placesIn(together),
      head: { commit, branchRef: ref === 'HEAD' ? null : ref },
    };
  const [head, places] = await Promise.all([
    askHead(ask),
    together.length === QUESTIONS.length
      ? together
      : Promise.all(QUESTIONS.map(async (question) => line(await ask('rev-parse', ...question)))),
  ]);
  return { status: 'known', places: placesIn(places), head };
}

async function askHead(ask: Ask): Promise<Checkout['head']> {
  const [commit, branch] = await Promise.all([
    ask('rev-parse', '--verify', '--quiet', 'HEAD'),
    ask('symbolic-ref', '--quiet', 'HEAD'),
  ]);
  return {
    commit: commit.exitCode === 0 ? line(commit) : null,
    branchRef: branch.exitCode === 0 ? line(branch) : null,
  };
}

function placesIn(lines: readonly string[]): Places {
  const [root = '', gitDir = '', commonDir = '', objects = '', prefix = '', format = ''] = lines;
  return [root, gitDir, commonDir, objects, prefix, format];
}

const SAFE_DIRECTORY = 'git config --global --add safe.directory <folder>';

async function whyNot(start: string, { stderr }: GitAnswer, ask: Ask): Promise<string> {
  if (stderr.includes('safe.directory')) {
    const fix = /^\s*(git config --global --add safe\.directory .*)$/m.exec(stderr)?.[1];
    return `The repository of ${start} belongs to another user, so git refuses it. If you trust it: ${fix ?? SAFE_DIRECTORY}`;
  }
  if (stderr.includes('not a git repository')) {
    const refused = gitAtOrAbove(start);
    if (refused !== null)
      return `${refused} is not a git repository: a part of it is missing or unreadable. Repair it, or name another checkout with --repo.`;
    return `${start} is not in a git repository. Name a checkout with --repo, or create one: with actions/checkout in a workflow, otherwise with git init`;
  }
  const bare = await ask('rev-parse', '--is-bare-repository');
  if (bare.exitCode === 0 && line(bare) === 'true') {
    return `${start} is a bare repository, which has no work tree. Clone it, or add one: git worktree add <folder>`;
  }
  const inside = await ask('rev-parse', '--is-inside-git-dir');
  if (inside.exitCode === 0 && line(inside) === 'true') {
    return `${start} is inside a .git folder. Run patchsmith in the work tree, or name it with --repo.`;
  }
  return `git cannot use ${start}: ${stderr || 'no reason given'}`;
}

/** The nearest `.git`, which git itself did not accept; null if none is visible. */
function gitAtOrAbove(folder: string): string | null {
  const here = join(folder, '.git');
  if (existsSync(here)) return here;
  return folder === dirname(folder) ? null : gitAtOrAbove(dirname(folder));
}

/** Output without its final newline; names may contain newlines themselves. */
function line({ stdout }: GitAnswer): string {
  return decodeName(stdout).replace(/\n$/, '');
}
