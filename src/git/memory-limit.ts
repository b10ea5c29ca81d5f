/** What one git process may allocate. The limit costs a shell that becomes git: 0.3 ms of processor time, 0.5 ms of waiting. */

/**
 * In KiB. What git maps of files, such as packs and indexes, does not count: the kernel can take that back. 1 GiB does for a
 * million files, and for two contents of 100 MB to be compared as binary ones.
 */
const MAX_DATA_KIB = 2 ** 20;

/** The shell that sets the limit becomes git, with the same process id. Where less is permitted already, that holds. */
const WITHIN_MEMORY = `ulimit -d ${MAX_DATA_KIB} 2>/dev/null; exec "$0" "$@"`;

/** Ends the message of a git that failed for this limit. */
export const MEMORY_LIMIT = '(git may allocate 1 GiB)';

/**
 * Commands that read settings and the names of refs, whose files `checkRepositoryOf` has measured before the first of them.
 * Whatever is not on this list reads objects, trees, indexes, rules or a network, and is limited.
 */
const PLAIN_QUESTIONS: ReadonlySet<string> = new Set(['config', 'rev-parse', 'symbolic-ref']);

/** The program to start for `git ARGS`, with its arguments. */
export function commandLine(git: string, args: readonly string[]): { program: string; args: string[] } {
  if (isPlainQuestion(args)) return { program: git, args: [...args] };
  return { program: '/bin/sh', args: ['-c', WITHIN_MEMORY, git, ...args] };
}

function isPlainQuestion(args: readonly string[]): boolean {
  const at = args.findIndex((arg, index) => !arg.startsWith('-') && args[index - 1] !== '-c');
  // `NAME^{commit}` reads the object that has the name.
  return PLAIN_QUESTIONS.has(args[at] ?? '') && !args.slice(at + 1).some((arg) => arg.includes('^'));
}
