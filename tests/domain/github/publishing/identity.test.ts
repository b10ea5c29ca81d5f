import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  branchOf,
  markerOf,
  planId,
  planIdentity,
  type RunPlan,
} from '../../../../src/domain/github/publishing/identity.ts';
import type { PlanSource } from '../../../../src/domain/run/plan.ts';

const issue: PlanSource = {
  kind: 'issue',
  repository: 'acme/shop',
  number: 7,
  url: 'https://github.com/acme/shop/issues/7',
  author: 'mona',
};
const comment: PlanSource = {
  ...issue,
  kind: 'comment',
  commentId: 99,
  url: 'https://github.com/acme/shop/issues/7#issuecomment-99',
};
const plan = (source: PlanSource, part: Partial<RunPlan> = {}): RunPlan => ({
  title: 'Round amounts half to even',
  sha256: 'a'.repeat(64),
  source,
  allow: [],
  protect: [],
  ...part,
});
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const id = (given: RunPlan, repository = 'acme/shop') => planId(given, repository, sha256);

describe('the identity of a plan', () => {
  test('an issue and a comment on it are one plan', () => {
    expect(planIdentity(plan(issue), 'acme/shop')).toBe('https://github.com/acme/shop/issues/7');
    expect(id(plan(comment))).toBe(id(plan(issue)));
    expect(id(plan(issue))).toMatch(/^[0-9a-f]{8}$/);
  });

  test('a file of the repository stays the same plan after an edit, and is another one in another repository', () => {
    const file: PlanSource = { kind: 'file', path: 'plans/deps.md' };
    expect(id(plan(file))).toBe(id(plan(file, { sha256: 'b'.repeat(64), title: 'other' })));
    expect(id(plan(file))).toBe(id(plan(file), 'ACME/shop'));
    expect(id(plan(file))).not.toBe(id(plan(file), 'acme/other'));
  });

  test.each<[string, PlanSource]>([
    ['a file outside the repository', { kind: 'file', path: '/tmp/plan.md' }],
    ['a file above the repository', { kind: 'file', path: '../plan.md' }],
    ['a text from stdin', { kind: 'stdin' }],
    ['a message', { kind: 'message' }],
  ])('%s is the same plan as long as its text is the same', (_, source) => {
    expect(id(plan(source))).toBe(id(plan(source)));
    expect(id(plan(source))).not.toBe(id(plan(source, { sha256: 'b'.repeat(64) })));
  });
});

describe('the branch of a plan', () => {
  test.each<[RunPlan, string]>([
    [plan(issue), 'patchsmith/issue-7-'],
    [plan(comment), 'patchsmith/issue-7-'],
    [plan({ kind: 'file', path: 'plans/Übung 3.v2.md' }), 'patchsmith/ubung-3-v2-'],
    [plan({ kind: 'stdin' }), 'patchsmith/round-amounts-half-to-even-'],
    [plan({ kind: 'message' }, { title: '../../main; rm -rf ~' }), 'patchsmith/main-rm-rf-'],
    [plan({ kind: 'message' }, { title: '日本語' }), 'patchsmith/plan-'],
  ])('is called after it', (given, start) => {
    expect(branchOf(given, id(given))).toBe(`${start}${id(given)}`);
  });

  test('is a plain name whatever the plan is called', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (title) => {
        const name = branchOf(plan({ kind: 'message' }, { title }), '1a2b3c4d');
        expect(name).toMatch(/^patchsmith\/[a-z0-9]+(?:-[a-z0-9]+)*-1a2b3c4d$/);
        expect(name.length).toBeLessThanOrEqual(60);
      }),
    );
  });
});

test('the marker is a comment that GitHub does not show', () => {
  expect(markerOf('1a2b3c4d')).toBe('<!-- patchsmith:1a2b3c4d -->');
});
