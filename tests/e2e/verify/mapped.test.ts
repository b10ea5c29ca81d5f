/** A process that has mapped a file into its memory changes it without new times, and what counts is what is in it. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeRepository } from '../../support/files/repository.ts';
import { call, scriptedRun } from '../../support/runs/scripted-run.ts';

const SERVER = readFileSync(join(import.meta.dirname, '../../support/mcp/server.mjs'), 'utf8');
const PROJECT = 'mcp:\n  own: { command: node, args: [server.mjs], required: true }\n';
/** Writes twice to the same page: only the first time does the file system notice. */
const MAPPED = `
import mmap, os, time
file = open('a.txt', 'r+b')
page = mmap.mmap(file.fileno(), 5)
page[0:4] = b'bad!'
open('first.log', 'w').close()
while not os.path.exists('go.log'): time.sleep(0.01)
page[0:4] = b'good'
open('second.log', 'w').close()
time.sleep(60)
`;
const until = (name: string) => `while [ ! -e ${name}.log ]; do sleep 0.01; done; sleep 0.2`;

test('what a server changes in a mapped file after its call is not verified as part of the patch', async () => {
  const repository = await makeRepository({
    ...{ 'a.txt': 'base\n', 'mapped.py': MAPPED, 'server.mjs': SERVER },
    ...{ '.gitignore': '*.log\n', '.patchsmith.yml': PROJECT },
  });
  const start = `setsid /usr/bin/python3 mapped.py > /dev/null 2>&1 < /dev/null & ${until('first')}`;
  const run = await scriptedRun({
    repository,
    args: ['--verify', 'grep -q good a.txt', '--fix-rounds', '0'],
    turns: [
      { calls: [call('own__run', { command: start })] },
      { calls: [call('run_command', { command: `touch go.log; ${until('second')}` })] },
      { text: 'Done.' },
    ],
  });
  expect(run.patch, run.stderr).toContain('+bad!');
  expect(run.result.verify.map(({ end }) => end.exitCode)).toEqual([0]);
  expect(run.result.unverified).toEqual(['a.txt']);
  expect(run.result.unexplained).toEqual([{ path: 'a.txt', by: 'outside' }]);
});
