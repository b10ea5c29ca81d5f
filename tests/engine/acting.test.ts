import { expect, test } from 'vitest';
import type { Activity } from '../../src/adapters/sinks/progress/under-way.ts';
import type { Conversation } from '../../src/domain/conversation/conversation.ts';
import { type ActingPorts, acting } from '../../src/engine/acting.ts';
import type { Workspace } from '../../src/ports/workspace.ts';
import type { TurnProgress } from '../../src/ports.ts';

/** What somebody who watches is told, in its order. */
function watching() {
  const said: string[] = [];
  const begin = ({ label, timeoutMs }: Activity) => {
    said.push(`${label}${timeoutMs === undefined ? '' : ` (${timeoutMs})`}`);
    return {
      received: (bytes: number) => void said.push(`  ${bytes} bytes`),
      waits: ({ attempt }: { attempt: number }) => void said.push(`  attempt ${attempt}`),
      end: () => void said.push(`end of ${label}`),
    };
  };
  const during = async <T>(activity: Activity, work: () => Promise<T>) => {
    const underWay = begin(activity);
    return work().finally(underWay.end);
  };
  return { said, progress: { begin, during } };
}

const end = { exitCode: 0, signal: null, timedOut: false, interrupted: false, durationMs: 1 };
const run = async () => ({ end, output: { head: '', omitted: 0, tail: '' } });
const workspace = {
  root: '/repo',
  capture: async () => [],
} as unknown as Workspace;

const ports: ActingPorts = {
  tools: [],
  provider: {
    name: 'p',
    model: 'm',
    async complete({ onProgress }) {
      onProgress({ type: 'received', bytes: 10 });
      onProgress({
        type: 'retry',
        retry: { attempt: 2, kind: 'outage', status: 529, cause: 'x', waitMs: 1 },
      });
      onProgress({ type: 'text', text: 'Hm.' });
      return { status: 'interrupted' };
    },
  },
  sandbox: { level: 'none', limits: {} as ActingPorts['sandbox']['limits'], run, close: async () => {} },
  verifyPlace: {
    kind: 'worktree',
    setup: [],
    open: async () => ({ status: 'ok', sandbox: { run }, close: async () => {}, otherwise: () => [] }),
    warnings: () => [],
  },
  workspace,
};

test('progress shows how much has arrived and in which attempt; the run gets everything', async () => {
  const { said, progress } = watching();
  const heard: TurnProgress['type'][] = [];
  await acting(ports, { progress, sync() {} }).provider.complete({
    conversation: {} as Conversation,
    signal: new AbortController().signal,
    answerTokens: () => 1,
    onProgress: ({ type }) => heard.push(type),
  });
  expect(said).toEqual([
    'waiting for the model',
    '  10 bytes',
    '  attempt 2',
    'end of waiting for the model',
  ]);
  expect(heard).toEqual(['received', 'retry', 'text']);
});

test('commands are shown with the time they have, and looks at the whole work tree', async () => {
  const { said, progress } = watching();
  const shown = acting(ports, { progress, sync() {} });
  const { signal } = new AbortController();
  await shown.workspace.capture('all');
  await shown.sandbox.run({ script: 'npm test', timeoutMs: 60_000, signal });
  await shown.workspace.capture('after_commands');
  const place = await shown.verifyPlace.open([], signal);
  if (place.status === 'ok') await place.sandbox.run({ script: 'npm run lint', timeoutMs: 600_000, signal });
  await shown.workspace.capture(['a.txt']);
  expect(said.filter((line) => !line.startsWith('end of'))).toEqual([
    'looking for changes in the work tree',
    'run_command npm test (60000)',
    'looking for changes in the work tree',
    'preparing the verify commands',
    'verify npm run lint (600000)',
  ]);
  expect(said.filter((line) => line.startsWith('end of')).length).toBe(5);
});

test('what fails has ended, too', async () => {
  const { said, progress } = watching();
  const broken = { ...ports.sandbox, run: () => Promise.reject(new Error('broken')) };
  const shown = acting({ ...ports, sandbox: broken }, { progress, sync() {} });
  const command = { script: 'x', timeoutMs: 1, signal: new AbortController().signal };
  await expect(shown.sandbox.run(command)).rejects.toThrow('broken');
  expect(said).toEqual(['run_command x (1)', 'end of run_command x']);
});

test('nothing is done unless the journal is written first', async () => {
  const { progress } = watching();
  const full = () => {
    throw new Error('no space');
  };
  const never = () => Promise.reject(new Error('it was done'));
  const outside = { isOutside: true, execute: never } as unknown as ActingPorts['tools'][number];
  const acts = acting(
    {
      tools: [outside],
      provider: { ...ports.provider, complete: never },
      sandbox: { ...ports.sandbox, run: never },
      verifyPlace: { ...ports.verifyPlace, open: never },
      workspace: { ...workspace, writeFile: never, putBack: never },
    },
    { progress, sync: full },
  );
  const anything = {} as never;
  for (const act of [
    () => acts.provider.complete(anything),
    () => acts.sandbox.run(anything),
    () => acts.verifyPlace.open([], anything),
    () => acts.workspace.writeFile(anything, anything),
    () => acts.workspace.putBack([], []),
    () => acts.tools[0]?.execute(anything, anything),
  ])
    await expect(act()).rejects.toThrow('no space');
});
