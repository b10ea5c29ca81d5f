/** Packages that Composer would load: where there is no network, it tries each of them again from its source. */

import { openFolder } from '../folder.ts';
import { at, textAt } from '../project.ts';

/** A folder, lock file or cache of its own, or nothing to load. */
const ELSEWHERE = /\bCOMPOSER|\bcomposer\b[^;|&]* (?:--(?:dry-run|working-dir|help)\b|-[a-z]*[dh])/;

/** Whether the command, which installs in that folder of the root, has to load something. False where that is not certain. */
export async function composerLoads(root: string, folder: string, command: string): Promise<boolean> {
  const opened = openFolder(root, folder === '' ? '' : `${folder}/`, new Map());
  if (opened === null || opened.names.has('vendor') || ELSEWHERE.test(command)) return false;
  const config = at(await opened.json('composer.json'), 'config');
  if (['vendor-dir', 'cache-dir', 'cache-files-dir'].some((key) => at(config, key) !== undefined))
    return false;
  const packages = at(await opened.json('composer.lock'), 'packages');
  // Those of path repositories are linked or copied.
  return Array.isArray(packages) && packages.some((one) => isLoaded(textAt(one, 'dist', 'url')));
}

function isLoaded(url: string | null): boolean {
  return url?.startsWith('https://') === true;
}
