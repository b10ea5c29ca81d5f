/** How the model's tools read, write, list and search files of the work tree. */

import type { FileState, FoundChange, PathChange } from '../../domain/changes/change.ts';
import { type GlobMatcher, globMatcher, MAX_GLOB_LENGTH } from '../../domain/changes/glob.ts';
import { foldersAround, type RepoPath } from '../../domain/changes/path.ts';
import type { BaseRevision } from '../../domain/run/events.ts';
import { readFile, writeFile } from '../../files/nofollow-files.ts';
import { textOf } from '../../files/regular-file.ts';
import { lookAt } from '../../files/tree-view.ts';
import { blobId, stateOnDisk } from '../../git/store/object-store.ts';
import type { Workspace } from '../../ports/workspace.ts';
import { searchFiles } from './search/search.ts';
import type { WorkTree } from './tree/work-tree.ts';
import { keepBeginning } from './unwalked/unseen-changes.ts';

/** Larger files are not read for the model, which can read parts of them with a command. */
const MAX_READ_BYTES = 8 * 1024 * 1024;

/** The work tree whose files are read and written. */
export interface FilePlaces {
  readonly root: string;
  readonly shadowDir: string;
  readonly tree: WorkTree;
}

/** `objectFormat` is the format of the ids that identify versions of files. */
export function workTreeFiles(
  { root, shadowDir, tree }: FilePlaces,
  objectFormat: BaseRevision['objectFormat'],
): Pick<Workspace, 'readFile' | 'writeFile' | 'listFiles' | 'search'> {
  /** Nothing is known about an ignored file until it is read. */
  const unknownState = async (path: RepoPath) =>
    (await stateOnDisk(root, path, objectFormat, MAX_READ_BYTES)) ?? null;
  const listFiles: Workspace['listFiles'] = async (path, glob) => {
    const missing = whyMissing(root, path);
    if (missing !== null) return { status: 'failed', reason: 'not_found', message: missing };
    if (glob !== null && glob.length > MAX_GLOB_LENGTH)
      return { status: 'failed', reason: 'invalid_input', message: 'The glob is too long.' };
    const isMatch = glob === null ? () => true : filterOf(glob);
    const below = path === '' ? '' : `${path}/`;
    const named = (file: string) => (file.startsWith(below) ? file.slice(below.length) : file);
    return { status: 'ok', paths: (await tree.files(path)).filter((file) => isMatch(named(file))) };
  };
  return {
    async readFile(path) {
      const read = readFile(root, path, MAX_READ_BYTES);
      if (read.status === 'failed') return read;
      const { bytes } = read;
      return {
        status: 'ok',
        bytes,
        text: textOf(bytes, { keepsMark: true }),
        blob: blobId(bytes, objectFormat),
      };
    },

    async writeFile(path, bytes) {
      const submodule = tree.seen.submoduleOf(path);
      if (submodule !== null) {
        const message = `${JSON.stringify(path)} lies in the submodule ${JSON.stringify(submodule)}, which is left out.`;
        return { status: 'failed', reason: 'path_refused', message };
      }
      keepBeginning(shadowDir);
      const before = (await tree.seen.statesOf([path])).get(path) ?? (await unknownState(path));
      const written = writeFile(root, path, bytes);
      if (written.status === 'failed') return written;
      const ignored = !(await tree.isVisible(path));
      const blob = blobId(bytes, objectFormat);
      const at = lookAt(root, path);
      const mode = before?.mode ?? (at.status === 'seen' && at.stat.executable ? '100755' : '100644');
      const after = { mode, blob, size: bytes.length };
      return { ...written, blob, ignored, unseen: unseenWrite({ path, before, after }, written, ignored) };
    },

    listFiles,

    async search(query) {
      const listed = await listFiles(query.path, query.glob);
      return listed.status === 'failed' ? listed : searchFiles(root, listed.paths, query);
    },
  };
}

/** Why there is nothing to list at a path; null if there is. */
function whyMissing(root: string, path: RepoPath): string | null {
  for (const folder of [...foldersAround(path), path]) {
    const look = lookAt(root, folder);
    if (look.status !== 'seen') return `There is no ${JSON.stringify(folder)}.`;
    if (folder !== path && look.stat.kind !== 'folder')
      return `${JSON.stringify(folder)} is a file or a link, not a folder.`;
  }
  return null;
}

/** The write as a change, if no capture shows it. */
function unseenWrite(
  { path, before, after }: PathChange & { after: FileState },
  { created }: { created: boolean },
  isIgnored: boolean,
): FoundChange | null {
  // A file that is too large to read still existed.
  const kind = created ? 'create' : 'modify';
  if (isIgnored) return { path, before, after, kind, excluded: 'ignored' };
  return before !== null && (before.raw ?? before.blob) === after.blob
    ? { path, before, after: before, excluded: 'identical' }
    : null;
}

/** A leading `!` is everything else. */
function filterOf(glob: string): GlobMatcher {
  if (!glob.startsWith('!')) return globMatcher(glob);
  const matches = filterOf(glob.slice(1));
  return (path) => !matches(path);
}
