/** The repositories of the work tree when the run began: by its end, commands may have hidden one or created another. */

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { parseRepoPath } from '../../../domain/changes/path.ts';
import { type Failed, failed } from '../../../domain/failed.ts';
import { jsonOrUndefined } from '../../../domain/text/json.ts';

/** Anyone may have written the run directory: paths must stay below the root. */
const InTree = z.string().refine((path) => {
  const parsed = parseRepoPath(path);
  return parsed.ok && parsed.path === path && path !== '';
});

/** The recorded form of the nested repositories that existed when the run began. */
const Kept = z.strictObject({
  /** The work tree that contains them. */
  root: z.string(),
  nested: z.array(z.strictObject({ path: InTree, dotGit: z.enum(['folder', 'file', 'none', 'itself']) })),
  /** All git dirs, in any spelling; they are the user's and are never removed, wherever they are moved. */
  gitDirs: z.array(z.strictObject({ path: z.string(), inode: z.string() })),
  /** Folders of existing repositories whose files do not belong to this one. */
  foreign: z.array(z.string()),
  /** The file system's time when the run opened this work tree, in ns. */
  openedNs: z.string().regex(/^\d{1,20}$/),
});
export type Kept = z.infer<typeof Kept>;

/** Records the nested repositories, for a process that resumes the run. */
export function keepRepositories(shadowDir: string, kept: Kept): void {
  writeFileSync(fileIn(shadowDir), JSON.stringify(kept));
}

/** What `keepRepositories` wrote, or why it cannot be used. */
export type KeptRepositories = ({ status: 'ok' } & Omit<Kept, 'root'>) | { status: 'other_root' } | Failed;

/** Reads what `keepRepositories` wrote. `other_root`: the run began in another work tree. */
export function keptRepositories(shadowDir: string, root: string): KeptRepositories {
  const file = fileIn(shadowDir);
  const kept = Kept.safeParse(existsSync(file) ? jsonOrUndefined(readFileSync(file, 'utf8')) : null);
  if (!kept.success) {
    const message = `${file}, which lists what to hide from commands, is missing or damaged. Start a new run with patchsmith run.`;
    return failed(message);
  }
  const { root: began, ...repositories } = kept.data;
  return began === root ? { status: 'ok', ...repositories } : { status: 'other_root' };
}

function fileIn(shadowDir: string): string {
  return join(shadowDir, 'repositories.json');
}
