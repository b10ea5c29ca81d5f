import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { at, patchOfAll, ScratchCheckout } from '../scratch-checkout.ts';

describe('ignore rules', () => {
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
