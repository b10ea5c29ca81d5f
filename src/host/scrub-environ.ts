/** The block of variables that the kernel gave this process at start, and that /proc shows for as long as it lives. */

import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';

/**
 * Overwrites the values of variables in /proc/self/environ, where every process of the same user could read them; removing a
 * variable leaves them there. Afterwards these variables are meaningless in this process. False if the kernel does not let a
 * process write to its own memory in this way, and some values are still readable.
 */
export function scrubEnviron(names: readonly string[]): boolean {
  if (names.length === 0) return true;
  try {
    overwrite(names);
    const block = readFileSync(ENVIRON);
    return valuesIn(block, names).every(({ from, to }) =>
      block.subarray(from, to).every((byte) => byte === WIPED),
    );
  } catch (error) {
    // Without /proc, with a kernel that protects memory from its own process, or without a free descriptor.
    if (NOT_TO_BE_HAD.includes((error as NodeJS.ErrnoException).code ?? '')) return false;
    throw error;
  }
}

const NOT_TO_BE_HAD = ['ENOENT', 'EACCES', 'EPERM', 'EIO', 'EROFS', 'EINVAL', 'EMFILE', 'ENFILE'];
const ENVIRON = '/proc/self/environ';
const WIPED = '*'.charCodeAt(0);
/**
 * The field of /proc/self/stat, counted after the program's name, with the address of the block (env_start in
 * proc_pid_stat(5)).
 */
const ENV_START = 47;

function overwrite(names: readonly string[]): void {
  const stat = readFileSync('/proc/self/stat', 'latin1');
  const start = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[ENV_START]);
  const memory = openSync('/proc/self/mem', 'r+');
  try {
    for (const { from, to } of valuesIn(readFileSync(ENVIRON), names)) {
      if (to > from) writeSync(memory, Buffer.alloc(to - from, WIPED), 0, to - from, start + from);
    }
  } finally {
    closeSync(memory);
  }
}

/** Where the values of these variables are in the block; a name can occur more than once. */
function valuesIn(block: Buffer, names: readonly string[]): { from: number; to: number }[] {
  const found: { from: number; to: number }[] = [];
  for (let at = 0; at < block.length; ) {
    const nul = block.indexOf(0, at);
    const to = nul === -1 ? block.length : nul;
    const equals = block.indexOf('=', at);
    if (equals !== -1 && equals < to && names.includes(block.toString('utf8', at, equals))) {
      found.push({ from: equals + 1, to });
    }
    at = to + 1;
  }
  return found;
}
