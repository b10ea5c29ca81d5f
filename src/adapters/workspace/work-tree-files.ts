/** How the model's tools read, write, list and search files of the work tree. */

import type { FileState, FoundChange, PathChange } from '../../domain/changes/change.ts';
import { type GlobMatcher, globMatcher, MAX_GLOB_LENGTH } from '../../domain/changes/glob.ts';
import type { RepoPath } from '../../domain/changes/path.ts';
import type { BaseRevision } from '../../domain/run/events.ts';
import { openNofollowFiles } from '../../files/nofollow-files.ts';
import { viewing } from '../../files/tree-view.ts';
import { blobId } from '../../git/store/object-store.ts';
import type { Workspace } from '../../ports/workspace.ts';
import { searchFiles } from './search/search.ts';
import type { KnownFiles } from './snapshot/file-states.ts';
import { walk } from './snapshot/walk.ts';
import type { WalkedTree } from './snapshot/walked-tree.ts';
import { keepBeginning } from './unwalked/ignored-changes.ts';

/** Larger files are not read for the model, which can read parts of them with a command. */
const MAX_READ_BYTES = 8 * 1024 * 1024;

/** The work tree whose files are read and written, and the shadow repository that stores their contents. */
export interface FilePlaces {
  readonly tree: WalkedTree;
  /** What is known about the files that git sees. */
  readonly snapshot: { readonly known: Pick<KnownFiles, 'stateOf'> };
  readonly shadowDir: string;
}

/** `objectFormat` is the format of the ids that identify versions of files. */
export function workTreeFiles(
  { tree, snapshot, shadowDir }: FilePlaces,
  objectFormat: BaseRevision['objectFormat'],
): Pick<Workspace, 'readFile' | 'writeFile' | 'listFiles' | 'search'> {
  const { root } = tree;
  const files = openNofollowFiles(root);
  /** Nothing is known about an ignored file until it is read. */
  const unknownState = (path: RepoPath): FileState | null => {
    const read = files.read(path, MAX_READ_BYTES);
    if (read.status === 'failed') return null;
    return { mode: read.mode, blob: blobId(read.bytes, objectFormat), size: read.bytes.length };
  };
  return {
    ...readableFiles(tree, objectFormat),

    async writeFile(path, bytes) {
      const submodule = tree.tracked.submoduleOf(path);
      if (submodule !== null) {
        const message = `${JSON.stringify(path)} lies in the submodule ${JSON.stringify(submodule)}, which is left out.`;
        return { status: 'failed', reason: 'path_refused', message };
      }
      keepBeginning(shadowDir);
      const before = snapshot.known.stateOf(path) ?? unknownState(path);
      const written = files.write(path, bytes);
      if (written.status === 'failed') return written;
      tree.rules.refresh();
      const ignored = !(await walk(tree, path)).files.has(path);
      const blob = blobId(bytes, objectFormat);
      const look = viewing(root, (view) => view.lookAt(path));
      const stat = look.status === 'seen' ? look.stat : null;
      const mode = before?.mode ?? (stat?.executable ? '100755' : '100644');
      const unseen = unseenWrite(
        { path, before, after: { mode, blob, size: bytes.length } },
        written,
        ignored,
      );
      return { ...written, blob, ignored, unseen };
    },
  };
}

/** What needs no baseline. */
export function readableFiles(
  tree: WalkedTree,
  objectFormat: BaseRevision['objectFormat'],
): Pick<Workspace, 'readFile' | 'listFiles' | 'search'> {
  const { root } = tree;
  const files = openNofollowFiles(root);
  const byRules = { ...tree, keepsBase: false };
  const listFiles: Workspace['listFiles'] = async (path, glob) => {
    tree.rules.refresh();
    const walked = await walk(byRules, path);
    if (walked.scope !== path || walked.at === 'absent') {
      const scope = JSON.stringify(walked.scope);
      if (walked.at === 'foreign') return { status: 'ok', paths: [] };
      const message =
        walked.at === 'absent' ? `There is no ${scope}.` : `${scope} is a file or a link, not a folder.`;
      return { status: 'failed', reason: 'not_found', message };
    }
    if (glob !== null && glob.length > MAX_GLOB_LENGTH)
      return { status: 'failed', reason: 'invalid_input', message: 'The glob is too long.' };
    const isMatch = glob === null ? () => true : filterOf(glob);
    const from = walked.at === 'folder' && path !== '' ? path.length + 1 : 0;
    const paths = [...walked.files.keys()].filter((file) => isMatch(file.slice(from)));
    return { status: 'ok', paths: paths.sort() };
  };
  return {
    async readFile(path) {
      const read = files.read(path, MAX_READ_BYTES);
      if (read.status === 'failed') return read;
      const { bytes } = read;
      return { status: 'ok', bytes, text: textOf(bytes), blob: blobId(bytes, objectFormat) };
    },

    listFiles,

    async search(query) {
      const listed = await listFiles(query.path, query.glob);
      return listed.status === 'failed' ? listed : searchFiles(root, listed.paths, query);
    },
  };
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

/** Null if the bytes are not text: not UTF-8, or with a NUL. A byte order mark is kept. */
function textOf(bytes: Buffer): string | null {
  if (bytes.includes(0)) return null;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}
