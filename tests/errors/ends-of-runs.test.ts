import { expect, test } from 'vitest';
import { decideOutcome, type OutcomeFacts } from '../../src/domain/run/decide-outcome.ts';
import { ProviderFailureKind, type StopReason } from '../../src/domain/run/limits.ts';
import { repositoriesReason, withheldReason } from '../../src/engine/finish/review.ts';

const completed: StopReason = { why: 'completed', summary: '' };
const changedFiles: OutcomeFacts['changedFiles'] = [
  { path: 'a.txt', kind: 'modify', additions: 1, deletions: 0 },
];
const ended = (stop: StopReason, more: Partial<OutcomeFacts> = {}) =>
  decideOutcome({ stop, changedFiles, ...more });
const denied: OutcomeFacts['denied'] = [{ kind: 'network', what: 'a.example', calls: ['a'], why: 'no' }];
const limit = (name: (StopReason & { why: 'limit' })['limit']): StopReason => ({
  why: 'limit',
  limit: name,
  value: 1,
  used: 1,
});
const secret = [{ path: 'a', line: 1, what: 'a token' }];

test.each([
  ['ERR_LIMIT_ITERATIONS', ended(limit('iterations'))],
  ['ERR_LIMIT_TOKENS', ended(limit('tokens'))],
  ['ERR_LIMIT_COST', ended(limit('cost_usd'))],
  ['ERR_LIMIT_OUTPUT', ended(limit('output_tokens'))],
  ['ERR_LIMIT_CONTEXT', ended(limit('context_window'))],
  ['ERR_LIMIT_CHANGES', ended(limit('changed_files'))],
  ['ERR_LIMIT_DISK', ended(limit('disk_bytes'))],
  ['ERR_DEADLINE', ended({ why: 'deadline', valueMs: 1, usedMs: 1 })],
  ['ERR_INTERRUPTED', ended({ why: 'interrupted', signal: 'SIGTERM' })],
  ['ERR_BLOCKED', ended({ why: 'blocked', by: 'model', reason: '' })],
  ['ERR_MODEL_REFUSED', ended({ why: 'blocked', by: 'refusal', reason: '' })],
  ['ERR_NO_PROGRESS', ended({ why: 'blocked', by: 'stall', reason: '' })],
  ['ERR_VERIFY_FAILED', ended({ why: 'verify_failed', commands: ['npm test'] })],
  ['ERR_NOT_REVIEWED', ended(completed, { unreviewed: 'The patch was not reviewed' })],
  ['ERR_SETUP_FAILED', ended({ why: 'unready', reason: 'The setup command failed.' })],
  ['ERR_NO_CHANGE', ended(completed, { changedFiles: [], ifNoChanges: 'error' })],
  ['ERR_NO_FILE_WRITTEN', ended(completed, { changedFiles: [], unwritable: 'EROFS' })],
  ['ERR_FORBIDDEN_PATH', ended(completed, { forbiddenPaths: ['LICENSE'] })],
  ['ERR_HIDDEN_PATH', ended(completed, { hiddenPaths: ['a'] })],
  ['ERR_GIT_DIR_IN_DOUBT', ended(completed, { gitDirsInDoubt: ['a/.git'] })],
  ['ERR_DENIED', ended(completed, { denied, deniedCount: 1, ifDenied: 'error' })],
  ['ERR_SECRET_IN_PATCH', ended(completed, { withheld: withheldReason(secret) })],
  ['ERR_REPOSITORY_IN_PATCH', ended(completed, { withheld: repositoriesReason(['a']) })],
  ['ERR_PATCH_NOT_PROVEN', ended(completed, { publishFailure: 'The tree differs.' })],
])('%s', (code, outcome) => {
  expect([outcome.errorCode, outcome.exitCode > 0]).toEqual([code, true]);
});

test.each([
  ['ERR_PROVIDER_AUTHENTICATION', 'authentication'],
  ['ERR_PROVIDER_BILLING', 'billing'],
  ['ERR_PROVIDER_PERMISSION', 'permission'],
  ['ERR_PROVIDER_NOT_FOUND', 'not_found'],
  ['ERR_PROVIDER_INVALID_REQUEST', 'invalid_request'],
  ['ERR_PROVIDER_TOO_LARGE', 'too_large'],
  ['ERR_PROVIDER_RATE_LIMIT', 'rate_limit'],
  ['ERR_PROVIDER_OUTAGE', 'outage'],
  ['ERR_PROVIDER_STREAM', 'stream'],
  ['ERR_PROVIDER_RECORDING', 'recording'],
] as const)('%s', (code, kind) => {
  expect(ended({ why: 'provider', kind, message: 'no' }).errorCode).toBe(code);
});

test('every way in which a provider fails has its own', () => {
  const codes = ProviderFailureKind.options.map(
    (kind) => ended({ why: 'provider', kind, message: 'no' }).errorCode,
  );
  expect(new Set(codes).size).toBe(ProviderFailureKind.options.length);
});

test('what ends well has none', () => {
  expect(ended(completed)).toMatchObject({ name: 'done', errorCode: null });
  expect(ended(completed, { changedFiles: [] })).toMatchObject({ name: 'no_change', errorCode: null });
});
