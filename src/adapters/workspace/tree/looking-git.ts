/**
 * The git dir of our own through which git looks at the work tree. What names programs to run is the user's git dir, and nothing
 * of that is in this one: only values that say how files are read, and copies of the rules outside the work tree.
 */

import { accessSync, constants, existsSync, lstatSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { foldersOf, isWithin } from '../../../domain/changes/path.ts';
import { UnusableFile } from '../../../domain/errors/thrown.ts';
import { orNone } from '../../../files/failures.ts';
import { decodeNames } from '../../../files/names.ts';
import type { Reading } from '../../../files/regular-file.ts';
import { viewing } from '../../../files/tree-view.ts';
import type { Checkout } from '../../../git/checkout-layout.ts';
import { askGit, type GitAnswer } from '../../../git/git.ts';
import { copyIfThere, isNullDevice } from '../../../git/repository-file.ts';
import { makeRepository } from '../../../git/store/bare-repository.ts';
import { coreSettings, type UserSettings } from '../../../git/user-settings.ts';
import { START_INDEX } from './start-index.ts';

/** The folder in the shadow repository with the git dir and the rules from outside the work tree. */
export function rulesFolder(shadowDir: string): string {
  return join(shadowDir, 'rules');
}

/** Makes the git dir, or makes it again; the rules are copied once. True if there are attributes outside the work tree. */
export function makeLookingGit(
  { root, objectFormat, commonDir }: Pick<Checkout, 'root' | 'objectFormat' | 'commonDir'>,
  shadowDir: string,
  settings: UserSettings,
): boolean {
  const folder = rulesFolder(shadowDir);
  const gitDir = join(folder, 'git');
  const isNew = !existsSync(folder);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  makeRepository({
    gitDir,
    objectFormat,
    alternate: null,
    head: 'ref: refs/heads/none',
    core: {
      bare: false,
      ...coreSettings(settings),
      // Elsewhere, git would not see a new file whose name differs only in case from one that it has.
      ignorecase: settings.ignoreCase && ignoresCase(root),
      // A file that a sparse checkout left out is seen as soon as there is one.
      sparseCheckout: true,
      untrackedCache: false,
      fsmonitor: false,
      hooksPath: '/dev/null',
      // Names that a checkout on Windows or macOS could not hold are refused later, one by one.
      protectHFS: false,
      protectNTFS: false,
    },
  });
  const attributes = [join(gitDir, 'info/attributes'), join(folder, 'attributes')] as const;
  if (isNew) {
    // People keep their own rules where they like, and link to them.
    const own = { follow: true };
    const info = join(commonDir, 'info');
    takeRules(join(info, 'exclude'), join(gitDir, 'info/exclude'), {});
    takeRules(settings.excludesFile, join(folder, 'excludes'), own);
    takeRules(join(info, 'attributes'), attributes[0], {});
    takeRules(settings.attributesFile, attributes[1], own);
  }
  return [...attributes, ...SYSTEM_ATTRIBUTES].some((file) => existsSync(file));
}

/** Whether the file system of a work tree treats names as the same that differ only in case. */
function ignoresCase(root: string): boolean {
  const [one, other] = ['.git', '.GIT'].map(
    (name) => lstatSync(join(root, name), { throwIfNoEntry: false })?.ino,
  );
  return one === other;
}

/** Where git packages look for the attributes of the whole machine. */
const SYSTEM_ATTRIBUTES = ['', '/usr/local', '/opt/homebrew'].map((prefix) => `${prefix}/etc/gitattributes`);

/** Copies nothing if there is no file, or one that git cannot read either and therefore ignores. */
function takeRules(from: string | null, to: string, reading: Reading): void {
  if (from === null || orNone(() => accessSync(from, constants.R_OK)) === null) return;
  if (!isNullDevice(from)) copyIfThere(from, to, reading);
}

/** One question to git about a work tree. */
export interface LookingCall {
  readonly args: readonly string[];
  readonly input?: Buffer;
  /** File name in the shadow repository. Default: the index of the start. */
  readonly index?: string;
  /** Default: the root. */
  readonly workTree?: string;
  /** Kills git when it aborts. */
  readonly signal?: AbortSignal;
}

/** Asks git through the git dir of our own. */
export class LookingGit {
  readonly root: string;
  readonly shadowDir: string;

  /** `root` is a work tree. */
  constructor(root: string, shadowDir: string) {
    this.root = root;
    this.shadowDir = shadowDir;
  }

  /** Git's answer, whatever its exit code. */
  ask({ args, input, index = START_INDEX, workTree = this.root, signal }: LookingCall): Promise<GitAnswer> {
    const folder = rulesFolder(this.shadowDir);
    return askGit({
      cwd: workTree,
      args: [
        ...['-c', `core.excludesFile=${join(folder, 'excludes')}`],
        ...['-c', `core.attributesFile=${join(folder, 'attributes')}`],
        ...['-c', 'core.preloadIndex=true'],
        ...args,
      ],
      env: {
        GIT_DIR: join(folder, 'git'),
        GIT_WORK_TREE: workTree,
        GIT_INDEX_FILE: join(this.shadowDir, index),
        GIT_OBJECT_DIRECTORY: join(this.shadowDir, 'objects'),
        // Those of the machine hold as well.
        GIT_ATTR_NOSYSTEM: undefined,
      },
      ...(input === undefined ? {} : { input }),
      ...(signal === undefined ? {} : { signal }),
    });
  }

  /** Its output. Throws `UnusableFile`, with what git says, if it fails. */
  async tell(call: LookingCall): Promise<Buffer> {
    const answer = await this.ask(call);
    if (answer.exitCode !== 0) throw this.failure(call, answer);
    return answer.stdout;
  }

  /** The names that it lists. */
  async names(call: LookingCall): Promise<string[]> {
    return decodeNames(await this.tell(call));
  }

  /** Paths of the index that may differ from it: stats are compared, and what is as recent as the index is read. */
  async dirty(signal?: AbortSignal): Promise<string[]> {
    // A setting has no effect here: for a submodule, git would read `.gitmodules` and run itself with the submodule's own settings.
    const args = ['diff-files', '--ignore-submodules=all', '--name-only', '-z'];
    return [...new Set(await this.names({ args, ...(signal && { signal }) }))];
  }

  /** Paths that the index does not have, by default those that git sees; a repository of its own ends with a slash. */
  others(which: readonly string[] = SEEN, signal?: AbortSignal): Promise<string[]> {
    const args = ['--literal-pathspecs', 'ls-files', '-o', '-z', ...which];
    return this.names({ args, ...(signal && { signal }) });
  }

  /** Paths that git ignores; a folder that is ignored as a whole ends with a slash. */
  async ignored(signal?: AbortSignal): Promise<string[]> {
    const listed = await this.others(['-i', '--directory', ...SEEN], signal);
    // Git also lists folders of which it ignores each file, and these files.
    const around = new Set(listed.flatMap((path) => [...foldersOf(path.replace(/\/$/, ''))]));
    return listed.filter((path) => !path.endsWith('/') || !around.has(path.slice(0, -1)));
  }

  /** Those of the paths at which there are files that the index does not have and that git does not ignore. */
  async visibleOf(paths: readonly string[]): Promise<Set<string>> {
    if (paths.length === 0) return new Set();
    const listed = new Set(await this.others([...SEEN, ...scopeOf(paths)]));
    return new Set(paths.filter((path) => listed.has(path)));
  }

  /** Files that git sees below a folder: tracked, or not ignored; sorted. Links are listed and not followed. */
  async files(folder: string): Promise<string[]> {
    const listed = await this.others(['-c', ...SEEN, ...(folder === '' ? [] : scopeOf([folder]))]);
    return viewing(this.root, (view) =>
      [...new Set(listed)]
        .filter((path) => {
          if (path.endsWith('/') || !isWithin(path, folder)) return false;
          const look = view.lookAt(path);
          return look.status === 'seen' && (look.stat.kind === 'file' || look.stat.kind === 'link');
        })
        .sort(),
    );
  }

  /** The error for an answer that says that git failed. */
  failure({ args }: Pick<LookingCall, 'args'>, { exitCode, stderr }: GitAnswer): UnusableFile {
    const question = args.find((arg) => /^[a-z]/.test(arg)) ?? '';
    const said = stderr.replace(/\s+/g, ' ') || `exit code ${exitCode}`;
    return new UnusableFile(
      this.root,
      `cannot be examined: git ${question}: ${said}`,
      'Check it with git status and git fsck',
    );
  }
}

const SEEN = ['--exclude-standard'];

/** For more paths than that, git lists all. */
const MANY_PATHS = 200;

/** What follows a question about these paths. An argument has to be UTF-8: where a path is not, git is asked about everything. */
export function scopeOf(paths: readonly string[]): string[] {
  return paths.length > MANY_PATHS || paths.some((path) => /\p{Surrogate}/u.test(path))
    ? []
    : ['--', ...paths];
}

/** A rule that ignores this folder. An argument has to be UTF-8: where a byte of the name is not, it ignores those with any. */
export function ruleFor(folder: string): string {
  return `/${folder.replace(/[\\*?[\]!# ]/g, '\\$&').replace(/\p{Surrogate}/gu, '?')}/`;
}
