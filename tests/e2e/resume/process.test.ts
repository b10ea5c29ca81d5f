import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { startClaudeServer } from '../../support/claude-server/server.ts';
import { makeRepository, temporaryFolder } from '../../support/files/repository.ts';
import { resultOf } from '../../support/published.ts';
import { CLI } from '../../support/runs/cli.ts';
import { patient } from '../../support/runs/recorded-run.ts';
import { call, KEY } from '../../support/runs/scripted-run.ts';
import { validEvents } from '../../support/runs/valid-events.ts';
import { testAtNight } from '../../support/setup/at-night.ts';
import { until } from '../../support/waiting/until.ts';

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

function linesOf(journal: string): string[] {
  return existsSync(journal) ? readFileSync(journal, 'utf8').split('\n').slice(0, -1) : [];
}

testAtNight(
  'a run that is killed in one command six times is not blocked: the model has not repeated itself',
  async () => {
    const { root } = await makeRepository(FILES);
    const runDir = join(temporaryFolder(), 'run');
    const slow = { calls: [call('run_command', { command: 'sleep 5 && echo c > c.txt' })] };
    const server = await startClaudeServer({ turns: patient([slow, { text: 'Done.' }]), apiKey: KEY });
    try {
      const start = ['run', '-m', 'Do it', '--repo', root, '--run-dir', runDir];
      const journal = join(runDir, 'events.jsonl');
      const begun = () => linesOf(journal).filter((line) => line.includes('"type":"tool.started"')).length;
      for (let kills = 0; kills < 6; kills += 1) {
        const child = execa(process.execPath, [CLI, ...(kills === 0 ? start : ['resume', runDir])], {
          ...environment(server.url),
          cwd: root,
          reject: false,
          stdin: 'ignore',
        });
        let isOver = false;
        void child.then(() => {
          isOver = true;
        });
        await until('the command runs', () => isOver || begun() > kills);
        child.kill('SIGKILL');
        await child;
      }
      const { exitCode, stderr } = await execa(process.execPath, [CLI, 'resume', runDir], {
        ...environment(server.url),
        cwd: root,
        reject: false,
      });
      expect(exitCode, stderr).toBe(0);
      const result = resultOf(runDir);
      expect(validEvents(readFileSync(join(runDir, 'events.jsonl'), 'utf8'))).not.toEqual([]);
      expect([result.outcome, result.iterations, result.changedFiles.map(({ path }) => path)]).toEqual([
        'done',
        8,
        ['c.txt'],
      ]);
    } finally {
      await server.close();
    }
  },
);

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
