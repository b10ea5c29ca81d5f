import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { randomCases } from '../../support/setup/sample.ts';
import { until } from '../../support/waiting/until.ts';
import { at, ScratchCheckout } from './scratch-checkout.ts';

describe('a hostile checkout', () => {
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
