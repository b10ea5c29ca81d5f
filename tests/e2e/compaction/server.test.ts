import { describe, expect, test } from 'vitest';
import type { ScriptedTurn } from '../../support/claude-server/script.ts';
import { asksForSummary, messagesOf } from '../../support/claude-server/summaries.ts';
import { makeRepository, temporaryFolder } from '../../support/files/repository.ts';
import { COMPACT_AT, compactedRun, partsOf, turnsOf } from '../../support/runs/compacted-run.ts';
import { cliHere } from '../../support/runs/in-process.ts';
import { cutRun } from '../../support/runs/recorded-run.ts';
import { MATRIX_MS } from '../../support/setup/sample.ts';

const TURNS = 30;
const files = partsOf(TURNS);
const runWith = (answers: readonly ScriptedTurn[], repository?: { root: string }) =>
  compactedRun({
    turns: TURNS,
    answers,
    args: ['--compaction', 'server', '--max-iterations', '60'],
    ...(repository === undefined ? {} : { repository }),
  });

describe("the API's own compaction", () => {
  test('takes the place of the messages, with the kept thoughts, and the task comes again', async () => {
    const repository = await makeRepository(files);
    const run = await runWith([], repository);
    expect(run.lastLine, run.stderr).toContain('done (exit 0)');
    // The strict server takes a thought only after what it was made after.
    expect(run.server.requests.flatMap(({ refused }) => refused ?? [])).toEqual([]);
    expect(run.result.compactions.length).toBeGreaterThan(2);
    expect(run.result.compactions[0]).toMatchObject({ how: 'server', why: 'tokens', kept: 6 });

    const requests = run.server.requests.map(({ body, headers }) => ({ body: body ?? {}, headers }));
    const asked = requests.findIndex(({ body }) => asksForSummary(body));
    const task = messagesOf(requests[0]?.body ?? {})[0]?.content[0]?.text;
    const after = messagesOf(requests[asked + 1]?.body ?? {});
    expect(requests[asked]?.headers['anthropic-beta']).toBe('compact-2026-09-04');
    expect(requests[asked]?.body.compaction).toEqual({ type: 'summarize' });
    expect(requests[asked + 1]?.headers['anthropic-beta']).toBe('compact-2026-09-04');
    expect(after[0]).toMatchObject({ role: 'assistant', content: [{ type: 'compaction' }] });
    expect(after[1]).toMatchObject({
      role: 'assistant',
      content: [{ type: 'thinking' }, { type: 'tool_use' }],
    });
    expect(after.at(-1)?.content.at(-1)?.text).toBe(task);
    for (const { body } of requests) {
      expect(JSON.stringify(body.messages).split(JSON.stringify(task))).toHaveLength(2);
      expect(JSON.stringify(body.messages).split('"type":"compaction"').length).toBeLessThanOrEqual(2);
    }
    // What a tool answers after a compaction is seen as well.
    const work = requests.flatMap(({ body }) => (asksForSummary(body) ? [] : [messagesOf(body)]));
    const last = work.slice(1, TURNS + 1).map((messages) => JSON.stringify(messages.at(-1)));
    expect(last.map((text) => /this is part (\d+);/.exec(text)?.[1])).toEqual(
      last.map((_, at) => String(at)),
    );
    expect(last).toHaveLength(TURNS);
    // Its tokens are reported apart from all others, and counted.
    expect(run.result.tokens).toEqual(run.server.bill().usage);

    const replayed = await cliHere(['replay', run.runDir, '--repo', repository.root, '--sandbox', 'off'], {
      cwd: temporaryFolder(),
      env: { PATH: process.env.PATH, HOME: process.env.HOME, XDG_STATE_HOME: temporaryFolder() },
    });
    expect(replayed.stderr).toMatch(/events replayed to the same patch, byte for byte/);
  });

  test.each<[string, ScriptedTurn, string]>([
    ['comes to nothing', {}, 'The API came to no summary.'],
    ['is refused', { stop: 'refusal' }, 'The API answered with refusal instead of a compaction.'],
    [
      'is not accepted',
      { fault: { kind: 'http', status: 400, message: 'no' } },
      '400 invalid_request_error: no.',
    ],
  ])('when it %s, the conversation goes on as it is', async (_, answer, why) => {
    const run = await runWith([answer]);
    expect(run.lastLine, run.stderr).toContain('done (exit 0)');
    expect(run.result).toMatchObject({ failedCompactions: 1 });
    expect(run.result.warnings[0]).toContain(
      `[WARN_NOT_COMPACTED] The conversation could not be compacted and continues as it is: ${why}`,
    );
    expect(run.result.compactions.length).toBeGreaterThan(0);
    expect(run.server.requests.flatMap(({ refused }) => refused ?? [])).toEqual([]);
  });

  test(
    'is known to a run that was killed and carried on',
    async () => {
      const run = await cutRun(files, turnsOf(14), [
        '--compact-at',
        `${COMPACT_AT}`,
        '--compaction',
        'server',
      ]);
      expect(run.result.outcome, run.stderr).toBe('done');
      const at = run.events.find(({ type }) => type === 'context.compacted')?.seq ?? 0;
      for (const seq of [at - 1, at, at + 2]) {
        run.goBackTo(seq);
        const end = await run.resume();
        if (typeof end === 'string') throw new Error(end);
        expect([seq, end.result.outcome, end.patch]).toEqual([seq, 'done', run.patch]);
      }
      expect(run.server.requests.flatMap(({ refused }) => refused ?? [])).toEqual([]);
    },
    MATRIX_MS,
  );

  test.each([
    [
      'claude-sonnet-4-5',
      'anthropic has no compaction of its own for "claude-sonnet-4-5"; use --compaction summarize',
    ],
    ['openai/gpt-5.4', 'openai has no compaction of its own for "gpt-5.4"; use --compaction summarize'],
  ])('is refused with words for %s', async (model, words) => {
    const end = await cliHere(['run', '--compaction', 'server', '--model', model, '-m', 'Do it'], {
      cwd: temporaryFolder(),
      env: { PATH: process.env.PATH, ANTHROPIC_API_KEY: 'sk-ant-x', OPENAI_API_KEY: 'sk-x' },
    });
    expect([end.exitCode, end.stderr]).toEqual([2, expect.stringContaining(words)]);
  });
});
