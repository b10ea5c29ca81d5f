/** What a copy of a checkout or of a run directory is made without while a run is at work there: its locks. */

/** For the option `filter` of `cpSync`, which copies no sockets. */
export function isNoSocket(path: string): boolean {
  return !path.endsWith('.sock');
}
