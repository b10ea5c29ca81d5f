import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { randomCases } from '../../support/setup/sample.ts';
import { until } from '../../support/waiting/until.ts';
import { at, filesBelow, patchOfAll, ScratchCheckout } from './scratch-checkout.ts';

/** A checkout whose every hook, filter and helper leaves a mark when it runs. */
function boobyTrapped(): { scratch: ScratchCheckout; marks: () => string[] } {
  const scratch = new ScratchCheckout();
  const marks = join(scratch.folder, 'marks');
  mkdirSync(marks);
  const trap = (name: string) => {
    const script = join(scratch.folder, `trap-${name}`);
    writeFileSync(script, `#!/bin/sh\ntouch ${marks}/${name}\ncat\n`, { mode: 0o755 });
    return script;
  };
  scratch.write('a.txt', 'a\n');
  scratch.write('b.c', 'b\n');
  scratch.commit();
  scratch.write('.gitattributes', '* filter=x diff=x merge=x\n');
  scratch.git('add', '.gitattributes');
  const arm = (folder: string) => {
    const set = (name: string, value: string) => scratch.gitIn(folder, 'config', name, value);
    set('core.fsmonitor', trap('fsmonitor'));
    set('core.editor', trap('editor'));
    set('core.pager', trap('pager'));
    set('core.sshCommand', trap('ssh'));
    set('core.askPass', trap('askpass'));
    set('core.alternateRefsCommand', trap('alternate-refs'));
    set('diff.external', trap('external-diff'));
    set('filter.x.clean', trap('clean'));
    set('filter.x.smudge', trap('smudge'));
    set('filter.x.process', trap('process'));
    set('filter.x.required', 'true');
    set('diff.x.textconv', trap('textconv'));
    set('diff.x.command', trap('diff-command'));
    set('credential.helper', trap('credential'));
    set('uploadpack.packObjectsHook', trap('pack-objects'));
    mkdirSync(join(folder, '.git/hooks'), { recursive: true });
    for (const hook of ['post-index-change', 'pre-commit', 'reference-transaction', 'post-checkout']) {
      writeFileSync(join(folder, '.git/hooks', hook), `#!/bin/sh\ntouch ${marks}/hook-${hook}\n`, {
        mode: 0o755,
      });
    }
  };
  mkdirSync(join(scratch.root, 'nested'));
  scratch.gitIn(join(scratch.root, 'nested'), 'init', '--quiet');
  writeFileSync(join(scratch.root, 'nested/.gitattributes'), '* filter=x diff=x\n');
  writeFileSync(join(scratch.root, 'nested/n.txt'), 'n\n');
  arm(join(scratch.root, 'nested'));
  arm(scratch.root);
  return { scratch, marks: () => Object.keys(filesBelow(marks)) };
}

describe('a hostile checkout', () => {
  test('none of its programs is run by patchsmith', async () => {
    const { scratch, marks } = boobyTrapped();
    scratch.write('../home/.gitconfig', `[diff]\n\texternal = ${scratch.folder}/trap-external-diff\n`);
    const workspace = await scratch.open();
    scratch.write('a.txt', 'changed\n');
    scratch.write('sub/new.txt', 'new\n');
    scratch.write('sub/.gitattributes', '* filter=x textconv=x\n');
    scratch.remove('b.c');
    await workspace.writeFile(at('by-tool.txt'), Buffer.from('x\n'));
    await workspace.listFiles(at(''), null);
    const patch = await patchOfAll(workspace);
    expect(patch.files.map(({ path }) => path)).toEqual([
      'a.txt',
      'b.c',
      'by-tool.txt',
      'sub/.gitattributes',
      'sub/new.txt',
    ]);
    expect(marks()).toEqual([]);
    // The traps do work: git itself walks into them.
    expect(() => scratch.git('add', '--all')).toThrow();
    expect(marks()).not.toEqual([]);
  });

  test('cannot stop the runner by changing its own .git', async () => {
    const { scratch, marks } = boobyTrapped();
    const workspace = await scratch.open();
    appendFileSync(
      join(scratch.root, '.git/config'),
      '[core]\n\tworktree = /\n\tattributesFile = /etc/passwd\n',
    );
    renameSync(join(scratch.root, '.git/index'), join(scratch.root, '.git/elsewhere'));
    symlinkSync('/etc/passwd', join(scratch.root, '.git/index'));
    writeFileSync(join(scratch.root, '.git/HEAD'), 'ref: refs/heads/\n');
    scratch.write('a.txt', 'changed\n');
    expect((await patchOfAll(workspace)).files.map(({ path }) => path)).toEqual(['a.txt']);
    expect(marks()).toEqual([]);
  });

  test('leads no link outside: links are kept as links, and nothing behind them is read', async () => {
    const scratch = new ScratchCheckout();
    mkdirSync(join(scratch.folder, 'secret'));
    writeFileSync(join(scratch.folder, 'secret/key.txt'), 'classified\n');
    scratch.write('folder/key.txt', 'harmless\n');
    scratch.commit();
    const workspace = await scratch.open();
    scratch.remove('folder');
    scratch.link('folder', '../secret');
    scratch.link('key', '../secret/key.txt');
    scratch.link('.gitignore', '../secret/key.txt');
    const patch = await patchOfAll(workspace);
    expect(patch.files.map(({ path, kind }) => [path, kind])).toEqual([
      ['.gitignore', 'create'],
      ['folder', 'create'],
      ['folder/key.txt', 'delete'],
      ['key', 'create'],
    ]);
    expect(Buffer.from(patch.bytes).toString()).not.toContain('classified');
    expect(await workspace.capture(['folder/key.txt', 'key/x'])).toEqual([]);
    expect(await workspace.listFiles(at('folder'), null)).toEqual({ status: 'ok', paths: ['folder'] });
  });

  test('that swaps a folder for a link during a scan gets nothing from outside into a patch', async () => {
    const scratch = new ScratchCheckout();
    mkdirSync(join(scratch.folder, 'secret'));
    for (let i = 0; i < 20; i += 1) {
      writeFileSync(join(scratch.folder, `secret/${i}`), 'secret\n');
      scratch.write(`real/${i}`, 'harmless\n');
    }
    const workspace = await scratch.open();
    const swap = `const fs = require('node:fs');
      for (;;) {
        try { fs.renameSync('real', 'aside'); fs.symlinkSync('../secret', 'real'); } catch {}
        try { fs.rmSync('real'); fs.renameSync('aside', 'real'); } catch {}
      }`;
    const swapper = spawn(process.execPath, ['-e', swap], { cwd: scratch.root, stdio: 'ignore' });
    onTestFinished(() => void swapper.kill('SIGKILL'));
    const secretBlob = execFileSync('git', ['hash-object', '--stdin'], { input: 'secret\n' })
      .toString()
      .trim();
    for (let round = 0; round < randomCases(60); round += 1) {
      scratch.touchAll('real', 'aside');
      const changes = await workspace.capture('all');
      expect(changes.filter(({ after }) => after?.blob === secretBlob)).toEqual([]);
    }
    expect(existsSync(join(scratch.shadow, 'objects', secretBlob.slice(0, 2), secretBlob.slice(2)))).toBe(
      false,
    );
  });

  test('a file that never stops growing is taken in as it was at some moment', async () => {
    const scratch = new ScratchCheckout();
    const workspace = await scratch.open();
    const grow = `const fs = require('node:fs'); for (;;) fs.appendFileSync('log.txt', 'line\\n');`;
    const grower = spawn(process.execPath, ['-e', grow], { cwd: scratch.root, stdio: 'ignore' });
    onTestFinished(() => void grower.kill('SIGKILL'));
    await until('the command writes', () => existsSync(join(scratch.root, 'log.txt')));
    const first = await workspace.capture('all');
    expect(first.map(({ path }) => path)).toEqual(['log.txt']);
    expect((await workspace.makePatch(first)).status).toBe('proven');
  });
});

const HOLD = `
import fcntl, os, signal, sys, time
signal.signal(signal.SIGIO, lambda *_: None)
fcntl.fcntl(os.open(sys.argv[1], os.O_RDWR), fcntl.F_SETLEASE, fcntl.F_WRLCK)
print('held', flush=True)
time.sleep(60)
`;

test.skipIf(spawnSync('python3', ['--version']).status !== 0)(
  'a file that a program has for itself cannot be read, and stops nothing',
  async () => {
    const scratch = new ScratchCheckout();
    scratch.write('a.txt', 'a\n');
    scratch.commit();
    const workspace = await scratch.open();
    scratch.write('a.txt', 'changed\n');
    scratch.write('b.txt', 'b\n');
    // A server that keeps running can do so, and file servers do.
    const holder = spawn('python3', ['-u', '-c', HOLD, String(scratch.path('a.txt'))], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    onTestFinished(() => void holder.kill('SIGKILL'));
    await once(holder.stdout, 'data');
    expect(await workspace.readFile(at('a.txt'))).toMatchObject({
      status: 'failed',
      reason: 'path_refused',
      message: '"a.txt" cannot be read: a program has it for itself (a lease) (EAGAIN).',
    });
    expect((await workspace.capture('all')).map(({ path }) => path)).toEqual(['b.txt']);
    expect(workspace.notes().hidden).toEqual(['a.txt']);
  },
);
