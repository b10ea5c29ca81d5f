import { expect, test } from 'vitest';
import { publicationOutputs, resultOutputs } from '../../src/action/outputs.ts';
import { nothingPublished } from '../../src/domain/github/publishing/publication.ts';
import { finishedRun } from '../support/runs/finished-run.ts';

const denial = { kind: 'policy' as const, what: '.github/ci.yml', calls: ['c1'], why: 'protected' };

test('a run has its verification, what was denied to it, and words that a later step can print', () => {
  const { verify, ...rest } = finishedRun();
  const result = { ...rest, summary: 'Done.\r\n ::set-env name=A::b\n##[error]c', denied: [denial] };
  expect(resultOutputs({ ...result, verify })).toMatchObject({
    summary: 'Done.\n : :set-env name=A::b\n# #[error]c',
    verification: 'passed',
    denied: JSON.stringify([denial]),
    estimated: 'false',
  });
  expect(resultOutputs({ ...result, verify, estimated: true })).toMatchObject({ estimated: 'true' });
  const failed = verify.map((one) => ({ ...one, end: { ...one.end, exitCode: 1 } }));
  const ends = [
    { ...result, verify: failed },
    { ...result, verify: failed, verifyBaseline: failed },
    { ...result, verify, unverified: ['a.txt'] },
    { ...result, verify: [] },
  ];
  expect(ends.map((one) => resultOutputs(one).verification)).toEqual(['failed', 'failed', 'none', 'none']);
});

test('a publication has the state of its pull request and its comment', () => {
  const published = nothingPublished('1.0.0');
  const outputs = (part: Partial<typeof published>) => publicationOutputs({ ...published, ...part });
  expect(outputs({})).toMatchObject({ 'pull-request-draft': '', 'comment-url': '' });
  const pullRequest = {
    number: 7,
    url: 'https://github.com/o/r/pull/7',
    operation: 'created',
    branch: 'b',
    headSha: 'a',
    draft: true,
    draftReasons: [],
  } as const;
  const url = 'https://github.com/o/r/issues/1#issuecomment-2';
  expect(
    outputs({ pullRequest: { ...pullRequest, draftReasons: [] }, comment: { url, operation: 'created' } }),
  ).toMatchObject({ 'pull-request-draft': 'true', 'comment-url': url });
});
