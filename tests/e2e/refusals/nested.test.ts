import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeRepository, temporaryFolder } from '../../support/files/repository.ts';
import { runCli } from '../../support/runs/cli.ts';

const json = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
const call = (levels: number) => `{"calls":[{"name":"x","input":${json(levels)}}]}\n`;
const replayed = (file: string) => ['run', '--provider', 'replay', '--recording', file, '--message', 'x'];

describe.each([600, 5_000])('nested %i levels deep', (levels) => {
  test.each<[string, string, (file: string) => string[]]>([
    ['script.jsonl', call(levels), replayed],
    ['second-line.jsonl', `{"text":"Hello."}\n${call(levels)}`, replayed],
    ['script.yml', `- calls:\n  - name: x\n    input: ${json(levels)}\n`, replayed],
    ['list.yml', `${'- '.repeat(levels)}x\n`, replayed],
    ['recording.jsonl', `{"type":"turn.completed","turn":${json(levels)}}\n`, replayed],
    ['plan.md', `---\nverify: ${json(levels)}\n---\nDo it.\n`, (file) => ['check', '--plan', file]],
    [
      'servers.json',
      `{"mcpServers":${json(levels)}}`,
      (file) => ['check', '--mcp-config', file, '--message', 'x'],
    ],
    ['schema.json', json(levels), (file) => ['check', '--output-schema', file, '--message', 'x']],
  ])('%s is refused', async (name, text, args) => {
    const { root } = await makeRepository({ 'a.txt': 'a\n' });
    const file = join(temporaryFolder(), name);
    writeFileSync(file, text);
    const { exitCode, lastLine } = await runCli(args(file), { cwd: root });
    expect(lastLine).toMatch(/usage_error|provider_error/);
    expect(lastLine).not.toContain('ERR_BUG');
    expect([2, 4]).toContain(exitCode);
  });
});

describe('a megabyte of blank lines', () => {
  const blank = '\n'.repeat(1_000_000);

  test.each([
    ['build.gradle', 'gradle test'],
    ['CMakeLists.txt', 'ctest'],
    ['meson.build', 'meson test'],
    ['go.mod', 'go test ./...'],
  ])('in %s is looked through at once', async (name, verify) => {
    const { root } = await makeRepository({ [name]: blank, 'go.sum': '' });
    const startedAt = Date.now();
    for (const args of [['init'], ['check', '--message', 'x', '--verify', verify]])
      await runCli(args, { cwd: root });
    expect(Date.now() - startedAt).toBeLessThan(30_000);
  });

  test('in a .git file is looked through at once', async () => {
    const root = temporaryFolder();
    writeFileSync(join(root, '.git'), `gitdir: ${blank}x`);
    const startedAt = Date.now();
    const { exitCode } = await runCli(['check', '--message', 'x'], { cwd: root });
    expect(exitCode).toBe(2);
    expect(Date.now() - startedAt).toBeLessThan(15_000);
  });
});
