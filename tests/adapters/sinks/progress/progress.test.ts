import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { Progress } from '../../../../src/adapters/sinks/progress/progress.ts';
import type { ToolCall } from '../../../../src/domain/conversation/conversation.ts';
import type { RunAction } from '../../../../src/domain/run/events.ts';
import { redactorFor } from '../../../../src/domain/secrets/redact.ts';
import { warning } from '../../../../src/domain/warnings/warning.ts';
import { call, commandEnd, completed, started, turn } from '../../../support/runs/events.ts';

const SECRET = 'hunter2-hunter2';

function open({
  quiet = false,
  verbose = false,
  calls = [],
  clock = () => 0,
}: {
  quiet?: boolean;
  verbose?: boolean;
  calls?: ToolCall[];
  clock?: () => number;
} = {}) {
  const stderr = new PassThrough();
  const redact = redactorFor([SECRET]);
  const progress = new Progress({
    stderr,
    terminal: null,
    hasColors: false,
    clock,
    redact,
    quiet,
    verbose,
    verifyBaseline: null,
    calls,
  });
  let seq = 0;
  return {
    progress,
    accept: (...actions: RunAction[]) => {
      for (const action of actions) progress.accept({ ...action, seq: ++seq, at: 0 });
    },
    /** What has been printed since the last time. */
    printed: () => String(stderr.read() ?? ''),
  };
}

const toolStarted = (id: string, name: string, input: unknown): RunAction => ({
  type: 'tool.started',
  call: call(id, name, input),
  iteration: 1,
});

test('a run is printed in lines', () => {
  const { accept, printed, progress } = open();
  accept(
    {
      ...started,
      plan: { title: 'Fix it', sha256: 'x', source: { kind: 'message' }, allow: [], protect: [] },
    },
    turn({ calls: [call('r'), call('c')] }),
    toolStarted('r', 'read_file', { path: 'a.txt' }),
    toolStarted('c', 'run_command', { command: 'npm test\nrm x' }),
    completed('r'),
    {
      type: 'tool.completed',
      call: 'c',
      outcome: { status: 'failed', reason: 'exit_code', text: 'x', command: commandEnd(1) },
      durationMs: 1,
    },
    {
      type: 'verify.completed',
      tree: null,
      reports: [{ command: 'npm test', end: commandEnd(1), output: 'one\ntwo\n' }],
      otherwise: [],
    },
  );
  progress.final('patchsmith: done');
  expect(printed().split('\n')).toEqual([
    'patchsmith 0.0.0 · claude-sonnet-5-5, recorded · sandbox none',
    'plan: Fix it',
    'base: main @ no commit yet',
    '[1] read_file a.txt',
    '[1] run_command npm test rm x → exit code 1 after 0.0 s',
    'verify npm test → exit code 1 after 0.0 s',
    '    | one',
    '    | two',
    'patchsmith: done',
    '',
  ]);
});

test('quiet leaves warnings and the last line', () => {
  const { accept, printed, progress } = open({ quiet: true, verbose: true });
  accept(started, spoken('thinking aloud'));
  progress.warn(warning('WARN_SECOND_LOOK', 'careful'));
  progress.note('nothing');
  progress.final('patchsmith: done');
  expect(printed()).toBe('warning: [WARN_SECOND_LOOK] careful\npatchsmith: done\n');
});

const spoken = (text: string): RunAction => {
  const said = turn();
  return said.type === 'turn.completed' ? { ...said, turn: { ...said.turn, text } } : said;
};
