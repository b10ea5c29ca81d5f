/** A run that is killed at any moment, and perhaps resumed and killed again, is undone byte for byte, and bills what it was billed. */

import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { startClaudeServer } from '../../support/claude-server/server.ts';
import { makeRepository, temporaryFolder } from '../../support/files/repository.ts';
import { treeOf } from '../../support/files/tree.ts';
import { CLI } from '../../support/runs/cli.ts';
import { patient } from '../../support/runs/recorded-run.ts';
import { call, KEY } from '../../support/runs/scripted-run.ts';
import { IS_FULL } from '../../support/setup/sample.ts';

const KILLS = IS_FULL ? 45 : 2;

const command = (text: string) => ({
  calls: [call('run_command', { command: text })],
  ...{ gapMs: 5, text: 'words '.repeat(20) },
});
const TURNS = [
  { calls: [call('write_file', { path: 'a.txt', content: 'two\n' })] },
  command('git clean -fdxq; rm -rf dir; echo new > new.txt; chmod +x a.txt'),
  command('echo d > dir; rm link; echo f > link; sleep 0.2'),
  command('echo x >> b.txt; sleep 0.1; head -c 3000 /dev/urandom > work.lfs'),
  { text: 'Done.' },
];

async function repositoryWithWork() {
  const repository = await makeRepository({
    '.gitignore': '.env\nlocal/\n',
    '.gitattributes': '*.lfs filter=lfs -text\n*.crlf text\n',
    'a.txt': 'one\n',
    'b.txt': 'b\n',
    'c.crlf': 'one\r\n',
    'dir/c.txt': 'c\n',
  });
  const { root } = repository;
  repository.write('b.txt', 'dirty\n');
  repository.write('c.crlf', 'one\r\ntwo\r\n');
  repository.write('untracked.txt', 'mine\n');
  repository.write('work.lfs', Buffer.alloc(3000, 5));
  repository.write('.env', 'KEY=1\n', 0o600);
  repository.write('local/x/y', 'y\n');
  symlinkSync('a.txt', join(root, 'link'));
  mkdirSync(join(root, 'empty'));
  return root;
}

test('killed at random moments, a run is undone to the byte', async () => {
  let kills = 0;
  while (kills < KILLS) {
    const root = await repositoryWithWork();
    const before = treeOf(root);
    const runDir = join(temporaryFolder(), 'run');
    const server = await startClaudeServer({ apiKey: KEY, turns: patient(TURNS) });
    const env = {
      ...{ PATH: process.env.PATH, HOME: temporaryFolder() },
      ...{ ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: server.url },
    };
    const cli = (...args: string[]) =>
      execa(process.execPath, [CLI, ...args], {
        ...{ cwd: root, env, extendEnv: false },
        ...{ reject: false, stdin: 'ignore' },
      });
    try {
      const commands = [
        '--setup',
        'rm -f untracked.txt c.crlf; sleep 0.1',
        '--verify',
        'echo v > verified.txt',
      ];
      for (let attempt = 0; attempt < 3; attempt += 1) {
        const child = cli(
          ...(attempt === 0
            ? ['run', '-m', 'x', '--run-dir', runDir, ...commands]
            : ['resume', runDir, '--accept-changes']),
        );
        let isOver = false;
        child.then(() => {
          isOver = true;
        });
        await Promise.race([child, sleep(200 + Math.random() * 3_000)]);
        if (!isOver) kills += 1;
        child.kill('SIGKILL');
        await child;
        if (isOver || Math.random() < 0.5) break;
      }
      const { stdout } = await cli('show', runDir, '--json');
      const { usd } = server.bill();
      if (stdout !== '') {
        const { costUsd, estimated } = JSON.parse(stdout).result;
        expect(costUsd).toBeGreaterThanOrEqual((usd ?? Number.NaN) - 1e-9);
        if (!estimated) expect(costUsd).toBeCloseTo(usd ?? Number.NaN, 9);
      } else expect(usd).toBe(0);
      let end = await cli('undo', runDir);
      // In the middle of a command, only resume knows what that has changed.
      if (end.stderr.includes('patchsmith resume records the rest')) {
        await cli('resume', runDir, '--accept-changes');
        end = await cli('undo', runDir);
      }
      const isUnbegun = /ERR_RUN_NOT_FOUND|before it started to work/.test(end.stderr);
      if (!isUnbegun) expect(end.exitCode, end.stderr).toBe(0);
      expect(treeOf(root), end.stderr).toEqual(before);
    } finally {
      await server.close();
    }
  }
});
