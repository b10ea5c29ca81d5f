/** Packages that Composer would download: without a network, it retries each of them from its source. */

import { openFolder } from '../folder.ts';
import { at, textAt } from '../project.ts';

/** A different folder, lock file or cache, or nothing to download. */
const ELSEWHERE = /\bCOMPOSER|\bcomposer\b[^;|&]{0,200} (?:--(?:dry-run|working-dir|help)\b|-[a-z]*[dh])/;

/** Whether the command, which installs in that folder of the root, certainly has to download something. */
export async function composerLoads(root: string, folder: string, command: string): Promise<boolean> {
  const opened = openFolder(root, folder === '' ? '' : `${folder}/`, new Map());
  if (opened === null || opened.names.has('vendor') || ELSEWHERE.test(command)) return false;
  const config = at(await opened.json('composer.json'), 'config');
  if (['vendor-dir', 'cache-dir', 'cache-files-dir'].some((key) => at(config, key) !== undefined))
    return false;
  const packages = at(await opened.json('composer.lock'), 'packages');
  // Packages of path repositories are linked or copied.
  return Array.isArray(packages) && packages.some((one) => isLoaded(textAt(one, 'dist', 'url')));
}

function isLoaded(url: string | null): boolean {
  return url?.startsWith('https://') === true;
}
