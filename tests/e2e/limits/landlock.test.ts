import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { makeRepository, removeFolders, temporaryFolder } from '../../support/files/repository.ts';
import { WITHOUT_NAMESPACES } from '../../support/machine/without-filters.ts';
import { call, scriptedRun } from '../../support/runs/scripted-run.ts';

afterAll(removeFolders);

/** A checkout whose git dir is elsewhere, as the refusal says. */
async function separated(files: Readonly<Record<string, string>>) {
  const repository = await makeRepository(files);
  const gitDir = join(temporaryFolder(), 'repo.git');
  await repository.git('init', '--quiet', '--separate-git-dir', gitDir);
  await repository.git('--git-dir', gitDir, 'config', 'core.worktree', repository.root);
  return repository;
}

const bash = (command: string) => ({ calls: [call('run_command', { command })] });

test('where namespaces are refused, Landlock contains commands, and the result says so', async () => {
  const repository = await separated({ 'a.txt': 'a\n' });
  const dotGit = readFileSync(join(repository.root, '.git'), 'utf8');
  const server = `require('http').createServer((q, r) => r.end('served')).listen(0, async function () { console.log(await (await fetch('http://localhost:' + this.address().port)).text()); process.exit() })`;
  const run = await scriptedRun({
    repository,
    built: true,
    wrap: WITHOUT_NAMESPACES,
    turns: [
      bash(
        'echo b > a.txt; mkdir sub && mv a.txt sub/a.txt && mv sub/a.txt . && rmdir sub && git status --short',
      ),
      bash(`node -e "${server}"`),
      bash(
        'cat /etc/shadow; ls /root/ /home/; kill -9 $PPID; echo x > /tmp/planted; cat "$GIT_DIR/../events.jsonl"',
      ),
      bash('echo "gitdir: /nowhere" > .git; (setsid sleep 1000 &); echo ended'),
      bash('rm .git; mkdir .git; echo x > .git/x; echo ended'),
      bash('rm .git; mkdir .git; echo x > .git/x; touch .git-replaced-$PPID; echo ended; chmod 000 .'),
      { text: 'Done.' },
    ],
    args: ['--sandbox', 'required', '--verify', 'grep -q b a.txt'],
  });
  expect([run.result.sandbox, run.result.outcome], run.stderr).toEqual(['landlock', 'done']);
  expect(run.result.warnings).toEqual([expect.stringMatching(/^\[WARN_SANDBOX_LANDLOCK\] /)]);
  const said = run.events.flatMap((event) => (event.type === 'tool.completed' ? [event.outcome.text] : []));
  expect(said[0]).toContain(' M a.txt');
  expect(said[1]).toContain('served');
  expect(said[2]?.match(/ermission denied|not permitted/g)).toHaveLength(6);
  expect(said.slice(3).every((text) => text.includes('ended'))).toBe(true);
  expect(run.patch).toContain('+b');
  expect(readFileSync(join(repository.root, '.git'), 'utf8')).toBe(dotGit);
  expect(existsSync('/tmp/planted')).toBe(false);
});

test('what a command writes into `.git` of a fresh checkout gives the next one no rights', async () => {
  const run = await scriptedRun({
    repository: await separated({ 'a.txt': 'a\n' }),
    built: true,
    wrap: WITHOUT_NAMESPACES,
    turns: [bash('echo b > a.txt'), { text: 'Done.' }],
    args: [
      ...['--sandbox', 'required', '--verify-in', 'checkout'],
      ...['--verify', String.raw`rm -rf .git; printf 'gitdir: x\0w0:0:/\0' > .git`],
      ...['--verify', '! cat /etc/shadow'],
    ],
  });
  expect([run.result.sandbox, run.result.outcome], run.stderr).toEqual(['landlock', 'done']);
});

test('a git dir in the work tree and --sandbox-level refuse it, with what to do', async () => {
  const inside = await makeRepository({ 'a.txt': 'a\n' });
  const run = (repository: Awaited<ReturnType<typeof separated>>, ...args: string[]) =>
    scriptedRun({
      repository,
      built: true,
      wrap: WITHOUT_NAMESPACES,
      turns: [{ text: 'Done.' }],
      args: ['--sandbox', 'required', ...args],
    });
  const refused = await run(inside);
  expect([refused.exitCode, refused.result.errorCode]).toEqual([10, 'ERR_SANDBOX_UNAVAILABLE']);
  expect(refused.result.reason).toContain(`git -C ${inside.root} init --separate-git-dir`);
  const asked = await run(await separated({ 'a.txt': 'a\n' }), '--sandbox-level', 'namespaces-lite');
  expect([asked.exitCode, asked.result.errorCode]).toEqual([10, 'ERR_SANDBOX_UNAVAILABLE']);
});
