/** Ranks several attempts at the same task by facts alone: no model is asked. */

import { succeeded } from '../conversation/tool.ts';
import type { FlagName } from '../review/flag.ts';
import type { OutcomeName } from '../run/exit-code.ts';
import type { RunResult } from '../run/result.ts';
import { formatNumber, pluralize } from '../text/words.ts';
import type { AttemptFacts } from './attempts.ts';

/** The attempt with this number, by the result that it left in `path`. */
export function attemptOf(
  result: RunResult,
  { number, path }: Pick<AttemptFacts, 'number' | 'path'>,
): AttemptFacts {
  const { outcome, exitCode, reason, errorCode, verify, changedFiles, flags, patch } = result;
  const { iterations, tokens, costUsd, estimated, models } = result;
  const lines = changedFiles.map(({ additions, deletions }) => (additions ?? 0) + (deletions ?? 0));
  return {
    number,
    path,
    outcome: outcome ?? 'internal_error',
    exitCode: exitCode ?? 1,
    reason,
    errorCode,
    failedChecks: verify.filter(({ end }) => !succeeded(end)).length,
    unverified: result.unverified.length,
    weakenedTests: flags.filter(({ flag }) => WEAKENS_TESTS.includes(flag)).length,
    denied: result.deniedCount,
    files: changedFiles.length,
    binaryFiles: changedFiles.filter(({ additions }) => additions === null).length,
    lines: lines.reduce((sum, count) => sum + count, 0),
    patchBytes: patch?.bytes ?? 0,
    ...{ iterations, tokens, costUsd, estimated, models },
    hosts: result.network?.hosts ?? [],
  };
}

const WEAKENS_TESTS: readonly FlagName[] = ['tests_deleted', 'tests_skipped', 'tests_weakened'];

/** The best of them, and what decided. There is at least one. */
export function chosenAmong<T>(
  all: readonly [T, ...T[]],
  attemptIn: (one: T) => AttemptFacts,
): { best: T; why: string } {
  let left: readonly T[] = all;
  const why: string[] = [];
  for (const [rank, said] of CRITERIA) {
    const ranks = left.map((one) => rank(attemptIn(one)));
    const least = Math.min(...ranks);
    const better = left.filter((_, at) => ranks[at] === least);
    const [best] = better;
    if (best === undefined || better.length === left.length) continue;
    why.push(`${better.length} of ${left.length} ${said(attemptIn(best))}`);
    left = better;
  }
  const [best = all[0]] = left;
  if (left.length > 1) why.push(`the first of ${left.length} that are alike`);
  return { best, why: why.join(', then ') || 'the only one' };
}

/** What is better the less it is, and what follows "2 of 3" for the best attempts. */
type Criterion = readonly [rank: (attempt: AttemptFacts) => number, said: (best: AttemptFacts) => string];

/** Ends by how much of the work they stand for. */
const ENDS: readonly OutcomeName[] = [
  'done',
  'no_change',
  'verify_failed',
  'limit_reached',
  'deadline',
  'interrupted',
  'provider_error',
  'blocked',
  'policy_violation',
  'publish_failed',
];

/** Of those that are done: a small part of work that is not finished is no virtue. */
const ofDone = (rank: Criterion[0]): Criterion[0] => {
  return (attempt) => (attempt.outcome === 'done' ? rank(attempt) : 0);
};
const fewest = (rank: Criterion[0], none: string, some: string): Criterion => [
  rank,
  (best) => (rank(best) === 0 ? none : some),
];

/** The first criterion in which two attempts differ decides. */
const CRITERIA: readonly Criterion[] = [
  [
    ({ outcome }) => (ENDS.includes(outcome) ? ENDS.indexOf(outcome) : ENDS.length),
    ({ outcome }) => `ended as ${outcome}`,
  ],
  fewest(
    ({ failedChecks, unverified }) => failedChecks + unverified,
    'passed every check',
    'passed the most checks',
  ),
  fewest(({ weakenedTests }) => weakenedTests, 'weakened no test', 'weakened the fewest tests'),
  fewest(({ denied }) => denied, 'had nothing denied', 'had the least denied'),
  // A file without lines is no small change: a byte makes a text into one.
  fewest(
    ofDone(({ binaryFiles }) => binaryFiles),
    'changed text alone',
    'changed the fewest files that are no text',
  ),
  [ofDone(({ lines }) => lines), smallest],
  [ofDone(({ patchBytes }) => patchBytes), smallest],
];

function smallest({ lines, files }: AttemptFacts): string {
  return `made the smallest change (${formatNumber(lines)} ${lines === 1 ? 'line' : 'lines'} in ${pluralize(files, 'file')})`;
}
