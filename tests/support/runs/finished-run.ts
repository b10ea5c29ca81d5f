import type { CommandEnd } from '../../../src/domain/conversation/tool.ts';
import type { CommandReport } from '../../../src/domain/run/events.ts';
import type { RunResult } from '../../../src/domain/run/result.ts';
import { emptyResult } from '../../../src/engine/finish/empty-result.ts';

/** The result of a run that did what issue 7 asks for; `part` is what is different. */
export function finishedRun(part: Partial<RunResult> = {}): RunResult {
  return {
    ...emptyResult('20261121-164500-3f9a', '0.1.0'),
    status: 'finished',
    outcome: 'done',
    exitCode: 0,
    reason: '2 files changed, 1 verify command passed.',
    summary: 'Amounts are rounded to the cent, half to even, and a test says so.',
    plan: {
      title: 'Round amounts half to even',
      sha256: 'a'.repeat(64),
      source: {
        kind: 'issue',
        repository: 'acme/shop',
        number: 7,
        url: 'https://github.com/acme/shop/issues/7',
        author: 'mona',
      },
      allow: [],
      protect: [],
    },
    paths: { allow: [], protect: [] },
    provider: 'anthropic',
    model: 'claude-sonnet-5-5',
    baseSha: '1'.repeat(40),
    baseBranch: 'main',
    baseTree: '2'.repeat(40),
    baseDirty: false,
    treeSha: '3'.repeat(40),
    patch: { path: 'changes.patch', sha256: 'c'.repeat(64), bytes: 1_234 },
    changedFiles: [
      { path: 'src/money.ts', kind: 'modify', additions: 12, deletions: 3 },
      { path: 'tests/money.test.ts', kind: 'create', additions: 30, deletions: 0 },
    ],
    provenance: {
      files: [
        {
          path: 'src/money.ts',
          sources: [
            { by: 'tool', tool: 'edit_file', calls: ['t1'], iteration: 2 },
            { by: 'tool', tool: 'edit_file', calls: ['t4'], iteration: 4 },
          ],
          hunks: [],
          cut: null,
        },
        {
          path: 'tests/money.test.ts',
          sources: [{ by: 'tool', tool: 'write_file', calls: ['t2'], iteration: 3 }],
          hunks: [],
          cut: null,
        },
      ],
      filesLeftOut: 0,
    },
    iterations: 6,
    tokens: { input: 1_200, output: 3_400, cacheRead: 38_000, cacheWrite: 4_000, cacheWrite1h: 0 },
    costUsd: 0.0812,
    durations: { totalMs: 94_300, modelMs: 71_000 },
    verify: [report('npm test', 0)],
    sandbox: 'namespaces+seccomp',
    ...part,
  };
}

/** A command that ended with this exit code. */
export function report(command: string, exitCode: number, output = ''): CommandReport {
  const end: CommandEnd = {
    exitCode,
    signal: null,
    timedOut: false,
    interrupted: false,
    durationMs: 8_123,
  };
  return { command, end, output };
}

/** What a run says of its review; `part` is what is different. */
export function reviewed(part: Partial<NonNullable<RunResult['review']>>): NonNullable<RunResult['review']> {
  const nothing = { reason: '', findings: [], sentBack: false, changedSince: [], leftOut: 0 };
  return { provider: 'anthropic', model: 'claude-opus-5-5', status: 'done', ...nothing, ...part };
}

/** What such a run says of two attempts, of which it is the second. */
export const TWO_ATTEMPTS: NonNullable<RunResult['attempts']> = {
  asked: 3,
  chosen: 2,
  why: '1 of 2 made the smallest change (45 lines in 2 files)',
  list: [1, 2].map((number) => ({
    ...{ number, path: number === 2 ? '/runs/r' : `/runs/r/attempts/${number}` },
    ...{ outcome: 'done' as const, exitCode: 0, reason: 'Done.', errorCode: null },
    ...{ failedChecks: 0, unverified: 0, weakenedTests: 0, denied: 0 },
    ...{ files: 2, binaryFiles: 0, lines: number === 2 ? 45 : 60, patchBytes: 1_234, iterations: 6 },
    ...{ tokens: emptyResult('', '').tokens, costUsd: 0.01, estimated: false, models: [], hosts: [] },
  })),
};
