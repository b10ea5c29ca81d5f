/** The ways a run can end, and the exit code of each. These numbers appear nowhere else. */

import * as z from 'zod';

/** How a run or a publication ended. `EXIT_CODES` gives each its exit code. */
export const OutcomeName = z.enum([
  'done',
  'no_change',
  'internal_error',
  'usage_error',
  'provider_error',
  'blocked',
  'limit_reached',
  'policy_violation',
  'verify_failed',
  'sandbox_unavailable',
  'publish_failed',
  'deadline',
  'interrupted',
]);
export type OutcomeName = z.infer<typeof OutcomeName>;

/** The exit code of every outcome but `interrupted`, which depends on the signal. */
export const EXIT_CODE = {
  done: 0,
  no_change: 0,
  internal_error: 1,
  usage_error: 2,
  provider_error: 4,
  blocked: 5,
  limit_reached: 7,
  policy_violation: 8,
  verify_failed: 9,
  sandbox_unavailable: 10,
  publish_failed: 11,
  // What timeout(1) exits with.
  deadline: 124,
} as const satisfies Readonly<Record<Exclude<OutcomeName, 'interrupted'>, number>>;

/** For `no_change` with `--if-no-changes error`. */
export const CHANGES_EXPECTED_EXIT_CODE = 3;

/** A signal that ends a run. */
export const StopSignal = z.enum(['SIGHUP', 'SIGINT', 'SIGTERM']);
export type StopSignal = z.infer<typeof StopSignal>;

/** For `interrupted`: 128 plus the number of the signal, as shells report it. */
export const SIGNAL_EXIT_CODE = {
  SIGHUP: 129,
  SIGINT: 130,
  SIGTERM: 143,
} as const satisfies Readonly<Record<StopSignal, number>>;

/** The exit codes of commands that end with this outcome and an error. */
export function exitCodesOfError(name: OutcomeName): readonly number[] {
  if (name === 'interrupted') return Object.values(SIGNAL_EXIT_CODE);
  return [name === 'no_change' ? CHANGES_EXPECTED_EXIT_CODE : EXIT_CODE[name]];
}

/** Each exit code with its meaning, in ascending order: the list in `--help`. */
export function exitCodeList(): string[] {
  const names = new Map<number, string[]>([
    [CHANGES_EXPECTED_EXIT_CODE, ['no_change with --if-no-changes error']],
  ]);
  for (const [name, code] of Object.entries(EXIT_CODE)) names.set(code, [...(names.get(code) ?? []), name]);
  return [
    ...[...names].sort(([a], [b]) => a - b).map(([code, meanings]) => `${code} ${meanings.join(' or ')}`),
    `${Object.values(SIGNAL_EXIT_CODE).join(', ')} interrupted`,
  ];
}
