/** Errors of the machine, and of patchsmith itself. */

import { ends } from './entry.ts';

/** Codes with their meaning and their fix. */
export const MACHINE = {
  ERR_BUG: ends(
    'internal_error',
    'This is a bug in patchsmith, or an unknown failure of the machine.',
    "Report it, with the lines before it and the run's `patchsmith.log`.",
  ),
  ERR_MACHINE: ends(
    'internal_error',
    'The machine failed: its disk is full or read-only, or it ran out of memory or processes.',
    'Fix that, then continue with `patchsmith resume`.',
  ),
  ERR_FEW_DESCRIPTORS: ends(
    'internal_error',
    'The limit on open files is lower than patchsmith needs.',
    'Raise the limit, such as with `ulimit -n 1024`.',
  ),
  ERR_RUN_DIRECTORY_GONE: ends(
    'internal_error',
    'The run directory was removed during the run.',
    'The changes are in the work tree. Choose a place for run directories that nothing cleans up (`--run-dir`).',
  ),
  ERR_PROCESS_DIED: ends(
    'internal_error',
    'The process of the run ended without a result: it was killed, or ran out of memory.',
    'Continue it with `patchsmith resume`.',
  ),
  ERR_OUTPUT_UNWRITTEN: ends(
    'internal_error',
    'The document could not be written to stdout, for example because its reader has exited.',
    'Read it from the run directory, or run the command again.',
  ),
  ERR_NO_FILE_WRITTEN: ends(
    'internal_error',
    'No file could be written to the work tree.',
    'Make it writable, and run it again.',
  ),
  ERR_NOT_RESTORED: ends(
    'internal_error',
    '`patchsmith undo` could only restore part of the work tree.',
    'Fix what the message names, and run undo again.',
  ),
  ERR_NO_BROWSER: ends(
    'internal_error',
    'The page could not be opened in a browser.',
    'Open the path that `patchsmith report` prints.',
  ),
} as const;
