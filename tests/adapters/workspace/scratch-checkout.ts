/** A real checkout in a temporary folder, with a home of its own, and the workspace over it. */

import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { findCheckout } from '../../../src/adapters/workspace/find-checkout.ts';
import type { WorkspacePlaces } from '../../../src/adapters/workspace/open.ts';
import { openWorkspace } from '../../../src/adapters/workspace/open.ts';
import type { RepoPath } from '../../../src/domain/changes/path.ts';
import { decodeName, encodeName } from '../../../src/files/names.ts';
import type { Checkout } from '../../../src/git/checkout-layout.ts';
import type { ProvenPatch, Workspace } from '../../../src/ports/workspace.ts';

export const at = (path: string) => path as RepoPath;

export class ScratchCheckout {
  readonly folder: string;
  readonly home: string;
  root: string;
  #runs = 0;

  /** Made anew for each test and removed after it. */
  constructor(...initOptions: string[]) {
    this.folder = realpathSync(mkdtempSync(join(tmpdir(), 'patchsmith-workspace-')));
    onTestFinished(() => this.close());
    this.home = join(this.folder, 'home');
    this.root = join(this.folder, 'checkout');
    mkdirSync(this.home);
    mkdirSync(this.root);
    this.git('init', '--quiet', '--initial-branch=main', ...initOptions);
    this.git('config', 'gc.auto', '0');
  }

  get env() {
    return {
      PATH: process.env.PATH,
      GIT_TEMPLATE_DIR: process.env.GIT_TEMPLATE_DIR,
      HOME: this.home,
      LC_ALL: 'C',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_ALLOW_PROTOCOL: 'file',
      GIT_AUTHOR_NAME: 'a',
      GIT_AUTHOR_EMAIL: 'a@example.org',
      GIT_COMMITTER_NAME: 'a',
      GIT_COMMITTER_EMAIL: 'a@example.org',
    };
  }

  close(): void {
    if (!existsSync(this.folder)) return;
    // Git may still be keeping the base, and makes and removes files on the way.
    spawnSync('chmod', ['-Rf', 'u+rwx', this.folder]);
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  }

  git(...args: string[]): string {
    return this.gitIn(this.root, ...args);
  }

  gitIn(cwd: string, ...args: string[]): string {
    return execFileSync('git', args, { cwd, env: this.env, stdio: ['ignore', 'pipe', 'pipe'] }).toString(
      'latin1',
    );
  }

  /** Commits everything that git would add. */
  commit(message = 'change'): void {
    this.git('add', '--all');
    this.git('commit', '--quiet', '--allow-empty', '-m', message);
  }

  path(path: string): Buffer {
    return encodeName(`${this.root}/${path}`);
  }

  write(path: string, content: string | Uint8Array, mode = 0o644): void {
    mkdirSync(encodeName(dirname(`${this.root}/${path}`)), { recursive: true });
    rmSync(this.path(path), { force: true });
    writeFileSync(this.path(path), content);
    chmodSync(this.path(path), mode);
  }

  link(path: string, target: string): void {
    mkdirSync(encodeName(dirname(`${this.root}/${path}`)), { recursive: true });
    this.remove(path);
    symlinkSync(encodeName(target), this.path(path));
  }

  /** Removes the path, and what is no folder where the path needs one. */
  clearWay(path: string): void {
    for (const folder of foldersAbove(path)) {
      if (!lstatSync(this.path(folder), { throwIfNoEntry: false })?.isDirectory()) this.remove(folder);
    }
    this.remove(path);
  }

  /** Moves a file, link or folder, if it is there. */
  move(from: string, to: string): void {
    if (!this.#isThere(from)) return;
    this.clearWay(to);
    mkdirSync(encodeName(dirname(`${this.root}/${to}`)), { recursive: true });
    renameSync(this.path(from), this.path(to));
  }

  /** Removes a file, link or folder, if it is there; nothing behind a link. */
  remove(path: string): void {
    if (this.#isThere(path)) rmSync(this.path(path), { recursive: true });
  }

  #isThere(path: string): boolean {
    const stat = (step: string) => lstatSync(this.path(step), { throwIfNoEntry: false });
    return foldersAbove(path).every((folder) => stat(folder)?.isDirectory()) && stat(path) !== undefined;
  }

  /** There is a file or a link at the path, and no link on the way. */
  isFile(path: string): boolean {
    return this.#isThere(path) && !lstatSync(this.path(path)).isDirectory();
  }

  /** Writes into the file that is there, so that nothing but its content and times can tell. */
  writeInPlace(path: string, content: string): void {
    writeFileSync(this.path(path), content);
  }

  /** Gives the files of the first folder that is there, and not a link, new times. */
  touchAll(...folders: string[]): void {
    for (const folder of folders) {
      execFileSync(
        'sh',
        [
          '-c',
          `cd -P "$1" 2>/dev/null && case "$(pwd -P)" in "$2"/*) touch ./* 2>/dev/null;; esac; :`,
          'sh',
          folder,
          this.root,
        ],
        { cwd: this.root },
      );
    }
  }

  forbid(path: string): void {
    chmodSync(this.path(path), 0o000);
  }

  /** Commits changes of one file on two branches, and begins a merge that git leaves unresolved. */
  conflict(path: string): void {
    this.git('checkout', '--quiet', '-b', 'theirs');
    this.write(path, 'theirs\n');
    this.commit();
    this.git('checkout', '--quiet', 'main');
    this.write(path, 'ours\n');
    this.commit();
    expect(() => this.git('merge', '--quiet', 'theirs')).toThrow();
    expect(this.git('ls-files', '--unmerged')).toContain(path);
  }

  mkfifo(path: string): void {
    execFileSync('mkfifo', [`${this.root}/${path}`]);
  }

  async checkout(startDir = this.root): Promise<Checkout> {
    const found = await findCheckout(startDir, this.env);
    if (found.status === 'failed') throw new Error(found.message);
    return found.checkout;
  }

  async open(startDir = this.root, more: Partial<WorkspacePlaces> = {}): Promise<Workspace> {
    this.#runs += 1;
    const run = join(this.folder, `run-${this.#runs}`);
    return openWorkspace(await this.checkout(startDir), {
      shadowDir: join(run, 'shadow.git'),
      sandboxGitDir: join(run, 'agent.git'),
      env: this.env,
      ...more,
    });
  }

  /** The shadow repository of the last workspace opened. */
  get shadow(): string {
    return join(this.folder, `run-${this.#runs}`, 'shadow.git');
  }
}

/** The folders that a path lies in, outermost first. */
function foldersAbove(path: string): string[] {
  const steps = path.split('/').slice(0, -1);
  return steps.map((_step, nth) => steps.slice(0, nth + 1).join('/'));
}

/** Captures everything and makes the patch of it. */
export async function patchOfAll(workspace: Workspace): Promise<ProvenPatch> {
  const made = await workspace.makePatch(await workspace.capture('all'));
  if (made.status === 'failed') throw new Error(made.message);
  return made.patch;
}

/** Every file below a folder, except git's own, as `mode content` by path. */
export function filesBelow(folder: string): Record<string, string> {
  const files: Record<string, string> = {};
  const visit = (below: Buffer, prefix: string) => {
    for (const name of readdirSync(below, { encoding: 'buffer' })) {
      if (name.toString() === '.git') continue;
      const path = Buffer.concat([below, Buffer.from('/'), name]);
      const stat = lstatSync(path);
      const key = `${prefix}${decodeName(name)}`;
      if (stat.isDirectory()) visit(path, `${key}/`);
      else if (stat.isSymbolicLink())
        files[key] = `link ${readlinkSync(path, { encoding: 'buffer' }).toString('latin1')}`;
      else
        files[key] = `${stat.mode & 0o100 ? 'executable' : 'file'} ${readFileSync(path).toString('latin1')}`;
    }
  };
  visit(Buffer.from(folder), '');
  return files;
}

/** The files that plain `git apply` makes of the base tree with this patch, in a repository of its own. */
export function appliedByGit(
  scratch: ScratchCheckout,
  baseTree: string,
  patch: Uint8Array,
): Record<string, string> {
  const copy = join(scratch.folder, `applied-${baseTree.slice(0, 12)}-${readdirSync(scratch.folder).length}`);
  mkdirSync(copy);
  const format = baseTree.length === 64 ? 'sha256' : 'sha1';
  scratch.gitIn(copy, 'init', '--quiet', `--object-format=${format}`);
  writeFileSync(join(copy, '.git/objects/info/alternates'), `${join(scratch.shadow, 'objects')}\n`);
  scratch.gitIn(copy, 'read-tree', baseTree);
  scratch.gitIn(copy, 'checkout-index', '--all');
  const file = join(scratch.folder, 'the.patch');
  writeFileSync(file, patch);
  if (patch.length > 0) scratch.gitIn(copy, 'apply', '--whitespace=nowarn', file);
  return filesBelow(copy);
}
