/** The sandbox that waits for the next command: nobody can tell it from one that is made for the command, and nothing of it is left. */

import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { env } from 'node:process';
import { expect, test } from 'vitest';
import { DEFAULT_COMMAND_LIMITS } from '../../../../src/domain/run/command-limits.ts';
import { processesSeeing, readIfThere } from '../../../support/machine/processes.ts';
import { until } from '../../../support/waiting/until.ts';
import { makePlace, type Opened, open } from '../fixture.ts';

/** Opened, with a sandbox that waits, and the threads in it. */
async function opened(): Promise<Opened & { waiting: string[] }> {
  const place = await open(makePlace(), 'required', env, DEFAULT_COMMAND_LIMITS, [], null, true);
  await place.text('true');
  return { ...place, waiting: await waitingIn(place.root) };
}

/** Process 1 has executed its shell by then, and waits. */
async function waitingIn(root: string): Promise<string[]> {
  let found: string[] = [];
  await until('a sandbox waits', () => {
    found = processesSeeing(root).filter((thread) => readIfThere(`${thread}/comm`) === 'sh\n');
    return found.length === 1;
  });
  return found;
}

/** What a script may contain and ask. */
const PRINTS = `printf '%s|' "$0" "$#" "$-" "$PWD" 'it''s "quoted"' 'back\\slash' '$HOME' 'é ā 漢 \u0081\u0085 🦊' \\\\ "a
b"
echo $((6 * 7)); umask; ulimit -n; cat /proc/sys/kernel/pid_max; ls /proc/self/fd | tr '\\n' ' '; echo to stderr >&2; nonsense; read -r line; (exit 7)`;

test('a command finds what it would find in one of its own', async () => {
  const { run, root, waiting } = await opened();
  const fresh = await open(makePlace(), 'required');
  const own = await fresh.run(PRINTS);
  const taken = await run(PRINTS);
  expect(own.end).toMatchObject({ exitCode: 7, signal: null });
  expect(taken.end).toEqual({ ...own.end, durationMs: expect.any(Number) });
  expect(taken.output.head.replaceAll(root, '')).toBe(own.output.head.replaceAll(fresh.root, ''));
  expect(processesSeeing(root)).not.toEqual(expect.arrayContaining(waiting));
});

test('the next command runs in it, the one beside that in another, and strictness is told to it', async () => {
  const { run, root, waiting } = await opened();
  const script = 'touch begun-$$; until [ -e go-on ]; do sleep 0.02; done; false | true; echo after';
  const running = [run(script, { isStrict: true }), run('touch beside; echo beside')];
  await until('both have begun', () => existsSync(join(root, 'beside')));
  expect(processesSeeing(root)).toEqual(expect.arrayContaining(waiting));
  writeFileSync(join(root, 'go-on'), '');
  const [strict, beside] = await Promise.all(running);
  expect([strict?.end.exitCode, strict?.output.head, beside?.output.head]).toEqual([1, '', 'beside\n']);
});

test('it is not used once another git dir has taken the name of the covered one', async () => {
  const { text, root } = await opened();
  renameSync(join(root, '.git'), join(root, '../moved'));
  mkdirSync(join(root, '.git'));
  writeFileSync(join(root, '.git/config'), 'a token\n');
  expect(await text('cat .git/config')).not.toContain('a token');
});

test('one that has died is replaced, and one that waits is gone when the sandbox closes', async () => {
  const { text, root, sandbox, waiting } = await opened();
  const [, , pid] = waiting[0]?.split('/') ?? [];
  process.kill(Number(pid), 'SIGKILL');
  await until('it is gone', () => !existsSync(`/proc/${pid}`));
  expect(await text('echo next')).toBe('next\n');
  await waitingIn(root);
  await sandbox.close();
  expect(processesSeeing(root)).toEqual([]);
});
