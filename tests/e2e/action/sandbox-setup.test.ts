/** The action on machines without bubblewrap, where installing it fails: stand-ins are mounted over the real programs. */

import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeRepository, temporaryFolder } from '../../support/files/repository.ts';
import { runAction } from '../../support/jobs/action-runner.ts';
import { KEY } from '../../support/runs/scripted-run.ts';
import { sampled } from '../../support/setup/sample.ts';

const TOKEN = 'a-token-that-nobody-else-has';

async function stepOn(runner: string, inputs: Record<string, string> = {}) {
  const { root } = await makeRepository({ 'a.txt': 'old\n' });
  const folder = temporaryFolder();
  const at = (name: string) => join(folder, name);
  writeFileSync(at('bwrap'), 'no program\n', { mode: 0o644 });
  const says = `echo 'E: Unable to locate package bubblewrap' >&2; exit 100`;
  writeFileSync(at('apt-get'), `#!/bin/sh\necho "$1" >> ${at('done')}; env >> ${at('done')}; ${says}\n`);
  chmodSync(at('apt-get'), 0o755);
  const wrap = ['bwrap', '--unshare-user', '--uid', '0', '--gid', '0', '--dev-bind', '/', '/'];
  for (const name of ['bwrap', 'apt-get']) wrap.push('--ro-bind', at(name), `/usr/bin/${name}`);
  const ended = await runAction({
    workspace: root,
    inputs: { plan: 'Do it', 'api-key': KEY, 'github-token': TOKEN, ...inputs },
    env: { RUNNER_ENVIRONMENT: runner },
    wrap,
  });
  return { ...ended, done: existsSync(at('done')) ? readFileSync(at('done'), 'utf8') : '' };
}

const WHY = 'The action could not set up the sandbox: apt-get update: E: Unable to locate package bubblewrap';

test('a hosted runner reports what failed and what to type, and the run is contained as before', async () => {
  const { exitCode, stderr, outputs, lastLine, summary, done } = await stepOn('github-hosted');
  expect([exitCode, outputs.outcome], stderr).toEqual([10, 'sandbox_unavailable']);
  expect(stderr).toContain(
    '::group::patchsmith sandbox setup\nbubblewrap is not installed: apt-get update, apt-get install bubblewrap\n',
  );
  expect(stderr).toContain(`${WHY}; apt-get install: E: Unable to locate package bubblewrap\n::endgroup::\n`);
  expect(lastLine).toContain('Install it: apt-get install -y bubblewrap');
  expect(summary).toContain('could not set up the sandbox');
  const result = JSON.parse(readFileSync(outputs['result-file'] ?? '', 'utf8'));
  expect(result.warnings).toEqual([expect.stringContaining(`[WARN_SANDBOX_NOT_SET_UP] ${WHY}`)]);
  expect(done.match(/^(update|install)$/gm)).toEqual(['update', 'install']);
  for (const secret of [KEY, TOKEN]) expect(done).not.toContain(secret);
});

test.each(
  sampled(
    [
      ['self-hosted', {}],
      ['github-hosted', { 'sandbox-setup': 'off' }],
    ] as const,
    () => 'left',
    1,
  ),
)('a %s runner with %o is left as it is, and told what to type', async (runner, inputs) => {
  const { exitCode, stderr, lastLine, done } = await stepOn(runner, inputs);
  expect([exitCode, done], stderr).toEqual([10, '']);
  expect(stderr).not.toContain('sandbox setup');
  expect(lastLine).toContain('Install it: apt-get install -y bubblewrap');
});
