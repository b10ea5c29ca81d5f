import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeRepository, temporaryFolder } from '../../support/files/repository.ts';
import { runCli } from '../../support/runs/cli.ts';
import { command, done, type FinishedRun, scriptedRun } from '../../support/runs/scripted-run.ts';
import { sampled } from '../../support/setup/sample.ts';

const SECRET = 'correct-horse-battery';
/** The command does not hold the secret itself. */
const LEAK = `s="$(printf correct-horse)-battery"`;
const token = `ghp_${'a1B2c3D4e5F6g7H8i9'.repeat(2)}`;

async function leak(script: string, args: readonly string[] = []) {
  const repository = await makeRepository({ 'a.txt': 'old\n', 'fixtures/b.txt': 'b\n' });
  const turns = [command(`${LEAK}; ${script}`), done];
  const run = await scriptedRun({ repository, turns, args, env: { NPM_TOKEN: SECRET } });
  return { ...run, root: repository.root };
}

/** All that a run says and leaves, but for the objects of its shadow repository. */
function everything({ runDir, stdout, stderr }: FinishedRun): string {
  const names = readdirSync(runDir).filter((name) => !name.endsWith('.git'));
  return [stdout, stderr, ...names.map((name) => readFileSync(join(runDir, name), 'latin1'))].join('\n');
}

describe('a patch that would add a secret is withheld, with exit code 8:', () => {
  test.each(
    sampled(
      [
        ['raw', 'printf "one\\n$s\\n" > a.txt', 'a.txt:2 (a known secret value)'],
        ['base64', 'printf "user:$s" | base64 > a.txt', 'a.txt:1 (a known secret value)'],
        ['hex', 'printf %s "$s" | od -An -tx1 | tr -d " \\n" > new.txt', 'new.txt:1 (a known secret value)'],
        ['in a binary file', 'printf "\\0\\1$s" > a.bin', 'a.bin:1 (a known secret value)'],
        ['in a name', 'touch "$s"', '*** (a known secret value)'],
        ['as where a link leads', 'ln -s "$s" l', 'l:1 (a known secret value)'],
        [
          'a token that nobody has named',
          `printf 'ghp_%s%s' ${token.slice(4, 20)} ${token.slice(20)} > a.txt`,
          'a.txt:1 (GitHub token)',
        ],
      ],
      ([what = '']) => /raw|base64|hex|token/.exec(what)?.[0].replace(/base64|hex/, 'raw') ?? 'elsewhere',
    ),
  )('%s', async (_what, script, place) => {
    const target = join(temporaryFolder(), 'out.patch');
    writeFileSync(target, 'earlier');
    const run = await leak(script, ['--patch', target, '--output', 'patch']);
    expect([run.exitCode, run.result.outcome, run.stdout], run.stderr).toEqual([8, 'policy_violation', '']);
    expect(run.lastLine).toContain(`because it would add a secret: ${place}. Remove the secret`);
    expect(run.result.patch).toBe(null);
    expect([existsSync(join(run.runDir, 'changes.patch')), readFileSync(target, 'utf8')]).toEqual([
      false,
      'earlier',
    ]);
    for (const text of [SECRET, token, Buffer.from(SECRET).toString('hex')])
      expect(everything(run)).not.toContain(text);
    // Nothing is lost: the work is where the model left it, and its trees are in the run directory.
    expect(run.result.changedFiles).toHaveLength(1);
    const repository = await makeRepository({});
    const { baseTree, treeSha } = run.result;
    const again = await repository.git(
      `--git-dir=${join(run.runDir, 'shadow.git')}`,
      'diff-tree',
      '-p',
      `${baseTree}`,
      `${treeSha}`,
    );
    expect(again).toContain('diff --git');
  });

  test('also when a limit or the verify commands would have decided', async () => {
    const run = await leak('echo $s > a.txt', ['--verify', 'false', '--fix-rounds', '0']);
    expect([run.exitCode, run.patch]).toEqual([8, '']);
  });
});

test('removing or moving an existing secret is no reason to withhold a patch', async () => {
  const repository = await makeRepository({
    'a.txt': `${SECRET}\nx\n`,
    'b.txt': `${token}\n`,
    'c.txt': SECRET,
  });
  const turns = [command('sed -i "1{h;d};2G" a.txt; rm b.txt; mv c.txt d.txt'), done];
  const run = await scriptedRun({ repository, turns, env: { NPM_TOKEN: SECRET } });
  expect([run.exitCode, run.result.secrets], run.stderr).toEqual([0, []]);
});

test('a false match is accepted by file path, but not by the project file', async () => {
  const script = 'echo $s > fixtures/b.txt';
  const run = await leak(script, ['--accept-secrets', 'fixtures']);
  expect([run.exitCode, run.result.outcome], run.stderr).toEqual([0, 'done']);
  expect(run.result.secrets).toEqual([{ path: 'fixtures/b.txt', line: 1, what: 'a known secret value' }]);
  expect(run.patch).toContain(`+${SECRET}\n`);
  expect((await leak(`${script}; echo $s > a.txt`, ['--accept-secrets', 'fixtures'])).lastLine).toContain(
    'a secret: a.txt:1 (',
  );
  const repository = await makeRepository({ '.patchsmith.yml': 'accept-secrets: "**"\n' });
  const refused = await runCli(['run', '-m', 'x'], { cwd: repository.root });
  expect(refused.stderr).toContain('a project file may not set accept-secrets');
});

test('a password in an address that is refused is not repeated', async () => {
  const { root } = await makeRepository({ 'a.txt': 'a\n' });
  const domains = ['https://me:PassWord99@x.org', 'me:PassWord99@x.org', 'https://PassWord99@x.org'];
  const services = ['pg://me:PassWord99@x.org', 'db=me:PassWord99@x.org:5432'];
  const wrong = [
    ...domains.flatMap((one) => ['--allow-domain', one]),
    ...services.flatMap((one) => ['--service', one]),
    ...['--base', 'me:PassWord99@x..org', '--issue', 'https://PassWord99@x.org/a/b/issues/1'],
  ];
  const words = ['run', '-m', 'x', '--output', 'json', ...wrong];
  const { exitCode, stdout, stderr } = await runCli(words, { cwd: root });
  expect([exitCode, stdout]).toEqual([2, expect.stringContaining('https://***@x.org')]);
  expect(`${stdout}${stderr}`).not.toMatch(/PassWord99/i);
});
