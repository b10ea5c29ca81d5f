import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { outputElsewhere } from '../machine/elsewhere.ts';

/** A real repository in a temporary folder. */
export interface Repository {
  readonly root: string;
  /** Runs git in it as its user would, and returns what it printed. */
  git(...args: string[]): Promise<string>;
  write(path: string, content: string | Uint8Array, mode?: number): void;
}

/** A commit starts no second git that looks whether there is something to tidy up. */
export const NO_UPKEEP = ['-c', 'maintenance.auto=false'];

const folders: string[] = [];

/** A temporary folder, which is there until the last test of the file has ended. */
export function temporaryFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'patchsmith-test-')));
  folders.push(folder);
  return folder;
}

/** `tests/support/setup/remove-folders.ts` calls it after each file. */
export function removeFolders(): void {
  for (const folder of folders.splice(0)) removeFolder(folder);
}

/** Also one that somebody who is just being killed still writes to. */
export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
}

/** What `git init` makes of the tests' world: a copy costs the processor less than a git of its own. */
function emptyGitDir(): string {
  const { GIT_TEMPLATE_DIR } = process.env;
  if (GIT_TEMPLATE_DIR === undefined) throw new Error('No world was made');
  return join(dirname(GIT_TEMPLATE_DIR), 'empty/.git');
}

/** Makes a repository with one commit of these files. */
export async function makeRepository(
  files: Readonly<Record<string, string | Uint8Array>>,
): Promise<Repository> {
  const root = temporaryFolder();
  const repository: Repository = {
    root,
    async git(...args) {
      const identity = ['-c', 'user.name=Test', '-c', 'user.email=test@example.invalid', ...NO_UPKEEP];
      const stdout = await outputElsewhere({
        program: 'git',
        args: [...identity, ...args],
        cwd: root,
        env: { ...process.env },
      });
      return stdout.toString('utf8').replace(/\r?\n$/, '');
    },
    write(path, content, mode = 0o644) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), content, { mode });
    },
  };
  cpSync(emptyGitDir(), join(root, '.git'), { recursive: true });
  for (const [path, content] of Object.entries(files)) repository.write(path, content);
  await repository.git('add', '--all', '--force');
  await repository.git('commit', '--quiet', '--allow-empty', '--message', 'Start');
  return repository;
}

/** A checkout whose git dir is elsewhere, as the level `landlock` needs it. */
export async function separated(files: Readonly<Record<string, string>>): Promise<Repository> {
  const repository = await makeRepository(files);
  const gitDir = join(temporaryFolder(), 'repo.git');
  await repository.git('init', '--quiet', '--separate-git-dir', gitDir);
  await repository.git('--git-dir', gitDir, 'config', 'core.worktree', repository.root);
  return repository;
}
