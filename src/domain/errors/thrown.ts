/**
 * Errors that are thrown to end a run, and caught in one place; and errors of a broken or exhausted machine, which are no bugs, in words
 * for the person who can fix it.
 */

/**
 * Thrown for a file of the checkout or of its repository that is not what it should be; the run ends as a usage error.
 * The message names the file and says how to proceed.
 */
export class UnusableFile extends Error {
  /** `why` follows the path, as in `is not a file`; `fix` says what helps. */
  constructor(path: string, why: string, fix?: string) {
    super(unusable(path, why, fix));
    this.name = 'UnusableFile';
  }
}

/** The message for people about such a file. */
export function unusable(path: string, why: string, fix = 'Remove it'): string {
  return `${JSON.stringify(path)} ${why}. ${fix}, or name another checkout with --repo.`;
}

/** Thrown before any command runs; the run ends as a usage error. `message` names a file and says why. */
export class LinkedOutside extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'LinkedOutside';
  }
}

/** Thrown by file and git operations of the runner once the run is over: the end of the work, not a bug. */
export class CutShort extends Error {
  constructor() {
    super('The run was stopped before this had come to its end.');
    this.name = 'CutShort';
  }
}

/** What is wrong with the machine, as the beginning of a sentence; null when the error does not point to the machine. */
export function machineFault(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  const code = 'code' in error ? String(error.code) : '';
  const known = FAULTS.find(
    (fault) => fault.code === code || (error.message.startsWith('git ') && fault.gitSays.test(error.message)),
  );
  return known ? `${known.what} (${error.message.trim()})` : null;
}

const FAULTS = [
  {
    code: 'ENOSPC',
    gitSays: /No space left on device|Out of diskspace/,
    what: 'No space is left on the disk',
  },
  { code: 'EDQUOT', gitSays: /Disk quota exceeded/, what: 'The disk quota is used up' },
  { code: 'EROFS', gitSays: /Read-only file system/, what: 'The file system is read-only' },
  { code: 'EIO', gitSays: /Input\/output error/, what: 'The disk reports errors' },
  {
    code: 'EMFILE',
    gitSays: /Too many open files$/m,
    what: 'Too many files are open; raise the limit with ulimit -n',
  },
  {
    code: 'ENFILE',
    gitSays: /Too many open files in system/,
    what: 'Too many files are open on this machine',
  },
  { code: 'no code', gitSays: /\(git may allocate/, what: 'Git needed more memory than it is allowed' },
  { code: 'ENOMEM', gitSays: /Cannot allocate memory|out of memory/i, what: 'The machine is out of memory' },
  { code: 'EAGAIN', gitSays: /Resource temporarily unavailable/, what: 'No more processes can be started' },
  { code: 'EACCES', gitSays: /Permission denied/, what: 'A file may not be read or written' },
  { code: 'EPERM', gitSays: /Operation not permitted/, what: 'A file may not be changed' },
  { code: 'ESTALE', gitSays: /Stale file handle/, what: 'A file or folder of this machine was replaced' },
  { code: 'no code', gitSays: /killed by SIG/, what: 'Something killed git' },
] as const;
