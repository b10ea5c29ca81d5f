/** Tools whose results come from outside: a replay does not make their calls again, and a resumed run makes none twice. */

import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import {
  PROVIDERS,
  type ProviderEntry,
  type ProviderRegistry,
} from '../../src/adapters/providers/registry.ts';
import { replayRun } from '../../src/commands/replay/start.ts';
import { resumeRun } from '../../src/commands/resume/resume.ts';
import { type Settings, withDefaults } from '../../src/config/schema.ts';
import { type LlmTurn, noUsage } from '../../src/domain/conversation/conversation.ts';
import { whole } from '../../src/domain/conversation/excerpt.ts';
import { runPatchsmith } from '../../src/engine/run.ts';
import type { Tool } from '../../src/ports.ts';
import { createTools, type ToolMaker } from '../../src/tools/registry.ts';
import { copyLive } from '../support/files/live-copy.ts';
import { makeRepository, temporaryFolder } from '../support/files/repository.ts';
import { inputOf, sink } from '../support/runs/from-sources.ts';
import { endOf } from '../support/runs/recorded-run.ts';

const SECRET = 'hunter2-of-the-service';
const Nothing = z.strictObject({});

/** Tells how often it was asked, with a secret; the one in the lane of commands writes files as well. */
function outsideTools(asked: string[]): Tool[] {
  const answer = (name: string) => {
    asked.push(name);
    return {
      status: 'ok',
      output: whole(`${name} ${asked.length}, ${SECRET} ${'x'.repeat(3_000)}`),
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

/** Calls everything at once, then is done; what it was told comes last. */
function entryOf(said: unknown[]): ProviderEntry {
  return {
    ...PROVIDERS.anthropic,
    isBilled: false,
    create: async ({ model }) => ({
      name: 'caller',
      model,
      async complete({ conversation }) {
        const isFirst = conversation.messages.length === 1;
        said.splice(0, said.length, ...(conversation.messages.at(-1)?.content ?? []));
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

/** A run to its end, with a copy of everything as it was when an event of this kind was written. */
async function recordedRun(copyAt = '"run.stopped"') {
  const asked: string[] = [];
  const said: unknown[] = [];
  const { root } = await makeRepository({ 'a.txt': 'a\n', 'kept.txt': 'kept\n' });
  const folder = temporaryFolder();
  const runDir = join(folder, 'run');
  const copies = { [root]: join(folder, 'root.copy'), [runDir]: join(folder, 'run.copy') };
  const copy = () => {
    for (const [from, to] of Object.entries(copies)) {
      rmSync(to, { recursive: true, force: true });
      copyLive(from, to);
    }
  };
  const settings: Settings = {
    ...withDefaults({
      repo: root,
      message: 'Do it',
      sandbox: 'off',
      output: 'jsonl',
      maxToolOutput: 2_000,
    }),
    provider: 'caller',
    model: 'caller-1',
    protect: ['kept.txt'],
    runDir,
  };
  const makeTools: ToolMaker = (choice) => [...createTools(choice), ...outsideTools(asked)];
  const providers: ProviderRegistry = { ...PROVIDERS, caller: entryOf(said) };
  const stdout = sink((line) => line.includes(copyAt) && copy());
  const base = inputOf(settings, stdout);
  const input = { ...base, env: { ...base.env, SERVICE_TOKEN: SECRET }, cwd: root, providers, makeTools };
  const outcome = await runPatchsmith(input);
  const quiet = { ...settings, repo: null, output: 'none' as const };
  return {
    asked,
    said,
    outcome,
    ...endOf(runDir, input.printed.join('')),
    replay() {
      const again = inputOf(
        { ...quiet, runDir: null, repo: root },
        sink(() => {}),
      );
      return replayRun(runDir, { ...again, providers, makeTools });
    },
    async resume() {
      for (const [to, from] of Object.entries(copies)) {
        rmSync(to, { recursive: true });
        copyLive(from, to);
      }
      asked.length = 0;
      await resumeRun({ ...input, settings: quiet }, { run: runDir, acceptChanges: false, given: [] });
      return endOf(runDir, '');
    },
    rewrite(change: (journal: string) => string) {
      const journal = join(runDir, 'events.jsonl');
      writeFileSync(journal, change(readFileSync(journal, 'utf8')));
    },
  };
}

describe('calls to the outside', () => {
  test('never share a lane with commands, so that what each has changed is known', async () => {
    const { events } = await recordedRun();
    const sources = events.flatMap((event) =>
      event.type === 'change.recorded' ? event.changes.map(({ path, source }) => [path, source]) : [],
    );
    expect(sources).toEqual([
      ['made.txt', { by: 'tool', tool: 'run_command', calls: ['c2'] }],
      ['acted.txt', { by: 'tool', tool: 'act', calls: ['c3'] }],
    ]);
  });

  test('that the recording does not know of are not made either, and the patch is the same', async () => {
    const run = await recordedRun();
    run.rewrite((journal) =>
      journal.replace('"type":"tool.completed","call":"c1"', '"type":"tool.completed","call":"c9"'),
    );
    expect(await run.replay()).toMatchObject({ name: 'done' });
    expect(run.asked).toEqual(['ask', 'act']);
  });
});
