/**
 * Whole files that only `npm run test:full` runs, each with those that `npm test` has in its place: they try the same kinds of things,
 * on fewer places or closer to the function.
 */
export const BY_DAY: Readonly<Record<string, readonly string[]>> = {
  'tests/adapters/sandboxes/runner-process.test.ts': [
    'tests/attacks/contained.test.ts',
    'tests/e2e/resume/interruption.test.ts',
  ],
  'tests/attacks/none.test.ts': ['tests/attacks/contained.test.ts', 'tests/attacks/lesser.test.ts'],
  'tests/attacks/plain-user.test.ts': [
    'tests/attacks/contained.test.ts',
    'tests/attacks/hostile-commands.test.ts',
    'tests/e2e/machine/plain-user.test.ts',
  ],
  'tests/e2e/action/cancel.test.ts': ['tests/e2e/action/long-run.test.ts', 'tests/e2e/publish/again.test.ts'],
  'tests/e2e/commands/replay-ignored.test.ts': [
    'tests/e2e/commands/replay.test.ts',
    'tests/adapters/workspace/copy-entry.test.ts',
  ],
  'tests/e2e/compaction/faults.test.ts': [
    'tests/e2e/compaction/variants.test.ts',
    'tests/domain/conversation/compaction.test.ts',
    'tests/domain/conversation/segments.test.ts',
  ],
  'tests/e2e/compaction/server.test.ts': ['tests/e2e/compaction/variants.test.ts'],
  'tests/e2e/follow-up/conflicts.test.ts': [
    'tests/e2e/follow-up/life.test.ts',
    'tests/domain/github/conflict.test.ts',
    'tests/e2e/refusals/follow-ups.test.ts',
  ],
  'tests/e2e/machine/faults.test.ts': [
    'tests/errors/ends-of-runs.test.ts',
    'tests/e2e/resume/process.test.ts',
  ],
  'tests/e2e/machine/lazy-imports.test.ts': ['tests/e2e/commands/start.test.ts'],
  'tests/e2e/machine/terminal.test.ts': [
    'tests/adapters/sinks/progress/status-line.test.ts',
    'tests/host/terminal.test.ts',
  ],
  'tests/e2e/network/broken-proxies.test.ts': [
    'tests/e2e/machine/machine-proxy.test.ts',
    'tests/e2e/network/proxy-answers.test.ts',
    'tests/adapters/network/upstream.test.ts',
  ],
  'tests/e2e/publish/routes.test.ts': [
    'tests/e2e/publish/trees.test.ts',
    'tests/commands/publish/preflight.test.ts',
  ],
  'tests/e2e/publish/wishes.test.ts': [
    'tests/e2e/publish/pull-request.test.ts',
    'tests/texts/pull-request.test.ts',
    'tests/domain/github/publishing/commit-message.test.ts',
  ],
  'tests/e2e/repositories/checkouts.test.ts': ['tests/adapters/workspace/layouts.test.ts'],
  'tests/e2e/repositories/closed-places.test.ts': ['tests/files/closed-places.test.ts'],
  'tests/e2e/repositories/moved-repositories.test.ts': [
    'tests/adapters/workspace/unwalked/planted-git.test.ts',
  ],
  'tests/e2e/repositories/nested-repositories.test.ts': [
    'tests/adapters/sandboxes/nested-repositories.test.ts',
  ],
  'tests/e2e/repositories/planted-repository.test.ts': [
    'tests/domain/review/git-folder.test.ts',
    'tests/attacks/contained.test.ts',
  ],
  'tests/e2e/resume/bill.test.ts': ['tests/e2e/resume/resume.test.ts', 'tests/e2e/attempts/spending.test.ts'],
  'tests/e2e/resume/kills.test.ts': ['tests/e2e/resume/resume.test.ts', 'tests/e2e/commands/undo.test.ts'],
  'tests/e2e/resume/small-run-directory.test.ts': [
    'tests/e2e/resume/resume.test.ts',
    'tests/adapters/workspace/tree/kept-base.test.ts',
  ],
  'tests/e2e/resume/reopened-checkouts.test.ts': [
    'tests/e2e/resume/resume.test.ts',
    'tests/e2e/commands/undo.test.ts',
  ],
  'tests/e2e/resume/stopped.test.ts': [
    'tests/commands/resume/recorded-permissions.test.ts',
    'tests/domain/run/fold/advance.test.ts',
  ],
  'tests/e2e/run/verify-in.test.ts': [
    'tests/e2e/run/verified-patch.test.ts',
    'tests/e2e/verify/strict-commands.test.ts',
  ],
  'tests/expressions.test.ts': ['tests/e2e/limits/hostile-text.test.ts', 'tests/domain/changes/glob.test.ts'],
  'tests/e2e/verify/verify-in-cut-short.test.ts': [
    'tests/adapters/workspace/work-tree-copy.test.ts',
    'tests/e2e/resume/interruption.test.ts',
  ],
  'tests/extending.test.ts': ['tests/docs.test.ts', 'tests/e2e/action/inputs.test.ts'],
};

export const NIGHTLY_FILES: readonly string[] = Object.keys(BY_DAY);
