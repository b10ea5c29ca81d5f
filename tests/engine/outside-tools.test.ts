/** Tools whose results come from outside: a replay does not make their calls again. */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import {
  PROVIDERS,
  type ProviderEntry,
  type ProviderRegistry,
} from '../../src/adapters/providers/registry.ts';
import { replayRun } from '../../src/commands/replay/start.ts';
import { type Settings, withDefaults } from '../../src/config/schema.ts';
import { type LlmTurn, noUsage } from '../../src/domain/conversation/conversation.ts';
import { whole } from '../../src/domain/conversation/excerpt.ts';
import { runPatchsmith } from '../../src/engine/run.ts';
import type { Tool } from '../../src/ports.ts';
import { createTools, type ToolMaker } from '../../src/tools/registry.ts';
import { makeRepository, temporaryFolder } from '../support/files/repository.ts';
import { inputOf, sink } from '../support/runs/from-sources.ts';

const Nothing = z.strictObject({});

/** Tells how often it was asked; the one in the lane of commands writes files as well. */
function outsideTools(asked: string[]): Tool[] {
  const answer = (name: string) => {
    asked.push(name);
    return {
      status: 'ok',
      output: whole(`${name} ${asked.length}`),
    } as const;
  };
  return [
    {
      name: 'ask',
      description: 'Asks.\n',
      schema: Nothing,
      lane: 'read',
      isOutside: true,
      execute: async () => answer('ask'),
    },
    {
      name: 'act',
      description: 'Acts.\n',
      schema: Nothing,
      lane: 'command',
      isOutside: true,
      async execute(_input, { workspace: { root } }) {
        writeFileSync(join(root, 'acted.txt'), `${asked.length}\n`);
        writeFileSync(join(root, 'kept.txt'), 'against the policy\n');
        return answer('act');
      },
    },
  ];
}

const CALLS = [
  { id: 'c1', name: 'ask', input: {} },
  { id: 'c2', name: 'run_command', input: { command: 'echo made > made.txt' } },
  { id: 'c3', name: 'act', input: {} },
];

/** Calls everything at once, then is done. */
function caller(): ProviderEntry {
  return {
    ...PROVIDERS.anthropic,
    isBilled: false,
    create: async ({ model }) => ({
      name: 'caller',
      model,
      async complete({ conversation }) {
        const isFirst = conversation.messages.length === 1;
        const turn: LlmTurn = {
          content: isFirst
            ? CALLS.map((call) => ({ type: 'tool_use', ...call }))
            : [{ type: 'text', text: 'Done.' }],
          stop: isFirst ? 'tool_use' : 'end_turn',
          stopDetail: '',
          calls: isFirst ? CALLS : [],
          text: isFirst ? '' : 'Done.',
          usage: { ...noUsage, input: 10 },
          model,
          durationMs: 1,
        };
        return { status: 'ok', turn };
      },
    }),
  } as ProviderEntry;
}

/** A run to its end, and what plays it again. */
async function recordedRun() {
  const asked: string[] = [];
  const { root } = await makeRepository({ 'a.txt': 'a\n', 'kept.txt': 'kept\n' });
  const runDir = join(temporaryFolder(), 'run');
  const settings: Settings = {
    ...withDefaults({
      repo: root,
      message: 'Do it',
      sandbox: 'off',
      output: 'jsonl',
    }),
    provider: 'caller',
    model: 'caller-1',
    protect: ['kept.txt'],
    runDir,
  };
  const makeTools: ToolMaker = (choice) => [...createTools(choice), ...outsideTools(asked)];
  const providers: ProviderRegistry = { ...PROVIDERS, caller: caller() };
  const base = inputOf(
    settings,
    sink(() => {}),
  );
  const input = { ...base, cwd: root, providers, makeTools };
  await runPatchsmith(input);
  const quiet = { ...settings, repo: null, output: 'none' as const };
  return {
    asked,
    replay() {
      const again = inputOf(
        { ...quiet, runDir: null, repo: root },
        sink(() => {}),
      );
      return replayRun(runDir, { ...again, providers, makeTools });
    },
    rewrite(change: (journal: string) => string) {
      const journal = join(runDir, 'events.jsonl');
      writeFileSync(journal, change(readFileSync(journal, 'utf8')));
    },
  };
}

describe('calls to the outside', () => {
  test('that the recording does not know of are not made either, and the patch is the same', async () => {
    const run = await recordedRun();
    run.rewrite((journal) =>
      journal.replace('"type":"tool.completed","call":"c1"', '"type":"tool.completed","call":"c9"'),
    );
    expect(await run.replay()).toMatchObject({ name: 'done' });
    expect(run.asked).toEqual(['ask', 'act']);
  });
});
