import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { openSandbox } from '../../../src/adapters/sandboxes/open.ts';
import { findCheckout } from '../../../src/adapters/workspace/find-checkout.ts';
import { openWorkspace } from '../../../src/adapters/workspace/open.ts';
import type { AgentParts } from '../../../src/agent/parts.ts';
import { ToolExecutor } from '../../../src/agent/tool-executor.ts';
import type { ToolCall } from '../../../src/domain/conversation/conversation.ts';
import { SeenLines } from '../../../src/domain/conversation/seen-files.ts';
import type { ShownImages } from '../../../src/domain/images/shown.ts';
import type { RunAction } from '../../../src/domain/run/events.ts';
import { redactorFor } from '../../../src/domain/secrets/redact.ts';
import type { Sandbox, VerifyPlace } from '../../../src/ports.ts';
import { createTools } from '../../../src/tools/registry.ts';
import { started } from '../runs/events.ts';
import { makeRepository } from './repository.ts';
import { tempFolder } from './temp-folder.ts';

/** A secret that the executor knows. */
export const SECRET = 'hunter2-hunter2';

export interface RealParts extends Omit<AgentParts, 'provider'> {
  readonly root: string;
  readonly executor: ToolExecutor;
}

/** A repository of these files with a real workspace, a real sandbox `off` and the executor over both. */
export async function openRealParts(
  files: Readonly<Record<string, string>>,
  permits: (path: string) => boolean = () => true,
): Promise<RealParts> {
  const { root } = await makeRepository(files);
  const found = await findCheckout(root, {});
  if (found.status !== 'ok') throw new Error(found.message);
  const own = tempFolder();
  const workspace = await openWorkspace(found.checkout, {
    shadowDir: join(own, 'shadow.git'),
    sandboxGitDir: join(own, 'agent.git'),
    env: {},
  });
  const { sandboxGitDir } = workspace;
  const hostEnv = { PATH: process.env.PATH };
  const opened = await openSandbox({
    mode: 'off',
    root,
    sandboxGitDir,
    scratchDir: join(own, 'scratch'),
    hostEnv,
  });
  if (opened.status !== 'ok') throw new Error(opened.reason);
  const { sandbox } = opened;
  onTestFinished(() => sandbox.close());
  const parts = {
    tools: createTools({ commandTimeoutMs: 20_000, maxCommandTimeoutMs: 60_000 }),
    workspace,
    sandbox,
    verifyPlace: verifyPlaceIn(sandbox),
    seen: new SeenLines(),
    permits,
    folder: '',
    toolSettings: {
      ...started.toolSettings,
      maxOutputChars: 2_000,
      verifyTimeoutMs: 20_000,
      verifyAll: true,
    },
    clock: Date.now,
    redact: redactorFor([SECRET]),
    interrupt: new AbortController().signal,
    takeHosts: () => [],
    restServers: async () => undefined,
  };
  return { root, ...parts, executor: new ToolExecutor(parts) };
}

/** The work tree as the place of verify commands, by the sandbox of the model's. */
function verifyPlaceIn(sandbox: Sandbox): VerifyPlace {
  return {
    kind: 'worktree',
    setup: [],
    open: async () => ({ status: 'ok', sandbox, close: async () => {}, otherwise: () => [] }),
    warnings: () => [],
  };
}

/** What happens when these calls are the model's turn. */
export async function actionsOf(
  { executor }: RealParts,
  calls: readonly ToolCall[],
  turn: {
    cutOff?: boolean;
    finishOnly?: boolean;
    tooMany?: ReadonlySet<ToolCall>;
    signal?: AbortSignal;
    images?: ShownImages;
  } = {},
): Promise<RunAction[]> {
  const signal = turn.signal ?? new AbortController().signal;
  const actions: RunAction[] = [];
  const happening = executor.execute({
    calls,
    tooMany: turn.tooMany ?? new Set(),
    cutOff: turn.cutOff ?? false,
    finishOnly: turn.finishOnly ?? false,
    images: turn.images ?? { count: 0, bytes: 0, runBytes: 0 },
    iteration: 1,
    signal,
  });
  for await (const action of happening) actions.push(action);
  return actions;
}
