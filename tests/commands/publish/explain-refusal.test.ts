import { describe, expect, test } from 'vitest';
import { fixFor, refusalSentence } from '../../../src/commands/publish/refusals.ts';

const refusal = {
  route: 'POST /repos/{owner}/{repo}/git/refs',
  status: 403,
  message: 'Resource not accessible by integration',
  permission: 'contents=write',
  requestId: null,
};
const none: string[] = [];

describe('no permission is reported as missing if there is another reason', () => {
  test.each<[number, string, RegExp]>([
    [403, 'API rate limit exceeded for installation ID 4711.', /when the limit has passed/],
    [429, 'You have exceeded a secondary rate limit.', /when the limit has passed/],
    [403, 'Repository was archived so is read-only.', /archived/],
    [403, 'Unable to create comment because issue is locked.', /Unlock the issue/],
    [403, 'Resource protected by organization SAML enforcement. You must grant …', /Authorize the token/],
    [
      403,
      'Although … the `acme` organization has an IP allow list enabled, and …',
      /on the organisation's allow list/,
    ],
    [
      422,
      'Repository rule violations found\n\nCommits must have verified signatures.\n\n',
      /GITHUB_TOKEN, whose/,
    ],
    [422, 'Reference update failed', /in the way/],
    [422, "cannot lock ref …: 'refs/heads/patchsmith' exists; cannot create …", /in the way/],
  ])('%i %s', (status, message, mend) => {
    const said = fixFor({ ...refusal, status, message }, none);
    expect(said).toMatch(mend);
    expect(said).not.toContain('lacks');
  });
});

test('a multi-line answer of GitHub is reported on one line', () => {
  const message = 'Repository rule violations found\n\nCommits must have verified signatures.\n\n';
  expect(refusalSentence({ ...refusal, status: 422, message })).toBe(
    'GitHub refused to create the branch (422): Repository rule violations found Commits must have verified signatures.',
  );
});
