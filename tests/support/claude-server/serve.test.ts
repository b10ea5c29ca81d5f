import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { plain } from './post.ts';
import type { Block } from './script.ts';

test('run as a script it prints its URL and serves until it is stopped', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'claude-server-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, 'script.json'), JSON.stringify([{ text: 'by hand' }]));
  const child: ChildProcess = spawn(
    process.execPath,
    ['--import', 'tsx', join(import.meta.dirname, 'serve.ts'), join(folder, 'script.json')],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const exited = once(child, 'exit');
  onTestFinished(() => void child.kill('SIGKILL'));
  const [line] = (await once(child.stdout ?? child, 'data')) as [Buffer];
  const response = await fetch(`${String(line).trim()}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': 'k', 'anthropic-version': '2026-10-21', 'content-type': 'application/json' },
    body: JSON.stringify(plain),
  });
  const { content } = (await response.json()) as { content: Block[] };
  expect(content.at(-1)).toEqual({ type: 'text', text: 'by hand' });
  child.kill('SIGTERM');
  expect(await exited).toEqual([0, null]);
});
