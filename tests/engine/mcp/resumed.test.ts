/** A run with MCP servers that was killed: what it goes on with. */

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { resumeRun } from '../../../src/commands/resume/resume.ts';
import type { FilledEntries } from '../../../src/domain/mcp/server-spec.ts';
import { copyLive } from '../../support/files/live-copy.ts';
import { makeRepository, temporaryFolder } from '../../support/files/repository.ts';
import { calledRun, SERVER } from '../../support/mcp/called.ts';
import { endOf } from '../../support/runs/recorded-run.ts';

const servers = { own: { command: 'node', args: [SERVER, 'well'] } };
const write = (path: string) => ({ name: 'own__write', input: { path, text: `${path}\n` } });

/** As a SIGKILL would have left it right after the line with these words, as often as it is resumed. */
async function killedAt(words: string) {
  const { root } = await makeRepository({ 'a.txt': 'a\n' });
  const copies = temporaryFolder();
  const runDir = join(temporaryFolder(), 'run');
  const copy = (from: string, to: string) => {
    rmSync(to, { recursive: true, force: true });
    copyLive(from, to);
  };
  const run = await calledRun({
    servers,
    settings: { repo: root, runDir },
    turns: [[write('b.txt')], [{ name: 'own__sleep', input: { seconds: 0.1 } }], [write('c.txt')]],
    onLine(line) {
      if (!line.includes(words)) return;
      copy(root, join(copies, 'root'));
      copy(runDir, join(copies, 'run'));
    },
  });
  const settings = { ...run.input.settings, repo: null, output: 'none' as const };
  return {
    entries: run.input.servers,
    async resume(again: FilledEntries | undefined = run.input.servers) {
      copy(join(copies, 'root'), root);
      copy(join(copies, 'run'), runDir);
      const input = { ...run.input, cwd: root, settings, ...(again === undefined ? {} : { servers: again }) };
      const resumed = await resumeRun(input, { run: runDir, acceptChanges: false, given: [], lacking: [] });
      return { resumed, end: endOf(runDir, '') };
    },
  };
}

const betweenCalls = killedAt('"tool.completed","call":"t0c0"');

test('it continues with the same tools, and counts the calls of both parts', async () => {
  const killed = await betweenCalls;
  const { resumed, end } = await killed.resume();
  expect(resumed).toMatchObject({ status: 'printed', outcome: { name: 'done' } });
  expect(end.result.changedFiles.map(({ path }) => path)).toEqual(['b.txt', 'c.txt']);
  expect(end.result.mcp).toMatchObject([{ name: 'own', status: 'connected' }]);
});

test('a call that was in progress is not made again, and what it may have done is not known', async () => {
  const killed = await killedAt('"tool.started","call":{"id":"t1c0"');
  const { end } = await killed.resume();
  const said = end.events.find((event) => event.type === 'tool.completed' && event.call === 't1c0');
  expect(said).toMatchObject({
    outcome: { reason: 'interrupted', text: expect.stringContaining('it is unknown how far it got') },
  });
  expect(end.result.mcp).toMatchObject([{ status: 'connected' }]);
});

test('a run directory starts no server: resume has to name it again', async () => {
  const killed = await betweenCalls;
  const { resumed } = await killed.resume({});
  expect(resumed).toMatchObject({
    outcome: {
      name: 'usage_error',
      reason:
        'The run had the MCP server own, which a run directory cannot start. Repeat its --mcp or --mcp-config.',
    },
  });
});

test('a tool that its server no longer offers is reported as gone', async () => {
  const killed = await betweenCalls;
  const { own } = killed.entries ?? {};
  if (own?.by !== 'stdio') throw new Error('No program is configured.');
  const { end } = await killed.resume({ own: { ...own, args: [SERVER, 'greedy'] } });
  expect(end.result.warnings.join('\n')).toContain('[WARN_MCP_TOOLS_GONE] ');
});
