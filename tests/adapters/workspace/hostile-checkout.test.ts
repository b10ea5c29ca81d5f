import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { until } from '../../support/waiting/until.ts';
import { at, ScratchCheckout } from './scratch-checkout.ts';

describe('a hostile checkout', () => {
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
