import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { RunResult } from '../../src/domain/outcome.ts';
import { readRun } from '../../src/publish/read-run.ts';
import { finishedRun } from '../support/finished-run.ts';
import { removeFolders, temporaryFolder } from '../support/repository.ts';

afterAll(removeFolders);

/** What is said of a run directory with this result and no patch; null when it is taken. */
async function objection(part: Partial<RunResult>): Promise<string | null> {
  const folder = temporaryFolder();
  const result = finishedRun({ patch: null, changedFiles: [], ...part });
  writeFileSync(join(folder, 'result.json'), JSON.stringify(result));
  const read = await readRun(folder, { cwd: folder, env: {} });
  return read.status === 'ok' ? null : read.message;
}

describe('globs of a run', () => {
  test.each([
    '*a*a*a*a*a*a*a*b',
    '**a**a**a',
    'a/**/'.repeat(9),
    'a*/'.repeat(9),
    '+(a|aa)b',
    '@(a|b)',
    '!(a)',
    '(a+)+b',
    '[ab]+[ab]+',
    '{a,{b,c}}',
    'a'.repeat(201),
  ])('%s is refused at once', async (glob) => {
    const began = performance.now();
    expect(await objection({ paths: { allow: [], protect: [glob] } })).toContain(
      'is no glob that is compared',
    );
    const { plan } = finishedRun();
    if (plan === null) throw new Error('no plan');
    expect(await objection({ plan: { ...plan, allow: [glob] } })).toContain('is no glob that is compared');
    expect(performance.now() - began).toBeLessThan(2_000);
  });

  test.each([
    'src/**',
    '**/*.test.*',
    'docs/',
    '*.{ts,tsx}',
    'app/(shop)/page.tsx',
    'c++/*.[ch]',
    'a-*-*-*-*',
  ])('%s is taken', async (glob) =>
    expect(await objection({ paths: { allow: [glob], protect: [glob] } })).toBe(null),
  );
});
