import { describe, expect, test } from 'vitest';
import { OutcomeName } from '../../src/domain/run/exit-code.ts';
import type { RunOutcome } from '../../src/domain/run/outcome.ts';
import { type CommentFacts, commentText } from '../../src/texts/issue-comment.ts';
import { finishedRun } from '../support/runs/finished-run.ts';

const MARKER = '<!-- patchsmith:1a2b3c4d -->';
const RUN_URL = 'https://github.com/acme/shop/actions/runs/42';
const opened: RunOutcome = { name: 'done', exitCode: 0, errorCode: null, reason: 'Pull request #12 opened.' };
const facts = (part: Partial<CommentFacts> = {}): CommentFacts => ({
  result: finishedRun(),
  outcome: opened,
  pullRequest: null,
  conflicts: [],
  warnings: [],
  runUrl: RUN_URL,
  repositoryUrl: 'https://github.com/acme/shop',
  isStep: false,
  marker: MARKER,
  ...part,
});

describe('the comment on an issue', () => {
  test('of work that is ready leads to the pull request', () => {
    const pullRequest = { number: 12, draft: false, draftReasons: [], operation: 'created' } as const;
    expect(commentText(facts({ pullRequest }))).toBe(`**Pull request opened**: #12

**2 files changed** (+42 −3) · **verified:** 1 command passed · 6 turns, USD 0.0812

It is ready for review. Running the plan again updates the same pull request. [Log and artifacts](${RUN_URL}).

${MARKER}`);
  });

  test('has what the review found', () => {
    const pullRequest = { number: 12, draft: false, draftReasons: [], operation: 'created' } as const;
    const finding = { severity: 'note', path: 'src/a.ts', line: 3, problem: 'A **name** is lost.' } as const;
    const result = finishedRun({
      review: {
        ...{ provider: 'anthropic', model: 'claude-opus-5-5', status: 'done' as const, reason: '' },
        ...{ findings: [finding], sentBack: false, changedSince: [], leftOut: 0 },
      },
    });
    const text = commentText(facts({ pullRequest, result }));
    expect(text).toContain('Reviewed by claude-opus-5-5: 1 finding.');
    expect(text).toMatch(/^- note .*src\/a\.ts.*, line 3: A \\\*\\\*name/m);
  });

  test.each([
    [true, [], 'It is still a draft, although this run gives no reason for it.'],
    [false, ['verification failed'], 'The pull request says why it should be a draft.'],
  ])('of a draft (%s) with the reasons %j does not say that it is ready', (draft, draftReasons, says) => {
    const text = commentText(
      facts({ pullRequest: { number: 12, draft, draftReasons, operation: 'updated' } }),
    );
    expect(text).toContain(says);
    expect(text).not.toContain('ready for review');
  });

  test.each([
    [
      'ERR_GITHUB_REFUSED',
      {},
      'The patch is kept among the artifacts. When that is fixed, publish it again, which needs no other run, or run it again.',
    ],
    [
      'ERR_PATCH_CONFLICT',
      {},
      'The patch is kept among the artifacts. When that is fixed, publish it again, which needs no other run, or run it again.',
    ],
    [
      'ERR_MERGE_NOT_MADE',
      { patch: null, iterations: 0 },
      'No model was asked, since its work could not be published. When that is fixed, run it again.',
    ],
    ['ERR_PATCH_NOT_PROVEN', { patch: null }, 'There is no patch. When that is fixed, run it again.'],
  ])('of what could not be published for %s (%o) says only what helps', (errorCode, part, next) => {
    const outcome: RunOutcome = { name: 'publish_failed', exitCode: 11, errorCode, reason: 'So it is.' };
    expect(commentText(facts({ outcome, result: finishedRun(part) }))).toContain(`\n\n${next} [Log`);
  });

  test('of a pull request that is not as asked for says both', () => {
    const outcome: RunOutcome = {
      name: 'publish_failed',
      exitCode: 11,
      errorCode: 'ERR_GITHUB_REFUSED',
      reason: 'GitHub refused the text.',
    };
    const pullRequest = { number: 12, draft: false, draftReasons: [], operation: 'created' } as const;
    const warnings = ['[WARN_PULL_REQUEST_INCOMPLETE] there is no label x', '[WARN_OTHER_BASE] Other.'];
    const text = commentText(facts({ outcome, pullRequest, warnings }));
    expect(text).toMatch(/^\*\*Pull request opened, but not everything is as requested\*\*: #12\n/);
    expect(text).not.toContain('could not be published');
    expect(text).toContain('\n\nGitHub refused the text.\n\nThere is no label x.\n\n');
  });

  test.each(OutcomeName.options)('of %s says what happened, why, and what to do', (name) => {
    // An answer comes before what can be done next.
    const outcome: RunOutcome = { name, exitCode: 1, errorCode: null, reason: 'The very reason.' };
    const text = commentText(
      facts({ outcome, result: finishedRun({ outcome: name, reason: 'The very reason.' }) }),
    );
    const [headline = '', reason, next, ...rest] = text.split('\n\n');
    expect(headline).toMatch(/^\*\*[^*]{10,}\*\*$/);
    expect(reason).toBe('The very reason.');
    expect(next).toMatch(/^[^>].{20,} \[Log and artifacts\]\(.*\)\.$/);
    expect(rest.at(-1)).toBe(MARKER);
  });
});
