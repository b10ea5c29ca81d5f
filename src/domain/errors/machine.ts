/** Errors of the machine, and of patchsmith itself. */

import { ends } from './entry.ts';

/** Codes with their meaning and their fix. */
export const MACHINE = {
  ERR_BUG: ends(
    'internal_error',
    'This is a bug in patchsmith, or a machine that fails in a way that is not known.',
    "Report it, with the lines before it and the run's `patchsmith.log`.",
  ),
  ERR_MACHINE: ends(
    'internal_error',
    'The machine fails: its disk is full or read-only, memory or processes ran out.',
    'Fix that, then continue with `patchsmith resume`.',
  ),
  ERR_FEW_DESCRIPTORS: ends(
    'internal_error',
    'The process may open fewer files than patchsmith needs.',
    'Raise the limit, such as with `ulimit -n 1024`.',
  ),
  ERR_RUN_DIRECTORY_GONE: ends(
    'internal_error',
    'The run directory was removed while the run went on.',
    'The changes are in the work tree. Choose a place for run directories that nothing tidies (`--run-dir`).',
  ),
  ERR_PROCESS_DIED: ends(
    'internal_error',
    'The process of the run ended without a result: it was killed, or memory ran out.',
    'Continue it with `patchsmith resume`.',
  ),
  ERR_OUTPUT_UNWRITTEN: ends(
    'internal_error',
    'The document could not be written to stdout, for instance because its reader has gone away.',
    'Read it from the run directory, or run it again with a reader.',
  ),
  ERR_NO_FILE_WRITTEN: ends(
    'internal_error',
    'No file could be written to the work tree.',
    'Make it writable, and run it again.',
  ),
  ERR_NOT_RESTORED: ends(
    'internal_error',
    '`patchsmith undo` could restore only a part.',
    'Fix what the message names, and run undo again.',
  ),
  ERR_NO_BROWSER: ends(
    'internal_error',
    'The page could not be opened in a browser.',
    'Open the path that `patchsmith report` prints.',
  ),
} as const;
