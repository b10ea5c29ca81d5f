import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readRun } from '../../../src/commands/publish/read-run.ts';
import type { PlanSource } from '../../../src/domain/run/plan.ts';
import type { RunResult } from '../../../src/domain/run/result.ts';
import { temporaryFolder } from '../../support/files/repository.ts';
import { finishedRun } from '../../support/runs/finished-run.ts';

/** What is said of a run directory with this result; null when it is taken. */
async function objection(part: Partial<RunResult>): Promise<string | null> {
  const folder = temporaryFolder();
  const result = finishedRun({ patch: null, changedFiles: [], ...part });
  writeFileSync(join(folder, 'result.json'), JSON.stringify(result));
  const read = await readRun(folder, { cwd: folder, env: {} });
  return read.status === 'ok' ? null : read.message;
}

describe('globs of a run', () => {
  test.each(['+(a|aa)b', '@(a|b)', '../a', '{1..3}', '', 'a'.repeat(1_001)])(
    '%s is refused',
    async (glob) => {
      expect(await objection({ paths: { allow: [], protect: [glob] } })).toContain('is not a glob');
      const { plan } = finishedRun();
      if (plan === null) throw new Error('no plan');
      expect(await objection({ plan: { ...plan, allow: [glob] } })).toContain('is not a glob');
    },
  );

  test.each([
    'src/**',
    'apps/*/src/**/__tests__/**/*.test.*',
    'app/(shop)/page.tsx',
    'c++/*.[ch]',
    '*a*a*a*a*b',
  ])('%s is taken', async (glob) =>
    expect(await objection({ paths: { allow: [glob], protect: [glob] } })).toBe(null),
  );
});

describe('the issue of a run', () => {
  const issue = {
    kind: 'issue',
    repository: 'acme/shop',
    number: 7,
    url: 'https://github.com/Acme/shop/issues/7',
    author: 'mona',
  } as const;
  const comment = { ...issue, kind: 'comment', commentId: 5, url: `${issue.url}#issuecomment-5` } as const;
  const objectionTo = (source: PlanSource) => {
    const { plan } = finishedRun();
    return objection({ plan: plan && { ...plan, source } });
  };

  test.each<PlanSource>([issue, comment])('is taken where all of it agrees: $url', async (source) => {
    expect(await objectionTo(source)).toBe(null);
  });

  test.each<PlanSource>([
    { ...issue, number: 8 },
    { ...issue, repository: 'acme/other' },
    { ...issue, url: '7' },
    { ...issue, url: 'javascript:alert(7)' },
    { ...comment, commentId: 6 },
    { ...comment, url: issue.url },
  ])('is refused where it does not: %j', async (source) => {
    expect(await objectionTo(source)).toContain('names two different issues, or none');
  });
});
