/** Packages that Yarn 1 would download: without a network, it keeps retrying each of them. */

import { openFolder } from '../folder.ts';

/**
 * Whether `yarn install` in that folder of the root has to download something; anyone may have written the work tree
 * `root`.
 */
export async function yarnLoads(root: string, folder: string): Promise<boolean> {
  const opened = openFolder(root, folder === '' ? '' : `${folder}/`, new Map());
  // Settings may name a mirror in the checkout, and later versions do not retry.
  if (opened === null || opened.first('.yarnrc', '.yarnrc.yml', '.npmrc', 'node_modules') !== null)
    return false;
  return /^ {2}resolved "https:/m.test((await opened.text('yarn.lock')) ?? '');
}
