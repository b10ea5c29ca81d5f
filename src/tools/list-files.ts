/** `list_files`: what lies below a folder, one path per line. */

import * as z from 'zod';
import description from '../../prompts/tools/list_files.md';
import { folderOf, type RepoPath } from '../domain/changes/path.ts';
import { pluralize } from '../domain/text/words.ts';
import { fileTool } from './file-tool.ts';
import { failedCall, printablePath, said } from './result.ts';

/** More paths are shown as an outline of as many lines. */
const MAX_LISTED = 200;

const Input = z.strictObject({
  path: z.string().describe('"." for all'),
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
    return said(list.paths.map(printablePath).join('\n'));
  },
});

function outline(paths: readonly string[], folder: RepoPath, glob: string | undefined): string {
  const entries = outlineOf(paths, folder);
  const lines = entries.map(([entry, files]) =>
    entry.endsWith('/') ? `${printablePath(entry)}  (${pluralize(files, 'file')})` : printablePath(entry),
  );
  const rest = entries.slice(MAX_LISTED).reduce((sum, [, files]) => sum + files, 0);
  const more = rest === 0 ? [] : [`… and ${pluralize(rest, 'more file')}`];
  const hint = glob === undefined ? 'List a folder, or give a glob' : 'List a folder, or narrow the glob';
  const end = `[${pluralize(paths.length, 'file')} in all. ${hint}.]`;
  return [...lines.slice(0, MAX_LISTED), ...more, end].join('\n');
}

/** The entries of `root`; folders that fit are replaced by their own entries, the smallest first. Each with its number of files. */
function outlineOf(paths: readonly string[], root: string): [entry: string, files: number][] {
  const inside = new Map<string, Map<string, number>>();
  for (const path of paths) {
    let [entry, folder] = [path, folderOf(path)];
    for (;;) {
      const entries = inside.get(folder) ?? new Map<string, number>();
      inside.set(folder, entries.set(entry, (entries.get(entry) ?? 0) + 1));
      if (folder === root) break;
      [entry, folder] = [`${folder}/`, folderOf(folder)];
    }
  }
  const shown = new Map(inside.get(root));
  for (;;) {
    const closed = [...shown.keys()].filter((entry) => entry.endsWith('/'));
    const sized = closed.map((entry) => [entry, inside.get(entry.slice(0, -1)) ?? new Map()] as const);
    const [smallest] = sized.sort(([, a], [, b]) => a.size - b.size);
    if (smallest === undefined || shown.size - 1 + smallest[1].size > MAX_LISTED) break;
    shown.delete(smallest[0]);
    for (const [entry, files] of smallest[1]) shown.set(entry, files);
  }
  return [...shown].sort(([a], [b]) => (a < b ? -1 : 1));
}
