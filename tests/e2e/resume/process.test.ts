import { execa } from 'execa';
import { expect, test } from 'vitest';
import { startClaudeServer } from '../../support/claude-server/server.ts';
import { makeRepository, temporaryFolder } from '../../support/files/repository.ts';
import { resultOf } from '../../support/published.ts';
import { CLI } from '../../support/runs/cli.ts';
import { patient } from '../../support/runs/recorded-run.ts';
import { call, KEY } from '../../support/runs/scripted-run.ts';

const FILES = { 'a.txt': 'one\ntwo\n', 'b.txt': 'b\n' };
const edit = { calls: [call('edit_file', { path: 'a.txt', find: 'two', replace: 'zwei' })] };
const command = { calls: [call('run_command', { command: 'echo c > c.txt; rm -f b.txt' })] };

function environment(baseUrl: string) {
  const { PATH, HOME } = process.env;
  return {
    extendEnv: false,
    env: { PATH, HOME, ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: baseUrl },
  } as const;
}

test('a run that ended on a full disk continues when there is room again', async () => {
  const { root } = await makeRepository(FILES);
  const folder = temporaryFolder();
  const disk = temporaryFolder();
  const long = { ...edit, text: 'x'.repeat(3_000_000) };
  const server = await startClaudeServer({ turns: patient([command, long, { text: 'Done.' }]), apiKey: KEY });
  try {
    const small = ['--dev-bind', '/', '/', '--size', String(12 * 1024 * 1024), '--tmpfs', disk];
    const script = `
      head -c $((10 * 1024 * 1024)) /dev/zero > "$DISK/filler"
      "$NODE" "$CLI" run -m 'Do it' --repo "$ROOT" --run-dir "$DISK/run" --sandbox off
      echo "first $?"
      rm "$DISK/filler"
      cd "$ROOT" && "$NODE" "$CLI" resume "$DISK/run" --sandbox off --output json > "$OUT/result.json"
      echo "second $?"`;
    const { env } = environment(server.url);
    const places = { DISK: disk, NODE: process.execPath, CLI, ROOT: root, OUT: folder };
    const ran = await execa('bwrap', [...small, 'sh', '-c', script], {
      extendEnv: false,
      env: { ...env, ...places },
      reject: false,
    });
    expect(ran.stdout.split('\n'), ran.stderr).toEqual(['first 1', 'second 0']);
    expect(ran.stderr).toContain('ENOSPC');
    const result = resultOf(folder);
    expect([result.outcome, result.changedFiles.map(({ path }) => path)]).toEqual([
      'done',
      ['a.txt', 'b.txt', 'c.txt'],
    ]);
  } finally {
    await server.close();
  }
});
