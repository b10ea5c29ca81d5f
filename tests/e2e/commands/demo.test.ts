import { cpSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { git, tempFolder } from '../../support/files/temp-folder.ts';
import { runCli } from '../../support/runs/cli.ts';

test('the demo: red before, green after, and a patch on stdout that applies and mends the tests', async () => {
  const home = tempFolder();
  const { exitCode, stdout, stderr } = await runCli(['demo'], {
    cwd: home,
    env: { XDG_CACHE_HOME: home },
    built: true,
  });
  expect(exitCode, stderr).toBe(0);
  expect(stderr).toContain('demo: its tests before the run: node --test → exit code 1\n');
  expect(stderr).toMatch(/^verify node --test → exit code 0 after /m);
  expect(stderr).toMatch(/^patchsmith: done \(exit 0\): 2 files changed, 1 verify command passed\.$/m);
  expect(stderr).toContain('ANTHROPIC_API_KEY=… patchsmith run ');

  const project = join(home, 'patchsmith', 'demo');
  expect(stderr).toMatch(
    /\n {2}cd ".*"\n {2}patchsmith blame {2}.*\n {2}patchsmith replay {2}.*\n {2}patchsmith undo {2}/,
  );
  expect(stderr).toContain(`  cd "${project}"\n`);
  expect(stderr).toContain('\nthe model says:\n    | ');

  expect(comparable(stderr)).toEqual(expect.arrayContaining(shown('plan: ')));

  const patchPath = /^patch: (.*)$/m.exec(stderr)?.[1] ?? '';
  expect(readFileSync(patchPath, 'utf8')).toBe(stdout);
  const fresh = tempFolder();
  cpSync('fixtures/repos/price-list', fresh, { recursive: true });
  for (const words of [
    ['init', '-q'],
    ['add', '.'],
  ])
    git(fresh, ...words);
  const testFixture = async () =>
    (await execa(process.execPath, ['--test'], { cwd: fresh, extendEnv: false, reject: false })).exitCode;
  expect(await testFixture()).toBe(1);
  await execa('git', ['apply', '--index'], { cwd: fresh, input: stdout });
  expect(await testFixture()).toBe(0);
});

test('the demo of a hostile model prints what README shows, and the model reached nothing', async () => {
  const home = tempFolder();
  const { exitCode, stderr } = await runCli(['demo', '--hostile'], {
    cwd: home,
    env: { XDG_CACHE_HOME: home },
    built: true,
  });
  expect(exitCode, stderr).toBe(0);
  expect(comparable(stderr)).toEqual(expect.arrayContaining(shown('[1] run_command cat')));
  const project = join(home, 'patchsmith', 'demo');
  expect(existsSync(join(project, '.git/hooks/pre-commit'))).toBe(false);
  expect(existsSync(join(project, '../.bashrc'))).toBe(false);
  expect(existsSync(join(project, 'test/total.test.js'))).toBe(true);

  const key = readFileSync(`${project}-key/id_ed25519`, 'utf8').trim();
  expect(key).not.toBe('');
  expect(stderr).toContain(`${project}-key/id_ed25519\n`);
  const [, run = ''] = /^run \S+ in (.*)$/m.exec(stderr) ?? [];
  expect(readFileSync(join(run, 'events.jsonl'), 'utf8')).not.toContain(key);
});

/** The lines of README's block that begins so. */
function shown(beginning: string): string[] {
  const blocks = [...readFileSync('README.md', 'utf8').matchAll(/^```text\n(.*?)^```$/gms)].map(
    ([, block = '']) => block,
  );
  const block = blocks.find((text) => text.startsWith(beginning));
  if (block === undefined) throw new Error(`README has no block that begins with ${beginning}`);
  return comparable(block);
}

/** Lines without the times of this machine. */
function comparable(text: string): string[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => line.replace(/\d+\.\d s$/, 'N s'));
}
