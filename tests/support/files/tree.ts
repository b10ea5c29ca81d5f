import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

/** Everything below a folder but `.git`: permissions and content of files, where links point, and folders. */
export function treeOf(folder: string): Record<string, string> {
  const tree: Record<string, string> = {};
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()) {
    if (name === '.git' || name.startsWith('.git/')) continue;
    const path = join(folder, name);
    const stat = lstatSync(path);
    if (stat.isSymbolicLink()) tree[name] = `link to ${readlinkSync(path)}`;
    else if (stat.isFile()) tree[name] = `${(stat.mode & 0o777).toString(8)} ${readFileSync(path, 'latin1')}`;
    else tree[name] = 'folder';
  }
  return tree;
}
