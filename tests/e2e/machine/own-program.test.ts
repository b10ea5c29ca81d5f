/** The program that contains commands must be out of their reach. */

import { cpSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { makeRepository, temporaryFolder } from '../../support/files/repository.ts';
import { CLI } from '../../support/runs/cli.ts';
import { KEY, scriptedRun } from '../../support/runs/scripted-run.ts';

test.each(['required', 'off'])(
  'a copy in the work tree runs nothing with --sandbox %s, and says why',
  async (mode) => {
    const repository = await makeRepository({ 'a.txt': 'a\n', '.gitignore': 'node_modules/\n' });
    const own = join(repository.root, 'node_modules/patchsmith/dist');
    cpSync(dirname(CLI), own, { recursive: true });
    const { exitCode, lastLine, server } = await scriptedRun({
      repository,
      cli: join(own, 'cli.js'),
      args: ['--sandbox', mode],
      turns: [{ text: 'Done.' }],
    });
    expect([exitCode, server.requests.length]).toEqual([2, 0]);
    expect(lastLine).toBe(
      `patchsmith: usage_error (exit 2) [ERR_OWN_PROGRAM]: patchsmith itself is in ${repository.root} (${own}), where commands could change it. ` +
        'Install it elsewhere, for example with npm install --global patchsmith.',
    );
  },
);

test('its folder is not mounted writable', async () => {
  const { root } = await makeRepository({ 'a.txt': 'a\n' });
  const installed = temporaryFolder();
  const own = join(installed, 'lib/dist');
  cpSync(dirname(CLI), own, { recursive: true });
  const mount = ['--mount', `${installed}:rw`];
  const { exitCode, stderr } = await execa(
    process.execPath,
    [join(own, 'cli.js'), 'run', '--repo', root, '-m', 'x', '--sandbox', 'required', ...mount],
    {
      env: { PATH: process.env.PATH, HOME: process.env.HOME, ANTHROPIC_API_KEY: KEY },
      extendEnv: false,
      reject: false,
    },
  );
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining(`patchsmith itself is in ${installed} (`)]);
});

test('a node in the work tree, which commands could replace, runs nothing', async () => {
  const repository = await makeRepository({ 'a.txt': 'a\n', '.gitignore': 'node_modules/\n' });
  const node = join(repository.root, 'node_modules/node/bin/node');
  cpSync(process.execPath, node);
  const { exitCode, lastLine, server } = await scriptedRun({
    repository,
    wrap: ['sh', '-c', 'shift; exec "$0" "$@"', node],
    args: ['--sandbox', 'required'],
    turns: [{ text: 'Done.' }],
  });
  expect([exitCode, server.requests.length]).toEqual([2, 0]);
  expect(lastLine).toContain(
    `[ERR_OWN_PROGRAM]: node, which patchsmith starts, is in ${repository.root} (${node})`,
  );
});
