/** A repository in a world of its own: a home with credentials, folders outside with canaries, traps, and listeners. */

import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { execa } from 'execa';
import { NO_UPKEEP, temporaryFolder } from '../support/files/repository.ts';
import { newCanary } from './canaries.ts';
import { type Listeners, startListeners } from './listeners.ts';

export class Victim {
  readonly folder = temporaryFolder();
  /** The work tree. */
  readonly root = join(this.folder, 'root');
  readonly home = join(this.folder, 'home');
  /** A neighbour that nothing of the run has to do with. */
  readonly outside = join(this.folder, 'outside');
  readonly runDir = join(this.folder, 'run');
  /** In the command line of every process that an attacker wants to survive. */
  readonly nonce = `survivor-${this.folder.slice(-6)}`;
  readonly listeners: Listeners;
  /** How runs before the run ended. */
  readonly notes: string[] = [];
  readonly #canaries = new Map<string, string>();
  readonly #moved: [string, string][] = [];

  private constructor(listeners: Listeners) {
    this.listeners = listeners;
  }

  static async make(files: Readonly<Record<string, string>>): Promise<Victim> {
    const victim = new Victim(await startListeners());
    victim.put(victim.gitEnvironment.GIT_CONFIG_GLOBAL, '[safe]\n\tdirectory = *\n');
    for (const folder of [victim.root, victim.home, victim.outside]) mkdirSync(folder);
    for (const [path, content] of Object.entries({ 'a.txt': 'a\n', ...files })) {
      victim.put(join(victim.root, path), content);
    }
    await victim.git('init', '--quiet', '--initial-branch=main');
    await victim.git('add', '--all', '--force');
    await victim.git('commit', '--quiet', '--message', 'Start');
    return victim;
  }

  /** The value of a canary, made when it is first asked for. */
  canary(name: string): string {
    const value = this.#canaries.get(name) ?? newCanary();
    this.#canaries.set(name, value);
    return value;
  }

  get canaries(): ReadonlyMap<string, string> {
    return this.#canaries;
  }

  put(path: string, content: string, mode = 0o644): void {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    chmodSync(path, mode);
  }

  /** A program that leaves a mark when anybody runs it. */
  trap(name: string): string {
    const path = join(this.folder, 'traps', name);
    this.put(
      path,
      `#!/bin/sh\nmkdir -p ${this.folder}/marks; : > ${this.folder}/marks/${name}\ncat\n`,
      0o755,
    );
    return path;
  }

  /** Moves every git dir out of the work tree, and leaves a file that names it. Paths of theirs mean the new places from then on. */
  async separateGitDirs(): Promise<void> {
    for (const from of await this.#find('.git', 'd')) {
      const to = this.#move(from);
      writeFileSync(from, `gitdir: ${to}\n`);
      if (existsSync(join(to, 'config')))
        await this.git('config', '--file', join(to, 'config'), 'core.worktree', dirname(from));
    }
    for (const file of await this.#find('.git', 'f')) {
      const text = readFileSync(file, 'utf8');
      const named = resolve(dirname(file), text.replace('gitdir: ', '').trim());
      const [from = ''] = named.split('/worktrees/');
      if (from.startsWith(`${this.root}/`) && existsSync(from))
        writeFileSync(file, `gitdir: ${this.#move(from)}${named.slice(from.length)}\n`);
    }
    // The longest first, so that the outermost comes last.
    this.#moved.sort(([a], [b]) => b.length - a.length);
  }

  async #find(name: string, type: string): Promise<string[]> {
    // What a stage keeps swapping vanishes meanwhile.
    const search = [this.root, '-name', name, '-type', type, '-prune', '-print0'];
    const { stdout } = await execa('find', search, { reject: false });
    return stdout.split('\0').filter((path) => path !== '');
  }

  #move(from: string): string {
    const to = join(this.folder, `git-dir-${this.#moved.length}`);
    renameSync(from, to);
    this.#moved.push([`${from}/`, `${to}/`], [`${relative(this.root, from)}/`, `${to}/`]);
    return to;
  }

  /** A path or a script in which paths of git dirs are where these are now. */
  moved(text: string): string {
    return this.#moved.reduce((moved, [from, to]) => moved.replaceAll(from, to), text);
  }

  sprung(name: string): boolean {
    return existsSync(join(this.folder, 'marks', name));
  }

  async git(...args: string[]): Promise<string> {
    return this.gitIn(this.root, ...args);
  }

  /** For a git that has no settings, except that it works in repositories of other users, as which a run may be. */
  get gitEnvironment() {
    const settings = join(this.folder, 'settings-of-git');
    const { PATH, GIT_TEMPLATE_DIR } = process.env;
    return { PATH, GIT_TEMPLATE_DIR, GIT_CONFIG_GLOBAL: settings, GIT_CONFIG_NOSYSTEM: '1' };
  }

  /** Git without anybody's configuration, and without what the repository has planted. */
  async gitIn(cwd: string, ...args: string[]): Promise<string> {
    const identity = ['-c', 'user.name=Test', '-c', 'user.email=test@example.invalid', ...NO_UPKEEP];
    const { stdout } = await execa('git', [...identity, ...args], {
      cwd,
      env: this.gitEnvironment,
      extendEnv: false,
      stdin: 'ignore',
    });
    return stdout;
  }
}

/** What is at a path: kind, permissions and content. Nothing is followed or waited for. */
export function stateOf(path: string): string {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return 'nothing';
  if (stat.isSymbolicLink()) return `link to ${readlinkSync(path)}`;
  if (stat.isDirectory()) {
    return readdirSync(path)
      .sort()
      .map((name) => `${name}: ${stateOf(join(path, name))}`)
      .join('\n');
  }
  const mode = (stat.mode & 0o7777).toString(8).padStart(3, '0');
  return stat.isFile() ? `${mode} ${readFileSync(path, 'latin1')}` : `${mode} special`;
}
