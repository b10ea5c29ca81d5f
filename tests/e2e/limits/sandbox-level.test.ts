import { getuid } from 'node:process';
import { expect, test } from 'vitest';
import { makeRepository } from '../../support/files/repository.ts';
import { WITHOUT_OWN_PROC } from '../../support/machine/without-own-proc.ts';
import { call, scriptedRun } from '../../support/runs/scripted-run.ts';

// Only root can cover a part of /proc.
test.skipIf(getuid?.() !== 0)('the sandbox says what it lacks there, or is refused', async () => {
  const repository = await makeRepository({ 'a.txt': 'a\n' });
  const look =
    'ls /proc/$PPID/root/ /proc/1/root/; cat /proc/1/environ; echo x > /proc/sys/kernel/hostname; true';
  const run = (...args: string[]) =>
    scriptedRun({
      repository,
      built: true,
      wrap: WITHOUT_OWN_PROC,
      turns: [{ calls: [call('run_command', { command: look })] }, { text: 'Done.' }],
      args: ['--sandbox', 'required', ...args],
    });
  const lite = await run();
  expect([lite.result.sandbox, lite.result.outcome], lite.stderr).toEqual(['namespaces-lite', 'no_change']);
  expect(lite.result.warnings).toEqual([
    expect.stringMatching(/^\[WARN_SANDBOX_LITE\] .* no \/proc of its own/),
  ]);
  const [said = ''] = lite.events.flatMap((event) =>
    event.type === 'tool.completed' ? [event.outcome.text] : [],
  );
  expect(said.match(/Permission denied|Read-only file system/g)).toHaveLength(4);
  const low = await run('--service', 'web=localhost:80');
  expect([low.exitCode, low.lastLine]).toEqual([
    2,
    expect.stringContaining('--service web: this machine permits no port below 1024 in a sandbox.'),
  ]);
  const whole = await run('--sandbox-level', 'namespaces');
  expect([whole.exitCode, whole.result.errorCode]).toEqual([10, 'ERR_SANDBOX_UNAVAILABLE']);
  expect(whole.result.reason).toContain('systempaths=unconfined');
});
