/** The sandboxes that wait for the next commands: nobody can tell one from what is made for the command, and nothing of them is left. */

import { existsSync, mkdirSync, readlinkSync, renameSync, writeFileSync } from 'node:fs';
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

/** Process 1 of each has executed its shell by then, and waits, or runs a command. */
async function waitingIn(root: string, least = 1): Promise<string[]> {
  let found: string[] = [];
  await until('sandboxes wait', () => {
    found = processesSeeing(root).filter((thread) => readIfThere(`${thread}/comm`) === 'sh\n');
    return found.length >= least;
  });
  return found;
}

/** Prints what tells one sandbox from another. */
const NAMESPACE = 'readlink /proc/self/ns/pid';

function namespacesOf(threads: readonly string[]): string[] {
  return threads.map((thread) => `${readlinkSync(`${thread}/ns/pid`)}\n`).sort();
}

/** What a script may contain and ask. */
const PRINTS = `printf '%s|' "$0" "$#" "$-" "$PWD" 'it''s "quoted"' 'back\\slash' '$HOME' 'é ā 漢 \u0081\u0085 🦊' \\\\ "a
b"
echo $((6 * 7)); umask; ulimit -n; cat /proc/sys/kernel/pid_max; ls /proc/self/fd | tr '\\n' ' '; echo to stderr >&2; nonsense; read -r line; (exit 7)`;

test('a command finds the same as in a new one', async () => {
  const { run, root, waiting } = await opened();
  const fresh = await open(makePlace(), 'required');
  const own = await fresh.run(PRINTS);
  const taken = await run(PRINTS);
  expect(own.end).toMatchObject({ exitCode: 7, signal: null });
  expect(taken.end).toEqual({ ...own.end, durationMs: expect.any(Number) });
  expect(taken.output.head.replaceAll(root, '')).toBe(own.output.head.replaceAll(fresh.root, ''));
  expect(processesSeeing(root)).not.toEqual(expect.arrayContaining(waiting));
});

test('the next command runs in it, a parallel one in another, and it is told how strict to be', async () => {
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

test('as many wait as commands have run in parallel, and none is left', async () => {
  const { run, root, sandbox } = await opened();
  // Each waits for the others.
  const together = (turn: string) => {
    const script = `touch ${turn}-$RANDOM-$RANDOM; until [ $(ls ${turn}-* | wc -l) = 3 ]; do sleep 0.02; done; ${NAMESPACE}`;
    return Promise.all([1, 2, 3].map(async () => (await run(script)).output.head));
  };
  await together('first');
  const found = namespacesOf(await waitingIn(root, 3));
  expect(found).toEqual(expect.arrayContaining(await together('second')));
  await waitingIn(root, 3);
  await sandbox.close();
  expect(processesSeeing(root)).toEqual([]);
});

test('one is set up while a command runs, for the one right behind it', async () => {
  const { run, text, root, waiting } = await opened();
  const first = run('until [ -e go-on ]; do sleep 0.02; done');
  const both = await waitingIn(root, 2);
  const next = namespacesOf(both.filter((thread) => !waiting.includes(thread)));
  writeFileSync(join(root, 'go-on'), '');
  await first;
  expect([await text(NAMESPACE)]).toEqual(next);
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
