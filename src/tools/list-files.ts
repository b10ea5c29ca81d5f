/** `list_files`: what lies below a folder, one path per line. */

import * as z from 'zod';
import description from '../../prompts/tools/list_files.md';
import { folderOf, type RepoPath } from '../domain/changes/path.ts';
import { pluralize } from '../domain/text/words.ts';
import { fileTool } from './file-tool.ts';
import { failedCall, literalCall, said } from './result.ts';
import { countNewlines } from './text/lines.ts';
import { printablePath } from './text/printable-path.ts';

/** More paths are shown as an outline of as many lines. */
const MAX_LISTED = 200;

const Input = z.strictObject({
  path: z.string().describe('"." is the working directory'),
  glob: z.string().min(1).optional().describe('As in .gitignore: *.ts, src/**'),
});
type Input = z.infer<typeof Input>;

/** Lists the files below a folder. */
export const listFilesTool = fileTool<Input>({
  name: 'list_files',
  description,
  schema: Input,
  lane: 'read',
  aliases: { directory: 'path', dir: 'path', pattern: 'glob' },
  async execute({ path, glob }, { workspace }) {
    const list = await workspace.listFiles(path, glob ?? null);
    if (list.status === 'failed') return failedCall(list.reason, list.message);
    if (list.paths.length === 0) return said('(no files)');
    if (list.paths.length > MAX_LISTED) return said(outline(list.paths, path, glob));
    return {
      ...said(list.paths.map(printablePath).join('\n')),
      next: (head) => narrower(path, list.paths[countNewlines(head)] ?? '', glob),
    };
  },
});

function outline(paths: readonly string[], folder: RepoPath, glob: string | undefined): string {
  const lines = outlineOf(paths, folder, MAX_LISTED).map((line) => {
    if (line.kind === 'file') return printablePath(line.path);
    if (line.kind === 'folder')
      return `${printablePath(`${line.path}/`)}  (${pluralize(line.files, 'file')})`;
    const where = line.folder === '' ? 'the root' : printablePath(`${line.folder}/`);
    const what = line.folders > 0 ? `${pluralize(line.folders, 'more folder')} with ` : '';
    return `… and ${what}${pluralize(line.files, what === '' ? 'more file' : 'file')} in ${where}`;
  });
  const hint = glob === undefined ? 'List a folder, or give a glob' : 'List a folder, or narrow the glob';
  return `${lines.join('\n')}\n[${pluralize(paths.length, 'file')} in all. ${hint}.]`;
}

/** Lists the folder of the first path that was cut out; in a flat folder, the names with the same beginning. */
function narrower(listed: RepoPath, missing: string, glob: string | undefined): string {
  const folder = folderOf(missing);
  if (folder !== listed)
    return literalCall('list_files', { path: folder === '' ? '.' : folder, ...(glob && { glob }) });
  const first = [...missing.slice(folder === '' ? 0 : folder.length + 1)][0] ?? '';
  return literalCall('list_files', {
    path: folder === '' ? '.' : folder,
    glob: `/${first.replace(/[^\w.-]/, '\\$&')}*`,
  });
}

/** A line of an outline: a file, a collapsed folder, or the number of other files or folders in a folder. */
type OutlineLine =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'folder'; readonly path: string; readonly files: number }
  | { readonly kind: 'more'; readonly folder: string; readonly files: number; readonly folders: number };

/** Maximum numbers of files and of folders that are named for one folder. They leave room for the counts of the rest. */
const MAX_FILES_OF_FOLDER = 50;
const MAX_FOLDERS_OF_FOLDER = 100;

interface ListedFolder {
  readonly path: string;
  readonly folders: Map<string, ListedFolder>;
  readonly files: string[];
  /** Files at any depth. */
  count: number;
  open: boolean;
}

/**
 * At most `maxLines` lines (152 or more) about the files below `root` (`''` is the top), in the order of `paths`; the first
 * level is always open. The folders with the fewest entries are opened first, level by level.
 */
function outlineOf(paths: readonly string[], root: string, maxLines: number): OutlineLine[] {
  const top = treeOf(paths, root);
  top.open = true;
  let left = maxLines - linesOf(top);
  for (let level = shownFolders(top); level.length > 0; level = foldersIn(level)) {
    for (const folder of [...level].sort((a, b) => linesOf(a) - linesOf(b))) {
      // When expanded, it does not take a separate line.
      const more = linesOf(folder) - 1;
      if (more > left) break;
      folder.open = true;
      left -= more;
    }
  }
  return [...outlined(top)];
}

function treeOf(paths: readonly string[], root: string): ListedFolder {
  const top = folderAt(root);
  const start = root === '' ? 0 : root.length + 1;
  for (const path of paths) {
    let folder = top;
    folder.count += 1;
    for (let slash = path.indexOf('/', start); slash !== -1; slash = path.indexOf('/', slash + 1)) {
      const name = path.slice(0, slash);
      const inner: ListedFolder = folder.folders.get(name) ?? folderAt(name);
      folder.folders.set(name, inner);
      inner.count += 1;
      folder = inner;
    }
    folder.files.push(path);
  }
  return top;
}

function folderAt(path: string): ListedFolder {
  return { path, folders: new Map(), files: [], count: 0, open: false };
}

function foldersIn(folders: readonly ListedFolder[]): ListedFolder[] {
  return folders.filter(({ open }) => open).flatMap((folder) => shownFolders(folder));
}

function shownFolders({ folders }: ListedFolder): ListedFolder[] {
  return [...folders.values()].slice(0, MAX_FOLDERS_OF_FOLDER);
}

/** Lines of a folder that is open and whose own folders are not. */
function linesOf({ folders, files }: ListedFolder): number {
  const ofFolders = Math.min(folders.size, MAX_FOLDERS_OF_FOLDER + 1);
  return ofFolders + Math.min(files.length, MAX_FILES_OF_FOLDER + 1);
}

function* outlined(folder: ListedFolder): Generator<OutlineLine> {
  if (!folder.open) {
    yield { kind: 'folder', path: folder.path, files: folder.count };
    return;
  }
  for (const path of folder.files.slice(0, MAX_FILES_OF_FOLDER)) yield { kind: 'file', path };
  const more = folder.files.length - MAX_FILES_OF_FOLDER;
  if (more > 0) yield { kind: 'more', folder: folder.path, files: more, folders: 0 };
  for (const inner of shownFolders(folder)) yield* outlined(inner);
  const rest = [...folder.folders.values()].slice(MAX_FOLDERS_OF_FOLDER);
  const files = rest.reduce((sum, { count }) => sum + count, 0);
  if (rest.length > 0) yield { kind: 'more', folder: folder.path, files, folders: rest.length };
}
