/** What the first look of a run found, for the processes that resume or undo it: by then, commands may have changed any of it. */

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { FileState, PathChange } from '../../domain/changes/change.ts';
import { parseRepoPath } from '../../domain/changes/path.ts';
import { type Failed, failed } from '../../domain/failed.ts';
import { jsonOrUndefined } from '../../domain/text/json.ts';

/** Anyone may have written the run directory: paths must stay below the root. */
const InTree = z.string().refine((path) => {
  const parsed = parseRepoPath(path);
  return parsed.ok && parsed.path === path && path !== '';
});

const RunStart = z.strictObject({
  /** The work tree. */
  root: z.string(),
  /** The file system's time when the run opened this work tree, in ns. */
  openedNs: z
    .string()
    .regex(/^\d{1,20}$/)
    .transform(BigInt),
  /** Other repositories. */
  nested: z.array(z.strictObject({ path: InTree, dotGit: z.enum(['folder', 'file', 'none', 'itself']) })),
  /** Folders of existing repositories whose files do not belong to this one. */
  foreign: z.array(z.string()),
  /** All git dirs, in any spelling; they are the user's and are never removed, wherever they are moved. */
  gitDirs: z.array(z.strictObject({ path: z.string(), inode: z.string() })),
  /** Git does not track them, and undoing a run leaves them as they were. */
  emptyFolders: z.array(z.string()),
  /** They come back as they were. */
  closedToOthers: z.array(z.string()),
  /** What git ignored; a folder that it ignored as a whole ends with a slash. */
  ignored: z.array(z.string()),
  /** Rule files, each with what identifies its contents. */
  rules: z.array(z.tuple([z.string(), z.string()])),
  /** Paths that had no file because of a sparse checkout. */
  sparse: z.array(z.string()),
  /** Files that are not as in the index, with the bytes on disk, where git may commit others. */
  converted: z.array(z.tuple([PathChange.shape.path, FileState])),
});
/** What the first look found, and when it ended. */
export type RunStart = z.infer<typeof RunStart>;

/** Records it in the shadow repository. */
export function keepRunStart(shadowDir: string, start: RunStart): void {
  writeFileSync(fileIn(shadowDir), JSON.stringify({ ...start, openedNs: String(start.openedNs) }));
}

/** What `keepRunStart` wrote, or why it cannot be used. */
export function readRunStart(shadowDir: string): { status: 'ok'; start: RunStart } | Failed {
  const file = fileIn(shadowDir);
  const kept = RunStart.safeParse(existsSync(file) ? jsonOrUndefined(readFileSync(file, 'utf8')) : null);
  return kept.success
    ? { status: 'ok', start: kept.data }
    : failed(
        `${file}, which says what there was when the run began, is missing, damaged, or from another version. Start a new run with patchsmith run.`,
      );
}

/** Paths that had no file because of a sparse checkout; none where that is not known. */
export function leftOut(shadowDir: string): string[] {
  const read = readRunStart(shadowDir);
  return read.status === 'ok' ? read.start.sparse : [];
}

function fileIn(shadowDir: string): string {
  return join(shadowDir, 'run-start.json');
}
