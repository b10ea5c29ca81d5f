/**
 * The repositories that were in the work tree when the run began, kept for a process that carries the run on: by then
 * commands may have hidden one, or made another.
 */

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { parseRepoPath } from '../../../domain/changes/path.ts';
import { type Failed, failed } from '../../../domain/failed.ts';
import { jsonOrUndefined } from '../../../domain/text/json.ts';

/** What a run directory says may have been written by anybody: paths stay below the root. */
const InTree = z.string().refine((path) => {
  const parsed = parseRepoPath(path);
  return parsed.ok && parsed.path === path && path !== '';
});

/** The nested repositories that were there when the run began, as they are written down. */
const Kept = z.strictObject({
  /** The work tree that they lie in. */
  root: z.string(),
  nested: z.array(z.strictObject({ path: InTree, dotGit: z.enum(['folder', 'file', 'none', 'itself']) })),
  /** All git dirs, in whatever spelling; they are the user's, and nothing removes them, wherever they are moved. */
  gitDirs: z.array(z.strictObject({ path: z.string(), inode: z.string() })),
  /** Folders of repositories whose files are no files of this one, and that were there. */
  foreign: z.array(z.string()),
  /** The file system's time when the run came to this work tree, in ns. */
  openedNs: z.string().regex(/^\d{1,20}$/),
});
export type Kept = z.infer<typeof Kept>;

/** Writes down the nested repositories, for whoever carries the run on. */
export function keepRepositories(shadowDir: string, kept: Kept): void {
  writeFileSync(fileIn(shadowDir), JSON.stringify(kept));
}

/** What `keepRepositories` wrote, or why it cannot be used. */
export type KeptRepositories = ({ status: 'ok' } & Omit<Kept, 'root'>) | { status: 'other_root' } | Failed;

/** What `keepRepositories` has written. `other_root`: the run began in another work tree. */
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
