import { execFileSync } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { at, patchOfAll, ScratchCheckout } from '../scratch-checkout.ts';

describe('ignore rules', () => {
  test('of every level and place are those of git itself', async () => {
    const scratch = new ScratchCheckout();
    writeFileSync(join(scratch.root, '.git/info/exclude'), '*.info\n');
    scratch.git('config', 'core.excludesFile', '~/my-ignores');
    scratch.write('../home/my-ignores', '*.user\n.DS_Store\n');
    scratch.write(
      '.gitignore',
      '*.log\n!keep.log\nbuild/\n/top\ndeep/**/x\n\\#hash\n:colon\n[ab].c\nspace\\ \nlocked/*\n!locked/open\ncaf\udce9\n',
    );
    scratch.write('sub/.gitignore', '!*.log\n/only-here\n*.tmp\r\n');
    scratch.write('build/.gitignore', '!*\n');
    const names = [
      'a.log',
      'keep.log',
      'a.info',
      'a.user',
      '.DS_Store',
      'top',
      'sub/top',
      'sub/a.log',
      'sub/only-here',
      'sub/x/only-here',
      'sub/a.tmp',
      'build/x',
      'sub/build/y',
      'sub/x/build',
      'deep/a/b/x',
      'deep/y',
      '#hash',
      ':colon',
      'a.c',
      'c.c',
      'space ',
      'locked/open',
      'locked/shut',
      'caf\udce9',
      'caf\udce8',
    ];
    for (const name of names) scratch.write(name, 'x\n');
    const workspace = await scratch.open();
    const byGit = scratch
      .git('ls-files', '-z', '--others', '--cached', '--exclude-standard')
      .split('\0')
      .filter(Boolean)
      .map((path) =>
        path.replace(/[\x80-\xff]/g, (byte) => String.fromCharCode(0xdc00 + byte.charCodeAt(0))),
      );
    expect(await workspace.listFiles(at(''), null)).toEqual({ status: 'ok', paths: byGit.sort() });
  });

  test('do not hide tracked files, and do not lead into ignored folders without them', async () => {
    const scratch = new ScratchCheckout();
    scratch.write('build/tracked.txt', 'x\n');
    scratch.write('tracked.log', 'x\n');
    scratch.git('add', '--all');
    scratch.write('.gitignore', 'build\n*.log\nnode_modules/\n');
    scratch.commit();
    scratch.write('build/untracked.txt', 'x\n');
    scratch.write('build/below/untracked.txt', 'x\n');
    scratch.write('node_modules/a/b.js', 'x\n');
    const workspace = await scratch.open();
    expect(workspace.base().dirty).toBe(false);
    scratch.write('build/tracked.txt', 'changed\n');
    scratch.write('tracked.log', 'changed\n');
    scratch.write('build/more.txt', 'x\n');
    scratch.write('node_modules/a/c.js', 'x\n');
    expect((await workspace.capture('all')).map(({ path }) => path)).toEqual([
      'build/tracked.txt',
      'tracked.log',
    ]);
    scratch.remove('tracked.log');
    await workspace.capture('all');
    expect(await workspace.writeFile(at('tracked.log'), Buffer.from('back\n'))).toMatchObject({
      ignored: false,
    });
  });

  test('of the git folder are those of the start, whatever is written there during the run', async () => {
    const scratch = new ScratchCheckout();
    scratch.commit();
    const workspace = await scratch.open();
    writeFileSync(join(scratch.root, '.git/info/exclude'), '*\n');
    scratch.write('sub/a.txt', 'x\n');
    expect((await patchOfAll(workspace)).files.map(({ path }) => path)).toEqual(['sub/a.txt']);
  });

  test('hold when files and folders change places, even of rule files', async () => {
    const scratch = new ScratchCheckout();
    scratch.write('.gitignore', 'out/\n*.tmp\n');
    scratch.write('sub/.gitignore', '*.log\n');
    scratch.write('sub/a.txt', 'x\n');
    const workspace = await scratch.open();
    const seen = async () =>
      (await workspace.capture('all')).map(({ path, after }) => `${after ? '+' : '-'}${path}`);
    scratch.write('out/x', 'x\n');
    expect(await seen()).toEqual([]);
    scratch.remove('out');
    scratch.write('out', 'a file\n');
    expect(await seen()).toEqual(['+out']);
    scratch.remove('out');
    scratch.write('out/x', 'x\n');
    expect(await seen()).toEqual(['-out']);
    scratch.remove('sub');
    scratch.write('sub', 'a file\n');
    scratch.remove('.gitignore');
    scratch.write('.gitignore/x/y.txt', 'x\n');
    scratch.write('.gitignore/x/y.tmp', 'x\n');
    expect(await seen()).toEqual([
      '-.gitignore',
      '+.gitignore/x/y.tmp',
      '+.gitignore/x/y.txt',
      '+out/x',
      '+sub',
      '-sub/.gitignore',
      '-sub/a.txt',
    ]);
    scratch.remove('sub');
    scratch.write('sub/a.log', 'x\n');
    expect(await seen()).toEqual(['-sub', '+sub/a.log']);
  });

  test.each(['.gitignore', '.gitattributes'])(
    'in a %s of more than 16 MiB are refused by name',
    async (name) => {
      const scratch = new ScratchCheckout();
      scratch.commit();
      scratch.write(`sub/${name}`, Buffer.alloc(16 * 1024 ** 2 + 1, 'a b\n'));
      await expect(scratch.open()).rejects.toThrow(`sub/${name}`);
    },
  );

  test('and the walk bear folders deeper than any path can name', async () => {
    const scratch = new ScratchCheckout();
    const workspace = await scratch.open();
    const name = 'n'.repeat(200);
    const dig = `const fs = require('node:fs');
      for (let i = 0; i < 25; i += 1) {
        fs.mkdirSync(${JSON.stringify(name)});
        process.chdir(${JSON.stringify(name)});
        fs.writeFileSync('f', 'x');
      }`;
    execFileSync(process.execPath, ['-e', dig], { cwd: scratch.root });
    onTestFinished(() => void execFileSync('rm', ['-rf', name], { cwd: scratch.root }));
    const changes = await workspace.capture('all');
    expect(changes.length).toBeGreaterThan(10);
    expect((await workspace.makePatch(changes)).status).toBe('proven');
    expect(workspace.notes().warnings).toEqual([
      expect.stringMatching(/^\[WARN_UNREADABLE\] .* cannot be read and counts as unchanged\.$/),
    ]);
  });

  test('cost a deep tree some questions and not one a depth, with the same answers', async () => {
    const scratch = new ScratchCheckout();
    scratch.write('.gitignore', 'build/\n*.log\n');
    scratch.write('deep/tracked.txt', 'x\n');
    scratch.commit();
    const workspace = await scratch.open();
    const expected: string[] = [];
    let folder = 'deep';
    for (let depth = 0; depth < 400; depth += 1) {
      folder = `${folder}/${depth % 10}`;
      if (depth % 40 !== 0) continue;
      for (const name of ['kept.txt', 'a.log', 'build/kept.txt']) scratch.write(`${folder}/${name}`, 'x\n');
      scratch.git('clone', '--quiet', '.', `${folder}/other`);
      scratch.write(`${folder}/other/kept.txt`, 'x\n');
      expected.push(`${folder}/kept.txt`);
    }
    // In the middle of what is looked at ahead.
    expected.push(`${folder}/last.txt`);
    scratch.write(`${folder}/last.txt`, 'x\n');
    const { captured, processes } = await countingProcesses(async () => ({
      captured: (await workspace.capture('all')).map(({ path }) => path),
    }));
    expect(captured).toEqual(expected.sort());
    expect(processes).toBeLessThan(12);
    expect(workspace.notes().warnings).toContain(
      '[WARN_REPOSITORY_LEFT_OUT] "deep/0/other" is a separate repository and is left out.',
    );
  });

  test('are told of files written under them, which are in no patch', async () => {
    const scratch = new ScratchCheckout();
    scratch.write('.gitignore', 'build/\n*.log\n');
    scratch.commit();
    const workspace = await scratch.open();
    const write = async (path: string) => {
      const written = await workspace.writeFile(at(path), Buffer.from('x\n'));
      return written.status === 'ok' ? [written.created, written.ignored, written.blob] : written.message;
    };
    const blob = '587be6b4c3f93f93c489c0111bba5596147a26cb';
    expect(await write('build/out.js')).toEqual([true, true, blob]);
    expect(await write('build/out.js')).toEqual([false, true, blob]);
    expect(await write('a.log')).toEqual([true, true, blob]);
    expect(await write('a.txt')).toEqual([true, false, blob]);
    expect(await workspace.ignoredWrites()).toEqual({
      paths: ['a.log', 'build/', 'build/out.js'],
      count: 3,
    });
    expect((await patchOfAll(workspace)).files.map(({ path }) => path)).toEqual(['a.txt']);
    for (let i = 0; i < 120; i += 1) await write(`${i}.log`);
    const { paths, count } = await workspace.ignoredWrites();
    expect([paths.length, count]).toEqual([100, 123]);
  });
});

/** Counts the processes that are made meanwhile. */
async function countingProcesses<T extends object>(
  work: () => Promise<T>,
): Promise<T & { processes: number }> {
  let processes = 0;
  const count = () => {
    processes += 1;
  };
  subscribe('child_process', count);
  try {
    const result = await work();
    return { ...result, processes };
  } finally {
    unsubscribe('child_process', count);
  }
}

describe('listing files', () => {
  test('takes globs in the manner of .gitignore, relative to the folder', async () => {
    const scratch = new ScratchCheckout();
    for (const path of [
      'a.ts',
      'src/b.ts',
      'src/deep/c.ts',
      'src/deep/.hidden.ts',
      'src/d.js',
      'docs/src/e.ts',
      'src.d/f.ts',
      'app/[...slug].tsx',
    ]) {
      scratch.write(path, 'x\n');
    }
    scratch.link('link.ts', 'a.ts');
    mkdirSync(scratch.path('empty'));
    const workspace = await scratch.open();
    const list = async (path: string, glob: string | null) => {
      const listed = await workspace.listFiles(at(path), glob);
      return listed.status === 'ok' ? listed.paths : `${listed.reason}: ${listed.message}`;
    };
    expect(await list('src', null)).toEqual(['src/b.ts', 'src/d.js', 'src/deep/.hidden.ts', 'src/deep/c.ts']);
    expect(await list('', '*.ts')).toEqual([
      'a.ts',
      'docs/src/e.ts',
      'link.ts',
      'src.d/f.ts',
      'src/b.ts',
      'src/deep/.hidden.ts',
      'src/deep/c.ts',
    ]);
    expect(await list('', 'src/*.ts')).toEqual(['src/b.ts']);
    expect(await list('', '/*.ts')).toEqual(['a.ts', 'link.ts']);
    expect(await list('', 'src')).toEqual([
      'docs/src/e.ts',
      'src/b.ts',
      'src/d.js',
      'src/deep/.hidden.ts',
      'src/deep/c.ts',
    ]);
    expect(await list('', 'src/**/*.ts')).toEqual(['src/b.ts', 'src/deep/.hidden.ts', 'src/deep/c.ts']);
    expect(await list('src', 'deep/')).toEqual(['src/deep/.hidden.ts', 'src/deep/c.ts']);
    expect(await list('src', '!*.ts')).toEqual(['src/d.js']);
    expect(await list('', '*.{js,tsx}')).toEqual(['app/[...slug].tsx', 'src/d.js']);
    expect(await list('a.ts', null)).toEqual(['a.ts']);
    expect(await list('empty', null)).toEqual([]);
    expect(await list('missing/x', null)).toBe('not_found: There is no "missing".');
    expect(await list('a.ts/x', null)).toBe('not_found: "a.ts" is a file or a link, not a folder.');
    expect(await list('link.ts/x', null)).toBe('not_found: "link.ts" is a file or a link, not a folder.');
  });
});
