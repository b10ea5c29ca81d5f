import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { execa, execaSync } from 'execa';
import { describe, expect, test } from 'vitest';
import { makeRepository, type Repository, temporaryFolder } from '../../support/files/repository.ts';
import { runCli } from '../../support/runs/cli.ts';
import { call, type FinishedRun, scriptedRun } from '../../support/runs/scripted-run.ts';

interface Checkout {
  /** The work tree, where the run takes place. */
  readonly root: string;
  /** Folders of git that must stay as they are. */
  readonly gitDirs: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

const COMMITTED =
  'printf "one\\n" > a.txt; mkdir sub; printf "two\\n" > sub/b.txt; git add -A; git commit -qm start';

/** A checkout made by a shell script that starts in the folder `main`; `root` is where it is then, seen from there. */
async function checkoutOf({ script, root = '.', name = 'main' }: Kind): Promise<Checkout> {
  const folder = temporaryFolder();
  const main = join(folder, name);
  const home = join(folder, 'home');
  for (const path of [main, home]) mkdirSync(path);
  writeFileSync(join(home, '.gitconfig'), CONFIG);
  const env = { HOME: home };
  await execa('bash', ['-euc', `git init -q -b main .; ${script}`], { cwd: main, env });
  const at = join(main, root);
  return {
    root: at,
    gitDirs: [...new Set([gitDirOf(at, '--git-dir'), gitDirOf(at, '--git-common-dir')])],
    env,
  };
}

/** Every setting here changes what git prints or stores, for those who ask it carelessly. */
const CONFIG = `[user]
	name = Test
	email = test@example.invalid
[protocol "file"]
	allow = always
[color]
	ui = always
[diff]
	noprefix = true
	external = false
	context = 0
[apply]
	whitespace = error-all
`;

function gitDirOf(root: string, which: string): string {
  return execaSync('git', ['rev-parse', '--path-format=absolute', which], { cwd: root }).stdout;
}

/** All that is in a folder; objects may become younger, and nothing else. */
function contentOf(folder: string): Record<string, string> {
  const content: Record<string, string> = {};
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const stat = lstatSync(join(folder, name));
    if (stat.isSymbolicLink()) content[name] = readlinkSync(join(folder, name));
    else if (stat.isFile()) content[name] = readFileSync(join(folder, name)).toString('base64');
  }
  return content;
}

/** Plain git, with nobody's settings, makes the run's tree from its patch and the base. */
async function expectPatchRebuilds({ root }: Checkout, { result, runDir }: FinishedRun): Promise<void> {
  const env = {
    GIT_DIR: gitDirOf(root, '--git-dir'),
    GIT_INDEX_FILE: join(runDir, 'check.index'),
    GIT_OBJECT_DIRECTORY: join(runDir, 'shadow.git/objects'),
    GIT_CONFIG_GLOBAL: '/dev/null',
  };
  const script = 'git read-tree "$0" && git apply --cached "$1" && git write-tree';
  const patch = join(runDir, 'changes.patch');
  const { stdout } = await execa('sh', ['-c', script, result.baseTree ?? '', patch], { cwd: '/', env });
  expect(stdout).toBe(result.treeSha);
}

interface Kind {
  readonly script: string;
  readonly root?: string;
  readonly name?: string;
  /** Default: what git says of the model's changes in the sandbox. */
  readonly status?: string;
  readonly warnings?: readonly string[];
}

const KINDS: Readonly<Record<string, Kind>> = {
  'a plain clone': { script: COMMITTED },
  'a path with a blank, a quote, a newline and more than ASCII': { script: COMMITTED, name: 'o "d\nd’ $(x)' },
  'a linked worktree': { script: `${COMMITTED}; git worktree add -q -b side ../side`, root: '../side' },
  'a shallow clone': {
    script: `${COMMITTED}; git commit -q --allow-empty -m more; git clone -q --depth=1 "file://$PWD" ../shallow`,
    root: '../shallow',
  },
  'a sparse checkout': {
    script: `mkdir left; echo x > left/out.txt; ${COMMITTED}; git sparse-checkout set sub`,
  },
  'a detached HEAD': { script: `${COMMITTED}; git checkout -q --detach` },
  'a repository with SHA-256': {
    script: `rm -rf .git; git init -q -b main --object-format=sha256 .; ${COMMITTED}`,
  },
  'a repository without commits': {
    script: 'printf "one\\n" > a.txt; mkdir sub; printf "two\\n" > sub/b.txt',
    warnings: ['The patch applies to an empty tree after '],
    status: '?? a.txt\n?? new/\n',
  },
  'a repository with a submodule': {
    script: `${COMMITTED}; git clone -q . ../lib; git submodule --quiet add ../lib lib; git commit -qm lib; echo x > lib/a.txt`,
    warnings: ['[WARN_SUBMODULES_LEFT_OUT] Submodules are left out: lib.'],
  },
  'a submodule': {
    script: `${COMMITTED}; git clone -q . ../lib; git submodule --quiet add ../lib lib`,
    root: 'lib',
  },
  'a repository with another one in it': {
    script: `${COMMITTED}; git init -q inner; echo x > inner/x.txt`,
    status: ' M a.txt\n D sub/b.txt\n?? inner/\n?? new/\n',
    warnings: ['[WARN_REPOSITORY_LEFT_OUT] "inner" is a separate repository and is left out.'],
  },
  'line endings that attributes turn': {
    script: `printf '* text=auto eol=crlf\\n' > .gitattributes; ${COMMITTED}; rm a.txt; git checkout -q a.txt`,
  },
  'Git LFS, which is not installed': {
    script: `printf '*.bin filter=lfs diff=lfs merge=lfs -text\\n' > .gitattributes; ${COMMITTED}`,
    warnings: [
      '[WARN_LFS_POINTER] "new/n.bin" is in the patch as a Git LFS pointer; push its content with git lfs.',
    ],
  },
};

test.each(Object.entries(KINDS))(
  'a run in %s ends with a patch that rebuilds its tree, and git stays as it was',
  async (_name, kind) => {
    const checkout = await checkoutOf(kind);
    const before = checkout.gitDirs.map(contentOf);
    const finished = await scriptedRun({
      repository: checkout,
      env: checkout.env,
      turns: [
        {
          calls: [
            call('write_file', { path: 'a.txt', content: 'changed\n' }),
            call('write_file', { path: 'new/n.bin', content: 'new' }),
          ],
        },
        {
          calls: [
            call('run_command', {
              command: 'rm -r sub; git status --porcelain > "$TMPDIR/s"; cat "$TMPDIR/s"',
            }),
          ],
        },
        { text: 'Done.' },
      ],
    });
    expect([finished.exitCode, finished.result.outcome, finished.lastLine], finished.stderr).toEqual([
      0,
      'done',
      'patchsmith: done (exit 0): 3 files changed, nothing to verify.',
    ]);
    expect(finished.result.changedFiles.map(({ path, kind: change }) => [path, change])).toEqual([
      ['a.txt', 'modify'],
      ['new/n.bin', 'create'],
      ['sub/b.txt', 'delete'],
    ]);
    expect(finished.result.warnings).toEqual(
      (kind.warnings ?? []).map((start) => expect.stringContaining(start)),
    );
    const said = JSON.stringify(finished.server.requests.at(-1)?.body);
    expect(said).toContain(
      JSON.stringify(`${kind.status ?? ' M a.txt\n D sub/b.txt\n?? new/\n'}[exit code 0]`),
    );
    await expectPatchRebuilds(checkout, finished);
    expect(checkout.gitDirs.map(contentOf)).toEqual(before);
  },
);

test('a run on a detached HEAD is replayed on one', async () => {
  const { root, env } = await checkoutOf({ script: `${COMMITTED}; git checkout -q --detach` });
  const turns = [{ calls: [call('run_command', { command: 'git branch --show-current > a.txt' })] }];
  const { runDir, exitCode } = await scriptedRun({
    repository: { root },
    env,
    turns: [...turns, { text: 'Done.' }],
  });
  expect(exitCode).toBe(0);
  const { stderr, lastLine } = await runCli(['replay', runDir], { cwd: root, env, built: true });
  expect(stderr).toMatch(/^base: detached @ /m);
  expect(lastLine).toContain('to the same patch, byte for byte');
});

test('a folder that is not a repository, and one inside a git dir, are refused before a token is spent', async () => {
  const folder = temporaryFolder();
  const { gitDirs } = await checkoutOf({ script: COMMITTED });
  for (const root of [folder, ...gitDirs]) {
    const finished = await scriptedRun({ repository: { root }, turns: [] });
    expect([finished.exitCode, finished.result.outcome, finished.server.requests.length]).toEqual([
      2,
      'usage_error',
      0,
    ]);
    expect(finished.lastLine).toBe(
      `patchsmith: usage_error (exit 2) [ERR_NO_CHECKOUT]: ${finished.result.reason}`,
    );
  }
});

test.each([
  [
    'commits, stashes and other branches',
    'git commit -qam x; git checkout -q -b other; echo y >> a.txt; git stash -q; git checkout -q main; git stash pop -q',
  ],
  ['the end of its git dir', 'rm -rf .git; rm -rf .git/*; git init -q'],
  [
    'new attributes, rules and filters',
    'git config filter.f.clean "touch ran; cat"; echo "* filter=f" > .git/info/attributes; git add -A; rm -f ran',
  ],
  [
    'processes that leave the session',
    'setsid sleep 600 & (nohup sleep 600 >/dev/null 2>&1 &); (setsid sh -c "trap : TERM INT; sleep 600" &)',
  ],
])('what a command does with %s reaches nobody', async (_name, command) => {
  const checkout = await checkoutOf({ script: COMMITTED });
  const before = checkout.gitDirs.map(contentOf);
  const finished = await scriptedRun({
    repository: checkout,
    env: checkout.env,
    turns: [
      { calls: [call('write_file', { path: 'a.txt', content: 'changed\n' })] },
      { calls: [call('run_command', { command })] },
      { text: 'Done.' },
    ],
  });
  expect(finished.result.outcome, finished.stderr).toBe('done');
  expect(finished.result.changedFiles.map(({ path }) => path)).toEqual(['a.txt']);
  await expectPatchRebuilds(checkout, finished);
  expect(checkout.gitDirs.map(contentOf)).toEqual(before);
  expect(processesIn(checkout.root)).toEqual([]);
});

/** Command lines of processes whose folder is the work tree. */
function processesIn(root: string): string[] {
  return readdirSync('/proc').flatMap((pid) => {
    try {
      return readlinkSync(`/proc/${pid}/cwd`).startsWith(root)
        ? readFileSync(`/proc/${pid}/cmdline`, 'latin1')
        : [];
    } catch {
      return [];
    }
  });
}

test('a repository that cannot be covered keeps a run that requires the sandbox from starting', async () => {
  const repository = await makeRepository({ 'a.txt': 'a\n' });
  for (let at = 0; at < 65; at += 1) repository.write(`z/${at}/.git/HEAD`, 'ref: refs/heads/main\n');
  const { exitCode, lastLine } = await scriptedRun({
    repository,
    args: ['--sandbox', 'required'],
    turns: [{ text: 'Done.' }],
  });
  expect([exitCode, lastLine]).toEqual([
    10,
    expect.stringMatching(/\[ERR_SANDBOX_UNCOVERED\]: .*"z\/9\/\.git" cannot be hidden from commands/),
  ]);
});

describe('a run that requires the sandbox does not start where a `.git` file leads', () => {
  test.each([
    ['to a git dir that commands could make', (): void => {}],
    [
      'through a link that commands could replace',
      ({ root }: Repository) => {
        execaSync('git', ['init', '--quiet', '--bare', join(root, 'real/gd')]);
        symlinkSync('real', join(root, 'ignored'));
      },
    ],
  ])('%s', async (_what, make) => {
    const repository = await makeRepository({ 'a.txt': 'a\n' });
    repository.write('sub/.git', 'gitdir: ../ignored/gd\n');
    make(repository);
    const { exitCode, lastLine } = await scriptedRun({
      repository,
      args: ['--sandbox', 'required'],
      turns: [{ text: 'Done.' }],
    });
    expect([exitCode, lastLine]).toEqual([
      10,
      expect.stringContaining('"sub/.git" cannot be hidden from commands'),
    ]);
  });
});

test('commands do not reach a git dir of the checkout that lies in its work tree', async () => {
  const checkout = await checkoutOf({
    script: `${COMMITTED}; echo /hidden > .git/info/exclude; mkdir hidden; git init -q --separate-git-dir hidden/gd; git config core.worktree ../..`,
  });
  const before = checkout.gitDirs.map(contentOf);
  const command = 'echo "[core]" >> hidden/gd/config; mv hidden away; git log --oneline && echo b >> a.txt';
  const finished = await scriptedRun({
    repository: checkout,
    env: checkout.env,
    args: ['--sandbox', 'required'],
    turns: [{ calls: [call('run_command', { command })] }, { text: 'Done.' }],
  });
  const changed = finished.result.changedFiles.map(({ path }) => path);
  expect([finished.exitCode, changed], finished.stderr).toEqual([0, ['a.txt']]);
  expect(checkout.gitDirs.map(contentOf)).toEqual(before);
});
