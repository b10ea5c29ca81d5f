/** `list_files`: what lies below a folder, one path per line. */

import * as z from 'zod';
import description from '../../prompts/tools/list_files.md';
import { folderOf, parseRepoPath, type RepoPath } from '../domain/changes/path.ts';
import { pluralize } from '../domain/text/words.ts';
import type { Tool } from '../ports.ts';
import { failedCall, literalCall, said } from './result.ts';
import { outlineOf } from './text/folded-list.ts';
import { countNewlines } from './text/lines.ts';
import { printablePath } from './text/printable-path.ts';

/** More paths are shown as an outline of as many lines. */
const MAX_LISTED = 200;

const Input = z.strictObject({
  path: z.string().describe('"." is the root'),
  glob: z.string().min(1).optional().describe('As in .gitignore: *.ts, src/**'),
});
type Input = z.infer<typeof Input>;

/** Lists the files below a folder. */
export const listFilesTool: Tool<Input> = {
  name: 'list_files',
  description,
  schema: Input,
  lane: 'read',
  aliases: { directory: 'path', dir: 'path', pattern: 'glob' },
  async execute({ path: asked, glob }, { workspace }) {
    const parsed = parseRepoPath(asked);
    if (!parsed.ok) return failedCall('path_refused', parsed.message);
    const list = await workspace.listFiles(parsed.path, glob ?? null);
    if (list.status === 'failed') return failedCall(list.reason, list.message);
    if (list.paths.length === 0) return said('(no files)');
    if (list.paths.length > MAX_LISTED) return said(outline(list.paths, parsed.path, glob));
    return {
      ...said(list.paths.map(printablePath).join('\n')),
      next: (head) => narrower(parsed.path, list.paths[countNewlines(head)] ?? '', glob),
    };
  },
};

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
