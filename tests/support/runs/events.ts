import type { LlmTurn, ToolCall } from '../../../src/domain/conversation/conversation.ts';
import { noUsage } from '../../../src/domain/conversation/conversation.ts';
import type { CommandEnd } from '../../../src/domain/conversation/tool.ts';
import type { RunAction, RunStarted } from '../../../src/domain/run/events.ts';
import { advance } from '../../../src/domain/run/fold/advance.ts';
import type { Limits } from '../../../src/domain/run/limits.ts';
import { type RunState, startOf } from '../../../src/domain/run/state.ts';

export const limits: Limits = {
  maxIterations: 25,
  maxTotalTokens: null,
  maxCostUsd: null,
  deadlineMs: 60_000,
  fixRounds: 3,
  maxChangedFiles: 20_000,
  maxChangedBytes: 256 * 1024 ** 2,
  maxChangedFileBytes: 100 * 1024 ** 2,
};

export const started: RunStarted = {
  type: 'run.started',
  followUp: null,
  journalVersion: 1,
  runId: 'r1',
  patchsmith: '0.0.0',
  provider: 'replay',
  model: 'claude-sonnet-5-5',
  sandbox: 'none',
  allowedDomains: [],
  allowedPrivate: [],
  services: [],
  root: '/work',
  workingDirectory: '',
  base: {
    commit: null,
    tree: '4b825dc642cb6eb9a060e54bf8d69288fbee4904',
    branch: 'main',
    dirty: false,
    objectFormat: 'sha1',
  },
  plan: { title: 'p', sha256: 'x', source: { kind: 'message' }, allow: [], protect: [] },
  paths: { allow: [], protect: [] },
  acceptSecrets: [],
  principles: [],
  setup: [],
  setupChanges: [],
  verify: [],
  verifyIn: 'worktree',
  verifyBaseline: null,
  includeForeign: false,
  limits,
  toolSettings: {
    maxOutputChars: 40_000,
    commandTimeoutMs: 60_000,
    maxCommandTimeoutMs: 600_000,
    verifyTimeoutMs: 600_000,
    flakyReruns: 0,
    verifyAll: false,
    tools: null,
    answerSchema: null,
    webFetch: [],
    serverTools: [],
    ownTools: [],
  },
  modelSettings: {
    effort: null,
    maxOutputTokens: 32_000,
    idleTimeoutMs: 120_000,
    rateLimitWaitMs: 310_000,
    outageWaitMs: 300_000,
  },
  fallback: null,
  review: null,
  compaction: { strategy: 'none', at: 80_000 },
  ifNoChanges: 'ok',
  ifDenied: 'report',
  price: null,
  system: 'system',
  tools: [],
  prompt: 'the task',
};

export function turn(part: Partial<LlmTurn> = {}): RunAction {
  const calls = part.calls ?? [];
  const content = [
    ...(part.text ? [{ type: 'text', text: part.text }] : []),
    ...calls.map(({ id, name, input }) => ({ type: 'tool_use', id, name, input })),
  ];
  return {
    type: 'turn.completed',
    turn: {
      content,
      stop: calls.length > 0 ? 'tool_use' : 'end_turn',
      stopDetail: '',
      calls,
      text: '',
      usage: noUsage,
      model: 'claude-sonnet-5-5',
      durationMs: 10,
      ...part,
    },
  };
}

export const call = (id: string, name = 'read_file', input: unknown = { path: 'a' }): ToolCall => ({
  id,
  name,
  input,
});

export const completed = (id: string, text = 'ok'): RunAction => ({
  type: 'tool.completed',
  call: id,
  outcome: { status: 'ok', text },
  durationMs: 1,
});

export const commandEnd = (exitCode: number): CommandEnd => ({
  exitCode,
  signal: null,
  timedOut: false,
  interrupted: false,
  durationMs: 5,
});

/** The state after these actions, one millisecond apart. */
export function stateAfter(actions: readonly RunAction[], start: Partial<RunStarted> = {}): RunState {
  return actions.reduce(
    (state, action) => advance(state, { ...action, seq: state.seq + 1, at: state.now + 1 }),
    startOf({ ...started, ...start, seq: 1, at: 1_000 }),
  );
}
