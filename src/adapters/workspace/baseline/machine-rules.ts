/** Rules that lie outside the work tree: the user's, the repository's own, and the machine's. */

import { accessSync, constants } from 'node:fs';
import type { Reading } from '../../../files/regular-file.ts';
import { copyIfThere, isNullDevice } from '../../../git/repository-file.ts';

/** Where git packages look for the attributes of the whole machine. */
export const SYSTEM_ATTRIBUTES = [
  '/etc/gitattributes',
  '/usr/local/etc/gitattributes',
  '/opt/homebrew/etc/gitattributes',
];

/** False if there are no rules: no file, or one that git cannot read either and therefore ignores. */
export function takeRules(from: string | null, to: string, reading: Reading): boolean {
  if (from === null || isNullDevice(from) || !mayBeRead(from)) return false;
  return copyIfThere(from, to, reading);
}

function mayBeRead(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error) return false;
    throw error;
  }
}
