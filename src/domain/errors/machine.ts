/** Errors of the machine, and of patchsmith itself. */

import { ends } from './entry.ts';

/** What each code means, and what to do. */
export const MACHINE = {
  ERR_BUG: ends(
    'internal_error',
    'A bug in patchsmith, or an unknown failure of the machine. Report it, with the lines before it and `patchsmith.log`.',
  ),
  ERR_MACHINE: ends(
    'internal_error',
    'The machine has no disk space, memory or processes left, or its disk is read-only. Fix that, then `patchsmith resume`.',
  ),
  ERR_FEW_DESCRIPTORS: ends(
    'internal_error',
    'The limit on open files is too low. Raise it, such as with `ulimit -n 1024`.',
  ),
  ERR_RUN_DIRECTORY_GONE: ends(
    'internal_error',
    'The run directory was removed during the run; the changes are in the work tree. Choose a safe place with `--run-dir`.',
  ),
  ERR_PROCESS_DIED: ends(
    'internal_error',
    'The process of the run was killed, or ran out of memory. Continue with `patchsmith resume`.',
  ),
  ERR_OUTPUT_UNWRITTEN: ends(
    'internal_error',
    'The document could not be written to stdout. Read it from the run directory, or run the command again.',
  ),
  ERR_NO_FILE_WRITTEN: ends(
    'internal_error',
    'No file could be written to the work tree. Make it writable, and run again.',
  ),
  ERR_NOT_RESTORED: ends(
    'internal_error',
    '`patchsmith undo` restored only part of the work tree. Fix what the message names, and run it again.',
  ),
  ERR_NO_BROWSER: ends(
    'internal_error',
    'No browser could be opened. Open the path that `patchsmith report` prints.',
  ),
} as const;
