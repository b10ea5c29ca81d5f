/** The key of the run, looked for by commands that nothing contains. */

import { expect, test } from 'vitest';
import { makeRepository } from '../../support/files/repository.ts';
import { call, scriptedRun } from '../../support/runs/scripted-run.ts';
import { sampled } from '../../support/setup/sample.ts';

test.each(sampled(['off', 'required'] as const, () => 'sandbox'))(
  'commands cannot read the key in any environment (sandbox %s)',
  async (mode) => {
    const repository = await makeRepository({ 'a.txt': 'a\n' });
    // Without a sandbox other processes of the machine are visible, other runs of these tests among them.
    const where =
      mode === 'off' ? '/proc/{$runner,$PPID,self}/{environ,cmdline}' : '/proc/[0-9]*/{environ,cmdline}';
    // The key of the tests and a token, and not the pattern that finds them. Reversed, so that no redaction hides them.
    const look = `
    runner=$(sed 's/.*) . //; s/ .*//' /proc/$PPID/stat)
    cat ${where} 2> /dev/null | tr '\\0' '\\n' |
      grep -a '[0]123456789abcdef\\|[c]anary-of' | rev > found
    tr '\\0' '\\n' < /proc/$runner/environ | grep -c '^ANTHROPIC_API_KEY=\\**$' >> found
    true`;
    const { result, events } = await scriptedRun({
      repository,
      turns: [
        { calls: [call('run_command', { command: look }), call('read_file', { path: 'found' })] },
        { text: 'Done.' },
      ],
      args: ['--sandbox', mode],
      built: true,
      env: { GITHUB_TOKEN: 'canary-of-the-token' },
    });
    expect(result.outcome).toBe('done');
    const [, found] = events.flatMap((event) => (event.type === 'tool.completed' ? [event.outcome] : []));
    // The name is still there, with nothing behind it; in a sandbox our process is not there at all.
    expect(found).toEqual({ status: 'ok', text: mode === 'off' ? '1\n' : '0\n' });
  },
);
