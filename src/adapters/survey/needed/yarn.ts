/** Packages that Yarn 1 would load: it asks for each of them again and again where there is no network. */

import { openFolder } from '../folder.ts';

/** Whether `yarn install` in that folder of the root has to load something; `root` is a work tree that anyone may have written. */
export async function yarnLoads(root: string, folder: string): Promise<boolean> {
  const opened = openFolder(root, folder === '' ? '' : `${folder}/`, new Map());
  // Settings may name a mirror in the checkout, and later versions do not ask again.
  if (opened === null || opened.first('.yarnrc', '.yarnrc.yml', '.npmrc', 'node_modules') !== null)
    return false;
  return /^ {2}resolved "https:/m.test((await opened.text('yarn.lock')) ?? '');
}
