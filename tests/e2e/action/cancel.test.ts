import { describe, expect, test } from 'vitest';
import {
  done,
  edit,
  oneJob,
  type Place,
  place,
  publishJob,
  runJob,
} from '../../support/jobs/publishing-job.ts';
import { until } from '../../support/waiting/until.ts';

/** The answer to this never comes; what was asked for is done all the same. */
function neverAnswers({ github }: Place, operation: string): void {
  github.faults.add({ on: { operation }, times: 100, carriedOut: true, trouble: { kind: 'stall' } });
}

/** Sends the signal while the answer is waited for. */
function cancelAt({ github }: Place, operation: string, signal: 'SIGINT' | 'SIGTERM' | 'SIGKILL') {
  return async ({ pid }: { pid: number }) => {
    await until(`${operation} is asked for`, () =>
      github.requests.some((request) => request.operation === operation),
    );
    process.kill(pid, signal);
  };
}

describe('a cancel during the check whether GitHub would permit publishing', () => {
  test.each(['repos/get', 'git/create-blob', 'pulls/create'])(
    'at %s ends the step as interrupted, and nothing was spent',
    async (operation) => {
      const at = await place([edit, done]);
      neverAnswers(at, operation);
      const ended = await oneJob(at, { during: cancelAt(at, operation, 'SIGINT') });
      expect([ended.exitCode, ended.outputs.outcome], ended.stderr).toEqual([130, 'interrupted']);
      expect(ended.lastLine).toBe(
        'patchsmith: interrupted (exit 130) [ERR_INTERRUPTED]: Stopped by SIGINT; no file was changed.',
      );
      expect(ended.post.stderr).toBe('');
      expect(at.model.requests).toHaveLength(0);
      expect(await at.hosted.git('branch', '--list')).toBe('* main');
    },
  );

  test('that leaves no time is reported by the post step, which does not mention work', async () => {
    const at = await place([edit, done]);
    neverAnswers(at, 'repos/get');
    const ended = await oneJob(at, { during: cancelAt(at, 'repos/get', 'SIGKILL') });
    expect([ended.signal, ended.outputs.outcome], ended.stderr).toEqual(['SIGKILL', 'internal_error']);
    expect(ended.post.stderr).toContain("killed before the model's first turn was recorded");
    expect(ended.post.stderr).not.toContain('resume');
  });

  test('the deadline of the run counts there as well', async () => {
    const at = await place([edit, done]);
    neverAnswers(at, 'repos/get');
    const startedAt = Date.now();
    const ended = await oneJob(at, { inputs: { deadline: '2s' } });
    expect([ended.exitCode, ended.outputs.outcome], ended.stderr).toEqual([124, 'deadline']);
    // A question that nobody answers is given up after 60 s.
    expect(Date.now() - startedAt).toBeLessThan(55_000);
  });
});

describe('a cancel in the middle of a publication', () => {
  test.each([
    ['SIGINT', 130, 'git-http/upload-pack'],
    ['SIGTERM', 143, 'git-http/receive-pack'],
    ['SIGINT', 130, 'pulls/create'],
  ] as const)(
    'by %s (%i) at %s is reported, and publishing again continues',
    async (signal, code, operation) => {
      const at = await place([edit, done]);
      const { artifact } = await runJob(at);
      neverAnswers(at, operation);
      const cut = await publishJob(at, artifact, { during: cancelAt(at, operation, signal) });
      expect([cut.exitCode, cut.outputs.outcome], cut.stderr).toEqual([code, 'interrupted']);
      expect(cut.lastLine).toBe(
        `patchsmith: interrupted (exit ${code}) [ERR_INTERRUPTED]: Stopped by ${signal}. Publish again to continue.`,
      );
      expect(cut.summary).toContain('Publish again to continue.');
      expect(cut.post.stderr).toBe('');

      at.github.faults.clear();
      const again = await publishJob(at, artifact);
      expect([again.exitCode, again.outputs.outcome], again.stderr).toEqual([0, 'done']);
      expect(at.hosted.pulls()).toHaveLength(1);
      expect(await at.hosted.head(again.outputs['pull-request-branch'] ?? '')).toBe(
        again.outputs['pull-request-head-sha'],
      );
      expect(at.github.invalid).toEqual([]);
    },
  );

  test.each(['one job', 'two jobs'])(
    'that leaves no time is told by the post step, where what is on GitHub by then is not called nothing (%s)',
    async (jobs) => {
      const at = await place([edit, done]);
      const isOne = jobs === 'one job';
      const artifact = isOne ? '' : (await runJob(at)).artifact;
      neverAnswers(at, 'git-http/receive-pack');
      const during = cancelAt(at, 'git-http/receive-pack', 'SIGKILL');
      const cut = isOne ? await oneJob(at, { during }) : await publishJob(at, artifact, { during });
      expect([cut.signal, cut.outputs.outcome], cut.stderr).toEqual(['SIGKILL', 'internal_error']);
      for (const said of [cut.post.stderr, cut.post.summary]) {
        expect(said).toContain('The step was killed while publishing.');
        expect(said).toContain('publish the run again to continue');
        expect(said).not.toContain('nothing was done');
        expect(said.includes('outcome: done (exit 0)')).toBe(isOne);
      }
    },
  );

  test('in one job with the run leaves the patch of the run', async () => {
    const at = await place([edit, done]);
    neverAnswers(at, 'git-http/receive-pack');
    const cut = await oneJob(at, { during: cancelAt(at, 'git-http/receive-pack', 'SIGINT') });
    expect([cut.exitCode, cut.outputs.outcome], cut.stderr).toEqual([130, 'interrupted']);
    expect(cut.outputs['patch-sha256']).toMatch(/^[0-9a-f]{64}$/);
    expect(cut.outputs['pull-request-number']).toBe('');
  });
});
