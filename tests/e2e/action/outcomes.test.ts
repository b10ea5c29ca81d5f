import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { RunResult } from '../../../src/library.ts';
import type { Script } from '../../support/claude-server/script.ts';
import { type ClaudeServer, startClaudeServer } from '../../support/claude-server/server.ts';
import { makeRepository } from '../../support/files/repository.ts';
import { type ActionEnd, type ActionRun, runAction } from '../../support/jobs/action-runner.ts';
import { isRunning, killIfThere, oddSeconds } from '../../support/machine/processes.ts';
import { resultIn } from '../../support/published.ts';
import { call, KEY } from '../../support/runs/scripted-run.ts';
import { sampled } from '../../support/setup/sample.ts';
import { until } from '../../support/waiting/until.ts';

const edit = { calls: [call('write_file', { path: 'a.txt', content: 'new\n' })] };
const done = { text: 'All done.' };
const FILES = { 'a.txt': 'old\n', 'kept.txt': 'kept\n' };

type Finished = ActionEnd & { server: ClaudeServer; root: string };

async function run(
  turns: Script,
  inputs: Record<string, string> = {},
  part: Partial<ActionRun> & { files?: Record<string, string> } = {},
): Promise<Finished> {
  const { root } = await makeRepository(part.files ?? FILES);
  const server = await startClaudeServer({ turns, apiKey: KEY });
  try {
    const given = { plan: 'Do it', 'api-key': KEY, 'base-url': server.url, ...inputs };
    return { ...(await runAction({ workspace: root, ...part, inputs: given })), server, root };
  } finally {
    await server.close();
  }
}

/** Exit code, outputs, result, summary and last line say the same; the key is nowhere. */
function expectOutcome(finished: Finished, outcome: string, exitCode: number): RunResult | null {
  const { outputs, summary, lastLine, post } = finished;
  expect(finished.exitCode, finished.stderr).toBe(exitCode);
  expect([outputs.outcome, outputs['exit-code']]).toEqual([outcome, String(exitCode)]);
  const code = outputs['error-code'];
  expect(lastLine).toMatch(`patchsmith: ${outcome} (exit ${exitCode})${code === '' ? '' : ` [${code}]`}: `);
  expect(summary).toMatch(`### patchsmith: ${outcome} (exit ${exitCode})`);
  expect([post.exitCode, post.stdout, post.stderr, post.summary, post.outputs]).toEqual([0, '', '', '', {}]);
  expect(finished.masks).toEqual([KEY]);
  const said = [
    finished.stderr,
    finished.stdout.replace(`::add-mask::${KEY}\n`, ''),
    summary,
    ...Object.values(outputs),
  ];
  expect(said.join()).not.toContain(KEY);
  if (outputs['result-file'] === undefined) return null;
  const result = resultIn(readFileSync(outputs['result-file'], 'utf8'));
  expect([result.outcome, result.exitCode, result.status]).toEqual([outcome, exitCode, 'finished']);
  return result;
}

describe('every row of the outcome table, through the action', () => {
  test('0 done: with all that later steps may want to know', async () => {
    const finished = await run([edit, done], { verify: 'grep -q new a.txt' });
    const result = expectOutcome(finished, 'done', 0);
    const { outputs, temp, root } = finished;
    const runDir = join(temp, 'patchsmith', result?.runId ?? '');
    expect(outputs).toEqual({
      outcome: 'done',
      'exit-code': '0',
      'error-code': '',
      answer: '',
      'run-dir': runDir,
      'result-file': join(runDir, 'result.json'),
      'events-file': join(runDir, 'events.jsonl'),
      'patch-file': join(runDir, 'changes.patch'),
      'patch-sha256': result?.patch?.sha256,
      'base-sha': result?.baseSha,
      'tree-sha': result?.treeSha,
      'changed-files': '[{"path":"a.txt","kind":"modify","additions":1,"deletions":1}]',
      summary: result?.summary,
      verification: 'passed',
      denied: '[]',
      iterations: '2',
      'input-tokens': expect.stringMatching(/^[1-9]\d*$/),
      'output-tokens': expect.stringMatching(/^[1-9]\d*$/),
      'cost-usd': expect.stringMatching(/^0\.\d{6}$/),
      estimated: 'false',
      resumable: 'false',
    });
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('new\n');
    expect(annotations(finished)).toEqual([]);
    expect(finished.stderr).toMatch(
      /^run \S+ in \S+\n(?:.+\n){3}::group::patchsmith run\n.*\n::endgroup::\n {2}M a\.txt/s,
    );
    expect(readFileSync(outputs['patch-file'] ?? '', 'utf8')).toContain('-old\n+new\n');
  });

  test('2 usage_error: every problem is reported', async () => {
    const finished = await run([], { 'max-iterations': 'many', deadline: 'soon' });
    expectOutcome(finished, 'usage_error', 2);
    expect(finished.stderr).toContain('--max-iterations: expected a whole number of at least 1, got "many"');
    expect(finished.summary).toContain('--deadline: expected a duration');
    expect(annotations(finished)).toEqual([
      expect.stringMatching(/^::error title=usage_error \[ERR_SEVERAL_PROBLEMS\]::.*--deadline/),
    ]);
    expect(finished.stderr).not.toContain('::group::');
    expect(finished.server.requests).toHaveLength(0);
    expect(finished.outputs).toMatchObject({
      outcome: 'usage_error',
      'exit-code': '2',
      'error-code': 'ERR_SEVERAL_PROBLEMS',
    });
    expect(JSON.parse(readFileSync(finished.outputs['result-file'] ?? '', 'utf8')).reason).toContain(
      '--deadline: expected a duration',
    );
  });

  test.each([
    ['a plan', { plan: '' }, 'there is no plan: set one of the inputs plan, plan-file'],
    ['a key', { 'api-key': '' }, 'there is no key of the Claude API: api-key is empty'],
  ])('2 usage_error: without %s the input is named that would give it', async (_, inputs, says) => {
    const finished = await run([], inputs);
    expect([finished.exitCode, finished.outputs.outcome], finished.stderr).toEqual([2, 'usage_error']);
    expect(finished.lastLine).toContain(says);
    expect(finished.stderr).not.toContain('--');
  });

  test('2 usage_error: an input that does not exist is named where the publishing job looks', async () => {
    const finished = await run([], { protct: 'docs/**' });
    const result = expectOutcome(finished, 'usage_error', 2);
    expect(result?.reason).toBe('protct: there is no such input; the nearest is protect');
    expect(finished.server.requests).toHaveLength(0);
  });

  test('8 policy_violation: a patch that adds a secret is withheld, and is not an output', async () => {
    const token = `ghp_${'0123456789abcdefghijABCDEFGHIJ012345'}`;
    const leak = { calls: [call('write_file', { path: 'a.txt', content: `token = ${token}\n` })] };
    const finished = await run([leak, done]);
    expectOutcome(finished, 'policy_violation', 8);
    expect(finished.outputs['patch-file']).toBe('');
    expect(finished.summary + finished.stderr).not.toContain(token);
  });

  // A container that may make no namespaces, as the kernel sees it.
  test('10 sandbox_unavailable: under a runner it is required', async () => {
    const wrap = ['bwrap', '--unshare-user', '--disable-userns', '--dev-bind', '/', '/', '--proc', '/proc'];
    const finished = await run([], {}, { wrap });
    expectOutcome(finished, 'sandbox_unavailable', 10);
    expect(finished.stderr).not.toContain('::group::');
  });

  test.each(
    sampled(
      [
        ['SIGINT', 130],
        ['SIGTERM', 143],
      ] as const,
      () => 'signal',
      1,
    ),
  )(
    '%s interrupted, in a command that ignores it: patch, result and outputs are there',
    async (signal, exitCode) => {
      const marker = oddSeconds();
      const finished = await run(
        [edit, sleep(marker)],
        {},
        {
          during: async ({ pid }) => {
            await until('the command runs', () => isRunning(marker));
            process.kill(pid, signal);
          },
        },
      );
      expectOutcome(finished, 'interrupted', exitCode);
      expect(readFileSync(finished.outputs['patch-file'] ?? '', 'utf8')).toContain('+new');
      expect(isRunning(marker)).toBe(false);
    },
  );
});

test('what model, commands and files print is not taken for a workflow command, and sets no output', async () => {
  const hostile = [
    '::endgroup::',
    '::set-output name=outcome::done',
    '::add-mask::a',
    '##[error]x',
    '::error::y',
  ];
  const text = `${hostile.join('\n')}\noutcome=forged\noutcome<<EOF\nforged\nEOF\n`;
  const turns = [
    { text, calls: [call('write_file', { path: 'a.txt', content: text })] },
    { text, calls: [call('finish', { status: 'blocked', summary: text })] },
  ];
  const finished = await run(turns, { verbose: 'true', verify: `cat a.txt; exit 1` });
  expectOutcome(finished, 'blocked', 5);
  const commands = `${finished.stdout}\n${finished.stderr}`
    .split('\n')
    .filter((line) => /^\s*::|##\[/.test(line));
  expect(commands).toEqual([
    `::add-mask::${KEY}`,
    expect.stringMatching(/^::error title=blocked \[ERR_BLOCKED\]::/),
    '::group::patchsmith run',
    '::endgroup::',
  ]);
});

describe('a step that is killed', () => {
  test('leaves an outcome, the run directory, and a post step that says how to carry on', async () => {
    const marker = oddSeconds();
    const finished = await run(
      [edit, sleep(marker)],
      {},
      {
        during: async ({ pid, outputs }) => {
          await until('the command runs', () => isRunning(marker));
          expect(outputs().outcome).toBe('internal_error');
          process.kill(pid, 'SIGKILL');
        },
      },
    );
    const { outputs, post } = finished;
    const runDir = outputs['run-dir'] ?? '';
    expect(finished.signal).toBe('SIGKILL');
    expect(outputs).toEqual({
      outcome: 'internal_error',
      'exit-code': '1',
      'error-code': 'ERR_PROCESS_DIED',
      'run-dir': runDir,
      'result-file': join(runDir, 'result.json'),
      'events-file': join(runDir, 'events.jsonl'),
      resumable: 'true',
    });
    expect(finished.summary).toBe('');
    expect(post.exitCode).toBe(0);
    expect(post.summary).toContain('killed');
    expect(post.summary).toContain(`patchsmith resume ${runDir}`);
    expect(post.stderr).toContain(`patchsmith resume ${runDir}`);
  });

  test('after a cancel says that it was interrupted', async () => {
    const finished = await run(
      [{ fault: { kind: 'stall', afterEvents: 1 } }],
      {},
      {
        during: async ({ pid, outputs }) => {
          await until('there is a run directory', () => outputs()['run-dir'] !== undefined);
          process.kill(pid, 'SIGINT');
          await until('the signal has arrived', () => outputs().outcome !== 'internal_error');
          // A run without a command under way can be faster than whoever kills it.
          killIfThere(pid);
        },
      },
    );
    expect(finished.outputs).toMatchObject({
      outcome: 'interrupted',
      'exit-code': '130',
      'error-code': 'ERR_INTERRUPTED',
    });
  });
});

const sleep = (marker: string) => ({
  calls: [call('run_command', { command: `trap '' TERM; sleep ${marker}` })],
});

/** The lines that a runner shows at files and in its overview. */
function annotations({ stdout }: Finished): string[] {
  return stdout.split('\n').filter((line) => /^::(?:error|warning|notice)/.test(line));
}
