/** Where verify commands run, and what of the model's they do not find there. */

import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeRepository, temporaryFolder } from '../../support/files/repository.ts';
import { runCli } from '../../support/runs/cli.ts';
import { command, done, type FinishedRun, scriptedRun } from '../../support/runs/scripted-run.ts';

interface Planned {
  readonly files?: Readonly<Record<string, string>>;
  readonly setup?: readonly string[];
  readonly verify: readonly string[];
  readonly args?: readonly string[];
}

async function planned({ files = {}, setup = [], verify, args = [] }: Planned) {
  const repository = await makeRepository({
    'a.txt': 'a\n',
    '.gitignore': 'tools/\n',
    ...files,
  });
  const plan = join(temporaryFolder(), 'plan.md');
  const front = { setup, verify };
  writeFileSync(
    plan,
    `---\n${JSON.stringify(front).slice(1, -1)}\n---\nDo it.\n`.replace(/^---\n(.*)\n---/, '---\n{$1}\n---'),
  );
  return {
    repository,
    run: (turns: Parameters<typeof scriptedRun>[0]['turns'], more: readonly string[] = []) =>
      scriptedRun({ repository, turns, plan, args: [...args, ...more] }),
  };
}

const endsOf = ({ result }: FinishedRun) =>
  result.verify.map(({ command: line, end, output }) => [line, end.exitCode, output]);

describe.each(['required', 'off'])('--sandbox %s', (sandbox) => {
  const SANDBOX = ['--sandbox', sandbox];

  test('verify commands find no git dir that commands of the model wrote into', async () => {
    const { run } = await planned({
      verify: [
        'git status --short',
        'git log --format=%s',
        'git show HEAD:a.txt',
        '! git config --get-all alias.status; ! git config core.hooksPath; git branch --list planted; { ls "$(git rev-parse --git-dir)/hooks" 2>&1 || true; } | wc -l',
      ],
      args: SANDBOX,
    });
    const ended = await run([
      command(
        [
          'd=$(git rev-parse --git-dir)',
          'mkdir -p $d/hooks; printf "#!/bin/sh\\necho hooked" > $d/hooks/post-index-change; chmod +x $d/hooks/*',
          'git config core.hooksPath $d/hooks; git config core.fsmonitor "echo hooked"',
          'echo planted > a.txt; git commit -qam "All is well"; git branch planted; git update-index --assume-unchanged a.txt',
          'echo "*" >> $d/info/exclude; echo new > new.txt; rm -f $d/index',
        ].join('; '),
      ),
      done,
    ]);
    expect([ended.result.outcome, endsOf(ended)], ended.stderr).toEqual([
      'done',
      [
        ['git status --short', 0, ' M a.txt\n?? new.txt\n'],
        ['git log --format=%s', 0, 'Start\n'],
        ['git show HEAD:a.txt', 0, 'a\n'],
        [expect.any(String), 0, expect.stringMatching(/^\d\n$/)],
      ],
    ]);
  });

  test('a fresh checkout of base and patch has nothing else of the work tree', async () => {
    const { repository, run } = await planned({
      files: {
        'check.sh': 'tools/check\n',
        'lines.txt': 'one\r\n',
        '.gitattributes': 'lines.txt text eol=crlf\n',
        run: 'x',
      },
      setup: ['mkdir -p tools; printf "#!/bin/sh\\ngrep -q good a.txt" > tools/check; chmod +x tools/check'],
      verify: [
        'sh check.sh',
        'ls -A; pwd; cat b/new.txt; test -x b/run; od -c lines.txt | head -1',
        'git status --short; git diff --quiet; git diff HEAD -- a.txt | tail -1; git show :b/new.txt',
      ],
      args: [...SANDBOX, '--verify-in', 'checkout'],
    });
    const ended = await run([
      // The model fakes what verifies it, and leaves what is ignored.
      command('printf "#!/bin/sh\\nexit 0" > tools/check; echo planted > tools/planted; echo bad > a.txt'),
      done,
      command('echo good > a.txt; mkdir b; echo new > b/new.txt; touch b/run; chmod +x b/run; rm run'),
      done,
    ]);
    expect([ended.result.outcome, ended.result.verifyIn], ended.stderr).toEqual(['done', 'checkout']);
    expect(endsOf(ended)).toEqual([
      ['sh check.sh', 0, ''],
      [
        expect.any(String),
        0,
        `.git\n.gitattributes\n.gitignore\na.txt\nb\ncheck.sh\nlines.txt\ntools\n${repository.root}\nnew\n0000000   o   n   e  \\r  \\n\n`,
      ],
      [expect.any(String), 0, 'M  a.txt\nA  b/new.txt\nA  b/run\nD  run\n+good\nnew\n'],
    ]);
    expect(ended.result.reason).toBe('4 files changed, 3 verify commands passed in a fresh checkout.');
    // The model was shown why the first round failed.
    expect(ended.events.filter(({ type }) => type === 'verify.completed')).toHaveLength(2);
    expect(JSON.stringify(ended.server.requests[2])).toContain('sh check.sh');
    expect(readdirSync(ended.runDir)).not.toContain('scratch');
    // Played again, the same happens in another folder.
    const replayed = await runCli(['replay', ended.runDir, '--repo', repository.root, ...SANDBOX], {
      cwd: temporaryFolder(),
    });
    expect(replayed.lastLine).toContain('replayed to the same patch, byte for byte');
  });

  test('what setup and verify commands change in it is thrown away and told', async () => {
    const { repository, run } = await planned({
      setup: ['true'],
      verify: [
        'echo changed > a.txt; rm b.txt; echo more > made.txt; mkdir -p closed; chmod 000 closed',
        'cat a.txt',
      ],
      files: { 'b.txt': 'b\n' },
      args: [...SANDBOX, '--verify-in', 'checkout'],
    });
    const ended = await run([command('echo new > new.txt'), done]);
    expect(ended.result.outcome, ended.stderr).toBe('done');
    expect(endsOf(ended).at(-1)).toEqual(['cat a.txt', 0, 'changed\n']);
    expect(ended.result.warnings).toContain(
      '[WARN_FRESH_CHECKOUT_CHANGED] Setup or verify commands changed files of the fresh checkout, which is gone: a.txt, b.txt.',
    );
    expect(readFileSync(join(repository.root, 'a.txt'), 'utf8')).toBe('a\n');
    expect([existsSync(join(repository.root, 'made.txt')), ended.result.unexplained]).toEqual([false, []]);
    expect(readdirSync(ended.runDir)).not.toContain('scratch');
  });

  test('a setup command that fails there is a verification that failed', async () => {
    const { run } = await planned({
      setup: ['test "$(cat a.txt)" = a'],
      verify: ['cat a.txt'],
      args: [...SANDBOX, '--verify-in', 'checkout', '--fix-rounds', '1'],
    });
    const ended = await run([command('echo broken > a.txt'), done, done]);
    expect([ended.result.outcome, endsOf(ended)], ended.stderr).toEqual([
      'verify_failed',
      [['test "$(cat a.txt)" = a', 1, '']],
    ]);
  });
});

test('the verify baseline comes from a fresh checkout of the base', async () => {
  const { repository, run } = await planned({
    verify: ['test -e tools/kept || { echo "FAIL missing"; exit 1; }', 'cat a.txt'],
    args: ['--verify-in', 'checkout', '--verify-baseline'],
  });
  mkdirSync(join(repository.root, 'tools'));
  writeFileSync(join(repository.root, 'tools/kept'), '');
  const ended = await run([command('echo b > a.txt'), done]);
  expect([ended.result.outcome, ended.result.reason], ended.stderr).toEqual([
    'done',
    '1 file changed, 1 verify command passed in a fresh checkout, 1 failed as before the run.',
  ]);
  expect(ended.result.verifyBaseline?.map(({ output }) => output)).toEqual(['FAIL missing\n', 'a\n']);
  expect(ended.result.warnings.filter((warning) => warning.includes('before the work'))).toEqual([]);
});

test('uncommitted changes of the base are in the checkout, and submodules and LFS pointers are named', async () => {
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${'0'.repeat(64)}\nsize 12345\n`;
  const { repository, run } = await planned({
    files: { '.gitattributes': '*.bin filter=lfs\n', 'large.bin': pointer },
    verify: ['cat a.txt uncommitted.txt large.bin; ls -A module'],
    args: ['--verify-in', 'checkout'],
  });
  await repository.git('update-index', '--add', '--cacheinfo', `160000,${'1'.repeat(40)},module`);
  await repository.git('commit', '-qm', 'module');
  mkdirSync(join(repository.root, 'module'));
  writeFileSync(join(repository.root, 'a.txt'), 'dirty\n');
  writeFileSync(join(repository.root, 'uncommitted.txt'), 'uncommitted\n');
  const ended = await run([command('echo new > new.txt'), done]);
  expect([ended.result.outcome, endsOf(ended)[0]?.slice(1)], ended.stderr).toEqual([
    'done',
    [0, `dirty\nuncommitted\n${pointer}`],
  ]);
  expect(ended.result.warnings).toEqual(
    expect.arrayContaining([
      '[WARN_FRESH_CHECKOUT_LACKS] Submodules are empty folders in the fresh checkout: module.',
      '[WARN_FRESH_CHECKOUT_LACKS] LFS files are pointers in the fresh checkout: large.bin.',
    ]),
  );
});

test('ignored files that commands changed are named, those that run by their names first', async () => {
  const { repository, run } = await planned({
    files: { '.gitignore': 'node_modules/\n.npmrc\nout/\n', 'kept/tracked.log': 'x' },
    setup: ['mkdir -p node_modules/made; touch node_modules/made/by-setup'],
    verify: ['node_modules/.bin/check'],
  });
  const path = (name: string) => join(repository.root, name);
  for (const folder of [
    'node_modules/.bin',
    'node_modules/deep/er',
    'node_modules/less',
    'node_modules/swapped',
    'node_modules/other',
  ])
    mkdirSync(path(folder), { recursive: true });
  writeFileSync(path('node_modules/.bin/check'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
  writeFileSync(path('node_modules/.bin/other'), '');
  writeFileSync(path('node_modules/deep/er/index.js'), '');
  writeFileSync(path('node_modules/deep/er/same.js'), '');
  for (const name of ['less', 'swapped', 'other']) writeFileSync(path(`node_modules/${name}/file.js`), name);
  const ended = await run([
    command(
      [
        'touch -r node_modules/.bin/check ref; printf "#!/bin/sh\nexit 0" > node_modules/.bin/check; touch -r ref node_modules/.bin/check; rm ref',
        'echo script-shell=./fake > .npmrc; mkdir out; seq 150 | while read i; do echo > out/$i; done',
        'mv node_modules/deep/er/index.js node_modules/deep/er/main.js; touch kept/tracked.log new.txt; chmod 000 node_modules/deep',
        // What they leave is as old as it was.
        'cd node_modules; rm less/file.js; mv swapped aside; mv other swapped',
      ].join('; '),
    ),
    done,
  ]);
  const { outcome, ignoredFiles, ignoredFileCount, warnings } = ended.result;
  expect([outcome, ignoredFileCount, ignoredFiles.length], ended.stderr).toEqual(['done', 160, 100]);
  expect(ignoredFiles.slice(0, 11)).toEqual([
    'node_modules/.bin/check',
    '.npmrc',
    'node_modules/',
    'node_modules/aside/',
    'node_modules/deep/',
    'node_modules/deep/er/',
    'node_modules/deep/er/main.js',
    'node_modules/less/',
    'node_modules/swapped/',
    'out/',
    'out/1',
  ]);
  expect(warnings).toContainEqual(
    '[WARN_IGNORED_CHANGES] Not in the patch, because ignore rules or git leave them out: 160 files and folders (node_modules/.bin/check, .npmrc, node_modules/, out/).',
  );
});
