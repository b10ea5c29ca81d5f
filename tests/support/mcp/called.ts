/** Runs in this process whose model calls what it is told to, with MCP servers. */

import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROVIDERS, type ProviderEntry } from '../../../src/adapters/providers/registry.ts';
import { type Settings, withDefaults } from '../../../src/config/schema.ts';
import { type Conversation, type LlmTurn, noUsage } from '../../../src/domain/conversation/conversation.ts';
import { filledIn, ServerEntries } from '../../../src/domain/mcp/server-spec.ts';
import type { RunOutcome } from '../../../src/domain/run/outcome.ts';
import { runPatchsmith } from '../../../src/engine/run.ts';
import type { RunInput } from '../../../src/engine/run-input.ts';
import { makeRepository, type Repository, temporaryFolder } from '../files/repository.ts';
import { inputOf, sink } from '../runs/from-sources.ts';
import { endOf, type RunEnd } from '../runs/recorded-run.ts';

/** The server of the tests' own; node runs it. */
export const SERVER = join(import.meta.dirname, 'server.mjs');

/** A call of the model. */
export interface Called {
  readonly name: string;
  readonly input?: Record<string, unknown>;
}

export interface CalledRun extends RunEnd {
  readonly outcome: RunOutcome;
  readonly repository: Repository;
  readonly runDir: string;
  readonly input: RunInput;
  /** What the model was sent, request by request. */
  readonly asked: readonly Conversation[];
  /** What it was told of each call, in order. */
  readonly said: readonly string[];
}

interface Asked {
  readonly turns: readonly (readonly Called[])[];
  /** As in a file of --mcp-config. */
  readonly servers: Readonly<Record<string, unknown>>;
  readonly settings?: Partial<Settings>;
  readonly env?: Readonly<Record<string, string>>;
  readonly files?: Readonly<Record<string, string>>;
  readonly onLine?: (line: string) => void;
  readonly input?: Partial<RunInput>;
}

/** Carries out a run whose model makes these calls, turn by turn, and is done then. */
export async function calledRun(given: Asked): Promise<CalledRun> {
  const repository = await makeRepository(given.files ?? { 'a.txt': 'a\n' });
  const { root } = repository;
  const runDir = given.settings?.runDir ?? join(temporaryFolder(), 'run');
  const asked: Conversation[] = [];
  const settings: Settings = {
    ...withDefaults({ repo: root, message: 'Do it', sandbox: 'required', output: 'jsonl' }),
    provider: 'caller',
    model: 'caller-1',
    mounts: [import.meta.dirname],
    runDir,
    ...given.settings,
  };
  const servers = filledIn(ServerEntries.parse(given.servers), given.env ?? {});
  if (servers.status === 'failed') throw new Error(servers.problems.join('; '));
  const base = inputOf(
    settings,
    sink((line) => given.onLine?.(line)),
  );
  const input: RunInput & { printed: string[] } = {
    ...base,
    env: { ...base.env, ...given.env },
    cwd: root,
    providers: { ...PROVIDERS, caller: callerOf(given.turns, asked) },
    servers: servers.servers,
    ...given.input,
  };
  const outcome = await runPatchsmith(input);
  const said = (asked.at(-1)?.messages ?? []).flatMap(({ content }) =>
    content.flatMap((block) => (block.type === 'tool_result' ? [String(block.text)] : [])),
  );
  // A run that is refused has no journal.
  const journal = join(runDir, 'events.jsonl');
  if (!existsSync(journal)) writeFileSync(journal, '');
  return { outcome, repository, runDir, input, asked, said, ...endOf(runDir, input.printed.join('')) };
}

/** A provider that makes these calls, whatever it is told. */
function callerOf(turns: readonly (readonly Called[])[], asked: Conversation[] = []): ProviderEntry {
  const { anthropic } = PROVIDERS;
  if (anthropic === undefined) throw new Error('There is no such provider.');
  return {
    ...anthropic,
    isBilled: false,
    create: async ({ model }) => ({
      name: 'caller',
      model,
      async complete({ conversation }) {
        asked.push(structuredClone(conversation));
        const at = conversation.messages.filter(({ role }) => role === 'assistant').length;
        const calls = (turns[at] ?? []).map(({ name, input = {} }, index) => ({
          id: `t${at}c${index}`,
          name,
          input,
        }));
        const turn: LlmTurn = {
          content:
            calls.length > 0
              ? calls.map((call) => ({ type: 'tool_use' as const, ...call }))
              : [{ type: 'text', text: 'Done.' }],
          stop: calls.length > 0 ? 'tool_use' : 'end_turn',
          stopDetail: '',
          calls,
          text: calls.length > 0 ? '' : 'Done.',
          usage: { ...noUsage, input: 10 },
          model,
          durationMs: 1,
        };
        return { status: 'ok', turn };
      },
    }),
  };
}
