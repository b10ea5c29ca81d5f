import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inflateSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { makeRepository, temporaryFolder } from '../../support/files/repository.ts';
import { call, done, scriptedRun } from '../../support/runs/scripted-run.ts';

/** No name that would give it away. */
const NAME = 'REGISTRY_LOGIN';
const VALUE = 'a-registry-login-4711';

interface Wanted {
  readonly setup: readonly string[];
  readonly does?: string;
  readonly args?: readonly string[];
  readonly value?: string;
  readonly env?: Readonly<Record<string, string>>;
}

async function run({ setup, does = 'true', args = [], value = VALUE, env: more = {} }: Wanted) {
  const repository = await makeRepository({ 'a.txt': 'a\n', '.gitignore': '.npmrc\n' });
  const plan = join(temporaryFolder(), 'plan.md');
  writeFileSync(plan, `---\nsetup: ${JSON.stringify(setup)}\nverify: ['test -z "$${NAME}"']\n---\nDo it.\n`);
  const turns = [{ calls: [call('run_command', { command: does })] }, done];
  const env = { [NAME]: value, ...more };
  return scriptedRun({ repository, turns, plan, args: ['--setup-env', NAME, ...args], env });
}

/** All files of a run directory, objects of git as they were before they were packed away. */
function contentsOf(folder: string): string {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => {
      const bytes = readFileSync(join(entry.parentPath, entry.name));
      return (bytes[0] === 0x78 ? inflateSync(bytes) : bytes).toString('latin1');
    })
    .join('\n');
}

describe('a variable of --setup-env', () => {
  test('is there for setup commands, for no other command, and in nothing that is written', async () => {
    const { result, events, stderr, stdout, server, runDir } = await run({
      setup: [`echo "token=$${NAME}" > ~/.npmrc; cat ~/.npmrc`, 'ls -A ~'],
      does: `env; cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n'; ls -A ~ /tmp /dev/shm; cat ~/.npmrc; echo looked`,
    });
    expect(result.setup.map(({ output }) => output)).toEqual(['token=***\n', '']);
    expect(
      result.verify.map(({ end }) => end.exitCode),
      stderr,
    ).toEqual([0]);
    const said = JSON.stringify(server.requests);
    expect(said).toContain('looked');
    expect(JSON.stringify(events.filter(({ type }) => type === 'tool.completed'))).not.toContain(`${NAME}=`);
    for (const text of [stderr, stdout, said, contentsOf(runDir)]) expect(text).not.toContain(VALUE);
  });

  test('that setup commands leave in the work tree is hidden from the model and from what is written', async () => {
    const { result, stderr, server, runDir } = await run({
      setup: [`echo "//npm.corp.example/:_authToken=$${NAME}" > .npmrc`],
      does: 'cat .npmrc; base64 .npmrc; xxd -p .npmrc; echo looked',
    });
    expect(result.exitCode, stderr).toBe(0);
    expect(JSON.stringify(server.requests)).toContain('_authToken=***');
    for (const text of [stderr, JSON.stringify(server.requests), contentsOf(runDir)])
      expect(text).not.toContain(VALUE);
  });

  test.each([
    ['that is not set', { value: '' }, 'the variable is not set'],
    ['that is too short to be hidden', { value: 'short' }, 'fewer than 8 characters'],
    ['without a sandbox', { args: ['--sandbox', 'off'] }, 'commands run without a sandbox'],
    [
      'where setup commands run again on what the model wrote',
      { args: ['--verify-in', 'checkout'] },
      '--verify-in worktree',
    ],
    ['that decides which programs are found', { args: ['--setup-env', 'LD_PRELOAD'] }, 'the sandbox decides'],
  ])('%s is refused', async (_what, wanted, reason) => {
    const { exitCode, stderr, server } = await run({ setup: ['true'], ...wanted });
    expect([exitCode, server.requests.length], stderr).toEqual([2, 0]);
    expect(stderr).toContain(reason);
  });
});
