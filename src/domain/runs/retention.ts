/** Which runs are removed, and which are kept. */

/** A run as a list sees it. */
export interface RunSummary {
  readonly runId: string;
  readonly path: string;
  /** `elsewhere`: in a folder that `--run-dir` has named, which is never removed. */
  readonly place: 'default' | 'elsewhere';
  /** `died`: it claims to be running, but no process on this machine is working on it. `unreadable`: `problem` says why. */
  readonly status: 'running' | 'finished' | 'died' | 'unreadable';
  readonly outcome: string | null;
  readonly exitCode: number | null;
  /** Of a replay: the run that was played again; null for a run. */
  readonly replayOf: string | null;
  /** Unix time in milliseconds; null for an id that has no time. */
  readonly startedAt: number | null;
  /** When it was last written to, in Unix milliseconds. */
  readonly changedAt: number;
  /** The work tree; null for a run that found none, or cannot be read. */
  readonly root: string | null;
  readonly plan: string | null;
  readonly costUsd: number | 'unknown' | null;
  /** Its size on disk, or a lower bound if `isAtLeast`. */
  readonly bytes: number;
  readonly isAtLeast: boolean;
  readonly problem: string | null;
}

/** The runs to remove. */
export interface RetentionRules {
  /** Runs that were last written to so many milliseconds ago; null for none. */
  readonly olderThanMs: number | null;
  /** Bytes that all runs in the default places may take; beyond it, the oldest go. The newest run stays. */
  readonly maxTotalBytes: number;
  /** Runs that did not end with exit code 0 stay. */
  readonly keepFailed: boolean;
}

/**
 * The lock of a process in a container is not visible from outside. A run that has not been written to for this long is dead: a
 * run writes with each turn, and ends at its deadline.
 */
const SURELY_DEAD_MS = 24 * 3_600_000;

/** The oldest first. Only finished and dead runs in the default places are ever removed. */
export function runsToRemove(
  runs: readonly RunSummary[],
  { olderThanMs, maxTotalBytes, keepFailed }: RetentionRules,
  now: number,
): RunSummary[] {
  const own = runs.filter(({ place }) => place === 'default').sort((a, b) => (a.runId < b.runId ? -1 : 1));
  const mayGo = (run: RunSummary) => hasEnded(run, now) && !(keepFailed && run.exitCode !== 0);
  const isOld = (run: RunSummary) => olderThanMs !== null && now - run.changedAt > olderThanMs;
  const removed = new Set(own.filter((run) => mayGo(run) && isOld(run)));
  let total = own.reduce((sum, run) => sum + (removed.has(run) ? 0 : run.bytes), 0);
  for (const run of own.slice(0, -1)) {
    if (total <= maxTotalBytes) break;
    if (removed.has(run) || !mayGo(run)) continue;
    removed.add(run);
    total -= run.bytes;
  }
  return own.filter((run) => removed.has(run));
}

function hasEnded({ status, changedAt }: RunSummary, now: number): boolean {
  return status === 'finished' || (status === 'died' && now - changedAt > SURELY_DEAD_MS);
}
