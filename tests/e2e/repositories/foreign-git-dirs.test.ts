/**
 * A repository says which folder git works in. The runner works where the `.git` was found, refuses whatever says otherwise, and
 * touches nothing outside.
 */

import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';
import { git, makePipe, tempFolder } from '../../support/files/temp-folder.ts';
import { runCli } from '../../support/runs/cli.ts';
import { call, scriptedRun } from '../../support/runs/scripted-run.ts';
import { sampled } from '../../support/setup/sample.ts';

const SECRET = 'cnry-of-another-folder\n';

/** A home with a key, a repository of its own, and a clone of somebody else's repository. */
class World {
  readonly home = tempFolder({ '.ssh/id': SECRET, 'other/private.txt': SECRET });
  readonly root = join(this.home, 'work/clone');

  constructor(files: Readonly<Record<string, string>> = {}) {
    this.repository(join(this.home, 'other'));
    const origin = tempFolder({ 'a.txt': 'a\n', 'sub/b.txt': 'b\n', ...files });
    this.repository(origin);
    mkdirSync(dirname(this.root));
    git(this.home, 'clone', '--quiet', origin, this.root);
  }

  repository(folder: string): void {
    git(folder, 'init', '--quiet', '--initial-branch=main');
    git(folder, 'add', '--all', '--force');
    git(folder, 'commit', '--quiet', '--message', 'Start');
  }

  put(path: string, content: string): void {
    mkdirSync(dirname(join(this.root, path)), { recursive: true });
    writeFileSync(join(this.root, path), content);
  }

  link(path: string, target: string): void {
    rmSync(join(this.root, path), { recursive: true, force: true });
    symlinkSync(target, join(this.root, path));
  }

  git(...args: string[]): string {
    return git(this.root, ...args);
  }

  /** Everything outside the clone. */
  outside(): string {
    // doctor asks rustc, which makes folders of its own.
    const find = 'find "$0" \\( -path "$1" -o -name .rustup \\) -prune -o -type f -print0';
    const args = ['-c', `${find} | sort -z | xargs -0 sha256sum`, this.home, this.root];
    return execFileSync('sh', args, { encoding: 'utf8' });
  }

  /** What a model does that was asked to read a key and leave one of its own. */
  run(start: string, { built = false, args = [] }: { built?: boolean; args?: readonly string[] } = {}) {
    return scriptedRun({
      repository: { root: start },
      built,
      env: { HOME: this.home },
      args: ['--sandbox', 'off', ...args],
      turns: [
        {
          calls: [
            call('read_file', { path: '.ssh/id' }),
            call('read_file', { path: 'private.txt' }),
            call('write_file', { path: '.ssh/authorized_keys', content: 'mine\n' }),
          ],
        },
        { text: 'Done.' },
      ],
    });
  }
}

const EMBEDDED = {
  'sub/HEAD': 'ref: refs/heads/main\n',
  'sub/objects/.keep': '',
  'sub/refs/.keep': '',
  'sub/config': '[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ../../..\n',
};

/** A `.git` file, and nothing else that says where the repository is. */
function pointTo(world: World, gitDir: string): void {
  rmSync(join(world.root, '.git'), { recursive: true });
  world.put('.git', `gitdir: ${gitDir}\n`);
}

/** A linked worktree of the other repository, somewhere else; returns its git dir. */
function worktreeOfOther({ home }: World): string {
  git(join(home, 'other'), 'worktree', 'add', '--quiet', '--detach', '../linked');
  return join(home, 'other/.git/worktrees/linked');
}

const REFUSED: readonly [string, (world: World) => string | undefined, string | RegExp][] = [
  ['a bare repository in a folder of the clone', () => 'sub', 'is a bare repository'],
  [
    'a folder of the clone that borrows everything from another repository',
    (world) => {
      for (const name of ['objects', 'refs', 'config'])
        rmSync(join(world.root, 'sub', name), { recursive: true });
      world.put('sub/commondir', join(world.home, 'other/.git'));
      return 'sub';
    },
    'is a bare repository',
  ],
  ['core.worktree', (world) => void world.git('config', 'core.worktree', '../../..'), 'core.worktree'],
  [
    'core.worktree in config.worktree',
    (world) => {
      world.git('config', 'extensions.worktreeConfig', 'true');
      world.put('.git/config.worktree', '[core]\n\tworktree = ../../..\n');
      return undefined;
    },
    'core.worktree',
  ],
  [
    'commondir in .git',
    (world) => world.put('.git/commondir', join(world.home, 'other/.git')) as undefined,
    '.git/commondir',
  ],
  [
    'a .git file that names another repository',
    (world) => pointTo(world, join(world.home, 'other/.git')) as undefined,
    'core.worktree',
  ],
  [
    "a .git file that names another repository's worktree",
    (world) => pointTo(world, worktreeOfOther(world)) as undefined,
    'worktree repair',
  ],
  [
    'a git dir of its own that borrows everything from another repository',
    (world) => {
      renameSync(join(world.root, '.git'), join(world.root, 'sub/gd'));
      pointToLater(world, 'sub/gd');
      world.put('sub/gd/gitdir', join(world.root, '.git'));
      world.put('sub/gd/commondir', join(world.home, 'other/.git'));
      return undefined;
    },
    'worktree',
  ],
  [
    '.git as a link',
    (world) => world.link('.git', join(world.home, 'other/.git')) as undefined,
    /\.git" is a link/,
  ],
  ['an unusable .git', (world) => void rmSync(join(world.root, '.git/HEAD')), 'is not a git repository'],
  [
    'an unusable .git below a repository',
    (world) => {
      world.repository(world.home);
      rmSync(join(world.root, '.git/HEAD'));
      return undefined;
    },
    'is not a git repository',
  ],
  ['a folder in .git', () => '.git/refs', 'inside a .git folder'],
];

function pointToLater(world: World, gitDir: string): void {
  world.put('.git', `gitdir: ${gitDir}\n`);
}

describe('is refused, and nothing outside is read or written:', () => {
  test.each(sampled(REFUSED, ([, , said]) => String(said)))('%s', async (_what, prepare, said) => {
    const world = new World(EMBEDDED);
    const start = join(world.root, prepare(world) ?? '');
    const before = world.outside();
    const run = await world.run(start);
    expect([run.exitCode, run.lastLine]).toEqual([2, expect.stringMatching(said)]);
    expect(run.server.requests).toEqual([]);
    expect(world.outside()).toBe(before);
  });

  const LINKED = [
    'HEAD',
    'config',
    'index',
    'info',
    'info/exclude',
    'info/attributes',
    'objects',
    'objects/info',
    'objects/info/alternates',
    'objects/pack',
    'packed-refs',
    'refs',
    'refs/heads',
    'refs/heads/other',
    'shallow',
    'worktrees',
    'commondir',
  ];

  test('a part of its .git as a link', async () => {
    const world = new World();
    const before = world.outside();
    const seen: unknown[] = [];
    for (const [at, name] of LINKED.entries()) {
      const path = join(world.root, '.git', name);
      const target = join(world.home, `moved-${at}`);
      const isThere = existsSync(path);
      if (isThere) renameSync(path, target);
      else writeFileSync(target, '');
      mkdirSync(dirname(path), { recursive: true });
      symlinkSync(target, path);
      const run = await world.run(world.root);
      seen.push([name, run.exitCode, run.lastLine.includes(`${JSON.stringify(path)} is`)]);
      rmSync(path);
      if (isThere) renameSync(target, path);
      else rmSync(target);
    }
    expect(seen).toEqual(LINKED.map((name) => [name, 2, true]));
    expect(world.outside()).toBe(before);
  });
});

const ACCEPTED: readonly [string, (world: World) => { start: string; root?: string }][] = [
  ['the root', (world) => ({ start: world.root })],
  ['a folder below it', (world) => ({ start: join(world.root, 'sub') })],
  [
    'a link to a folder below it',
    (world) => {
      symlinkSync(join(world.root, 'sub'), join(world.home, 'elsewhere'));
      return { start: join(world.home, 'elsewhere') };
    },
  ],
  [
    'a linked worktree',
    (world) => {
      world.git('worktree', 'add', '--quiet', '--detach', '../linked');
      return { start: join(world.home, 'work/linked/sub'), root: join(world.home, 'work/linked') };
    },
  ],
  [
    'a linked worktree with relative links',
    (world) => {
      world.git('worktree', 'add', '--quiet', '--detach', '../linked');
      const root = join(world.home, 'work/linked');
      writeFileSync(join(root, '.git'), 'gitdir: ../clone/.git/worktrees/linked\n');
      world.put('.git/worktrees/linked/gitdir', '../../../../linked/.git\n');
      return { start: root, root };
    },
  ],
  [
    'a submodule',
    (world) => {
      const other = join(world.home, 'other');
      world.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', other, 'module');
      return { start: join(world.root, 'module'), root: join(world.root, 'module') };
    },
  ],
  [
    'a worktree of a submodule',
    (world) => {
      const other = join(world.home, 'other');
      world.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', other, 'module');
      const root = join(world.home, 'work/linked');
      git(join(world.root, 'module'), 'worktree', 'add', '--quiet', '--detach', root);
      return { start: root, root };
    },
  ],
  [
    'a separate git dir that names the work tree',
    (world) => {
      world.git('init', '--quiet', '--separate-git-dir', '../clone.git');
      world.git('config', 'core.worktree', '../clone');
      return { start: world.root };
    },
  ],
  [
    'a repository that includes a file with core.worktree, where git does not look for it',
    (world) => {
      world.put('.git/more', '[core]\n\tworktree = ../../..\n');
      world.git('config', 'include.path', 'more');
      return { start: world.root };
    },
  ],
  [
    'a repository in a repository',
    (world) => {
      world.repository(world.home);
      return { start: join(world.root, 'sub') };
    },
  ],
];

/** What is among the others: the root of a clone, of a linked worktree and of a submodule. */
const kindOf = ([what]: (typeof ACCEPTED)[number]) =>
  /^(?:the root|a linked worktree|a submodule)$/.test(what) ? 'a root' : what;

test.each(sampled(ACCEPTED, kindOf))('a run works in %s', async (_what, prepare) => {
  const world = new World();
  const { start, root = world.root } = prepare(world);
  const run = await world.run(start);
  expect([run.exitCode, run.result.outcome]).toEqual([0, 'done']);
  const written = realpathSync(join(start, '.ssh/authorized_keys'));
  expect(run.result.changedFiles.map(({ path }) => path)).toEqual([relative(realpathSync(root), written)]);
  expect(readdirSync(join(world.home, '.ssh'))).toEqual(['id']);
});

test.each(
  sampled(
    [
      ['a separate git dir without core.worktree', []],
      ['one that names another folder', ['config', 'core.worktree', '../../other']],
    ] as const,
    () => 'git dir',
    1,
  ),
)('what is typed to make %s usable makes it usable', async (_what, setting) => {
  const world = new World();
  const root = join(world.home, "work/mona's clone");
  renameSync(world.root, root);
  git(root, 'init', '--quiet', '--separate-git-dir', '../the clone.git');
  if (setting.length > 0) git(root, ...setting);
  const refused = await world.run(root);
  expect([refused.exitCode, refused.lastLine]).toEqual([2, expect.stringContaining('core.worktree')]);
  const [, typed = ''] = /If it is yours: (git .*)$/.exec(refused.lastLine) ?? [];
  execFileSync('sh', ['-c', typed], { cwd: '/' });
  const run = await world.run(root);
  expect([run.exitCode, run.result.outcome], run.stderr).toEqual([0, 'done']);
  expect(existsSync(join(root, '.ssh/authorized_keys'))).toBe(true);
});

test('variables of git do not say where the checkout is', async () => {
  const world = new World();
  const run = await scriptedRun({
    repository: { root: join(world.root, 'sub') },
    built: true,
    env: {
      HOME: world.home,
      GIT_DIR: join(world.home, 'other/.git'),
      GIT_WORK_TREE: world.home,
      GIT_CEILING_DIRECTORIES: world.root,
    },
    args: ['--sandbox', 'off'],
    turns: [{ calls: [call('write_file', { path: 'here.txt', content: 'x\n' })] }, { text: 'Done.' }],
  });
  expect([run.exitCode, existsSync(join(world.root, 'sub/here.txt'))]).toEqual([0, true]);
});

test.each(
  sampled(
    [
      ['undo', ['undo', 'last']],
      ['init', ['init']],
      ['doctor', ['doctor']],
    ] as const,
    () => 'command',
  ),
)('%s refuses the repository of another folder', async (_name, args) => {
  const world = new World();
  await scriptedRun({
    repository: world,
    runDir: join(world.home, 'run'),
    env: { HOME: world.home },
    args: ['--sandbox', 'off'],
    turns: [{ calls: [call('write_file', { path: 'a.txt', content: 'changed\n' })] }, { text: 'Done.' }],
  });
  pointTo(world, join(world.home, 'other/.git'));
  const before = world.outside();
  const line = args.map((arg) => (arg === 'last' ? join(world.home, 'run') : arg));
  const env = { HOME: world.home, ANTHROPIC_API_KEY: 'sk-ant-of-a-test' };
  const end = await runCli(line, { cwd: world.root, env });
  expect(`${end.stdout}${end.stderr}`).toContain('core.worktree');
  expect(readFileSync(join(world.root, 'a.txt'), 'utf8')).toBe('changed\n');
  expect(world.outside()).toBe(before);
});

test('the project file and the checkout are those of one repository, also behind a link', async () => {
  const world = new World();
  world.repository(world.home);
  writeFileSync(join(world.home, '.patchsmith.yml'), 'max-iterations: 0\n');
  symlinkSync(join(world.root, 'sub'), join(world.home, 'elsewhere'));
  const run = await world.run(join(world.home, 'elsewhere'));
  expect(run.exitCode).toBe(0);
});

test('a key in a tracked .env is not used, whatever its folder says', async () => {
  const world = new World({ ...EMBEDDED, 'sub/.env': 'ANTHROPIC_API_KEY=sk-ant-of-the-author\n' });
  const end = await runCli(['run', '--repo', world.root, '--message', 'Do it', '--sandbox', 'off'], {
    cwd: join(world.root, 'sub'),
    env: { HOME: world.home, ANTHROPIC_BASE_URL: 'http://127.0.0.1:9' },
  });
  expect([end.exitCode, end.stderr]).toEqual([2, expect.stringMatching(/is tracked by git|could not say/)]);
});

test.each(sampled(['HEAD', 'commondir', 'gitdir', 'objects', 'refs', 'info', 'config'], () => 'pipe', 1))(
  'nothing waits for a pipe as %s of a git dir that a .git file names',
  async (name) => {
    const world = new World();
    world.git('init', '--quiet', '--separate-git-dir', '../clone.git');
    const path = join(world.home, 'work/clone.git', name);
    rmSync(path, { recursive: true, force: true });
    makePipe(path);
    const run = await world.run(world.root, { built: true });
    expect([run.exitCode, run.lastLine]).toEqual([2, expect.stringContaining(path)]);
  },
);

test('nothing waits for a pipe that a ref names', async () => {
  const world = new World();
  world.put('.git/refs/heads/other', 'ref: OTHER_HEAD\n');
  makePipe(join(world.root, '.git/OTHER_HEAD'));
  const run = await world.run(world.root, { built: true, args: ['--deadline', '20s'] });
  expect([run.exitCode, run.lastLine]).toEqual([2, expect.stringContaining('OTHER_HEAD')]);
});

describe('a file of the task that is tracked as a link out of the checkout is not read:', () => {
  const files = (world: World) => {
    world.link('task.md', join(world.home, '.ssh/id'));
    world.link('docs', join(world.home, '.ssh'));
    world.link('inside.md', 'a.txt');
    world.link('config.md', '.git/config');
    world.link('answer.json', '../../.ssh/schema.json');
    writeFileSync(join(world.home, '.ssh/schema.json'), '{"type":"object"}\n');
  };
  const runWith = (world: World, args: readonly string[]) => runIn(world, world, args);
  const runIn = (world: World, repository: { root: string }, args: readonly string[]) =>
    scriptedRun({
      repository,
      withoutTask: args.includes('--plan'),
      env: { HOME: world.home },
      args: ['--sandbox', 'off', ...args],
      turns: [{ text: 'Done.' }],
    });

  test.each([
    ['--plan', 'task.md'],
    ['--plan', 'docs/id'],
    ['--plan', 'config.md'],
    ['--principles', 'task.md'],
    ['--principles', 'docs/id'],
    ['--output-schema', 'answer.json'],
    ['--mcp-config', 'task.md'],
  ])('%s %s', async (option, path) => {
    const world = new World();
    files(world);
    const run = await runWith(world, [option, join(world.root, path)]);
    expect([run.exitCode, run.lastLine]).toEqual([2, expect.stringContaining('links to')]);
    expect(run.server.requests).toEqual([]);
  });

  test.each(['work/clone/task.md', 'mine/task.md', 'mine/docs/id', 'part/task.md'])(
    '%s of another checkout than that of the run',
    async (path) => {
      const world = new World();
      files(world);
      symlinkSync(world.root, join(world.home, 'mine'));
      world.link('sub/task.md', join(world.home, '.ssh/id'));
      symlinkSync(join(world.root, 'sub'), join(world.home, 'part'));
      const other = { root: join(world.home, 'other') };
      for (const option of ['--plan', '--principles']) {
        const run = await runIn(world, other, [option, join(world.home, path)]);
        expect([run.exitCode, run.lastLine]).toEqual([2, expect.stringContaining('links to')]);
        expect(run.server.requests).toEqual([]);
      }
    },
  );

  test.each([
    ['--plan', 'work/clone/inside.md'],
    ['--principles', 'work/clone/inside.md'],
    ['--plan', 'mine.md'],
    ['--principles', 'mine.md'],
  ])('but %s %s is', async (option, path) => {
    const world = new World();
    files(world);
    symlinkSync('.ssh/id', join(world.home, 'mine.md'));
    const run = await runWith(world, [option, join(world.home, path)]);
    expect(run.lastLine).not.toContain('links to');
    expect(run.server.requests.length).toBeGreaterThan(0);
  });
});
