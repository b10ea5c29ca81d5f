/** Distinguishes a broken or exhausted machine from a bug, in words for the person who can fix it. */

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
