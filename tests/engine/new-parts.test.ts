/** A provider that only this test knows: no other file has its name. */

import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  DEFAULT_PROVIDER,
  PROVIDERS,
  type ProviderEntry,
  type ProviderRegistry,
} from '../../src/adapters/providers/registry.ts';
import { resumeRun } from '../../src/commands/resume/resume.ts';
import { type Settings, withDefaults } from '../../src/config/schema.ts';
import { type LlmTurn, noUsage } from '../../src/domain/conversation/conversation.ts';
import { runPatchsmith } from '../../src/engine/run.ts';
import type { LlmProvider } from '../../src/ports.ts';
import { copyLive } from '../support/files/live-copy.ts';
import { makeRepository, temporaryFolder } from '../support/files/repository.ts';
import { inputOf, sink } from '../support/runs/from-sources.ts';
import { endOf } from '../support/runs/recorded-run.ts';

/** Writes a file, then is done. Each turn has a million tokens. */
function parrot(model: string): LlmProvider {
  return {
    name: 'parrot',
    model,
    async complete({ conversation }) {
      const isFirst = conversation.messages.length === 1;
      const call = { id: 'c1', name: 'write_file', input: { path: 'a.txt', content: 'HELLO\n' } };
      const turn: LlmTurn = {
        content: isFirst ? [{ type: 'tool_use', ...call }] : [{ type: 'text', text: 'Done.' }],
        stop: isFirst ? 'tool_use' : 'end_turn',
        stopDetail: '',
        calls: isFirst ? [call] : [],
        text: isFirst ? '' : 'Done.',
        usage: { ...noUsage, input: 1_000_000 },
        model,
        durationMs: 1,
      };
      return { status: 'ok', turn };
    },
  };
}

const entry: ProviderEntry = {
  meaning: 'a parrot',
  defaultModel: 'polly-1',
  keyVariable: 'PARROT_KEY',
  baseUrlVariable: 'PARROT_URL',
  federation: null,
  isBilled: true,
  priceOf: () => ({ input: 3, output: 0, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0 }),
  canResume: true,
  playsRecording: false,
  create: async ({ model }) => parrot(model),
};

const providers: ProviderRegistry = { ...PROVIDERS, parrot: entry };

/** A run as of settings that name the provider, in a fresh repository, with a copy of it after its first answer. */
async function runOfParrot() {
  const { root } = await makeRepository({ 'a.txt': 'hello\n' });
  const folder = temporaryFolder();
  const runDir = join(folder, 'run');
  const copies = { [root]: join(folder, 'root.copy'), [runDir]: join(folder, 'run.copy') };
  const stdout = sink((line) => {
    if (!line.includes('"turn.completed"') || existsSync(join(folder, 'root.copy'))) return;
    for (const [from, to] of Object.entries(copies)) copyLive(from, to);
  });
  const settings: Settings = {
    ...withDefaults({ repo: root, message: 'Do it', sandbox: 'off', output: 'jsonl' }),
    provider: 'parrot',
    model: 'polly-1',
    runDir,
  };
  const input = { ...inputOf(settings, stdout), cwd: root, providers };
  const outcome = await runPatchsmith(input);
  return {
    input: { ...input, settings: { ...settings, repo: null, output: 'none' as const } },
    runDir,
    outcome,
    ...endOf(runDir, input.printed.join('')),
    /** As a SIGKILL after the first answer would have left it. */
    kill() {
      for (const [to, from] of Object.entries(copies)) {
        rmSync(to, { recursive: true });
        copyLive(from, to);
      }
    },
  };
}

test('a provider that only a test knows carries out a run', async () => {
  const { outcome, result, patch } = await runOfParrot();
  expect([outcome.name, result.provider, result.model, result.costUsd]).toEqual([
    'done',
    'parrot',
    'polly-1',
    6,
  ]);
  expect(patch).toContain('+HELLO');
  expect(result.changedFiles.map(({ path }) => path)).toEqual(['a.txt']);
});

describe('a killed run of such a provider', () => {
  test('continues to the same patch', async () => {
    const run = await runOfParrot();
    run.kill();
    const resumed = await resumeRun(run.input, {
      run: run.runDir,
      acceptChanges: false,
      given: [],
      lacking: [],
    });
    expect(resumed).toMatchObject({ status: 'printed', outcome: { name: 'done' } });
    expect(endOf(run.runDir, '').patch).toBe(run.patch);
  });

  test.each<[string, ProviderRegistry, Partial<Settings>, string]>([
    [
      'its entry says that it cannot be asked again',
      { parrot: { ...entry, canResume: false } },
      {},
      'just run it again',
    ],
    [
      'there is no such provider',
      PROVIDERS,
      {},
      'the provider "parrot", which this patchsmith does not have',
    ],
    [
      'another one is set, whose key it would get',
      providers,
      { provider: DEFAULT_PROVIDER },
      '--provider parrot',
    ],
  ])('is refused where %s', async (_why, known, today, reason) => {
    const run = await runOfParrot();
    run.kill();
    const input = { ...run.input, providers: known, settings: { ...run.input.settings, ...today } };
    const resumed = await resumeRun(input, { run: run.runDir, acceptChanges: false, given: [], lacking: [] });
    expect(resumed).toEqual({
      status: 'refused',
      problems: [expect.objectContaining({ message: expect.stringContaining(reason) })],
    });
  });
});
