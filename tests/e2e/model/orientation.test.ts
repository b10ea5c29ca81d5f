import { expect, test } from 'vitest';
import { makeRepository } from '../../support/files/repository.ts';
import { call, scriptedRun } from '../../support/runs/scripted-run.ts';

const FILES = {
  'package.json': '{"scripts":{"test":"node --test"}}\n',
  'package-lock.json': '{"lockfileVersion":3,"packages":{}}\n',
  'src/a.js': 'export {};\n',
  'tools/go.mod': 'module x\n',
  'tools/a.py': 'pass\n',
};
const TURNS = [
  { calls: [call('write_file', { path: 'src/b.js', content: 'export {};\n' })] },
  { calls: [call('finish', { status: 'done', summary: 'Added.' })] },
];

/** What stands between the working directory and the budget of the first message. */
async function oriented(files: Record<string, string>, args: readonly string[] = []) {
  const repository = await makeRepository(files);
  const { exitCode, stderr, server } = await scriptedRun({ repository, turns: TURNS, args });
  expect(exitCode, stderr).toBe(0);
  const first = JSON.stringify(server.requests[0]?.body?.messages);
  return /Working directory: .*?\\n\\n(.*?)\\n\\nBudget/.exec(first)?.[1]?.split('\\n');
}

test('the first message says what the repository is, and what commands find', async () => {
  expect(await oriented(FILES)).toEqual([
    'Tracked: 5 files. tools/ 2, src/ 1; package-lock.json, package.json.',
    'Project: Node.js (npm); test: npm test.',
    expect.stringMatching(/^Commands find: git, node, npm, .*\bpython3\b/),
    'Network: none.',
  ]);
});

test('in a folder of the repository it is about that folder', async () => {
  const [tree, project] = (await oriented(FILES, ['--working-directory', 'tools'])) ?? [];
  expect([tree, project]).toEqual([
    'Tracked: 2 files. a.py, go.mod.',
    'Project: Go (go); test: go test ./...; build: go build ./....',
  ]);
});
