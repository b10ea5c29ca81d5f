/**
 * The ports through which a run acts, wrapped: an act waits for the disk, and people see what is in progress. A request, a write
 * or a command begins only once everything that led to it is durably in the journal; reading a file is not an act.
 */

import type { Progress } from '../adapters/sinks/progress/progress.ts';
import type { AgentParts } from '../agent/parts.ts';
import type { Sandbox } from '../ports.ts';

/** The ports through which a run acts. */
export type ActingPorts = Pick<AgentParts, 'provider' | 'sandbox' | 'verifyPlace' | 'workspace' | 'tools'>;

/** What comes before an act, and who watches it: nothing depends on whether somebody does. */
interface Acting {
  /** Throws when the journal cannot be written; then nothing is done. */
  sync(): void;
  readonly progress: Pick<Progress, 'begin' | 'during'>;
}

/** The same ports. */
export function acting(
  { provider, sandbox, verifyPlace, workspace, tools }: ActingPorts,
  { sync, progress }: Acting,
): ActingPorts {
  const act = async <Done>(work: () => Promise<Done>) => {
    sync();
    return work();
  };
  const look = <Found>(work: () => Promise<Found>) => progress.during({ label: LOOKING }, work);
  const commands = (what: string, { run }: Pick<Sandbox, 'run'>): Pick<Sandbox, 'run'> => ({
    run: (command) => {
      const { script, timeoutMs } = command;
      return progress.during({ label: `${what} ${script}`, timeoutMs }, () => act(() => run(command)));
    },
  });
  return {
    provider: {
      ...provider,
      async complete(request) {
        const { purpose = 'turn' } = request;
        const waiting = progress.begin({ label: WAITING_FOR[purpose], isTurn: purpose === 'turn' });
        const onProgress: typeof request.onProgress = (step) => {
          if (step.type === 'received') waiting.received(step.bytes);
          request.onProgress(step);
        };
        return act(() => provider.complete({ ...request, onProgress })).finally(() => waiting.end());
      },
    },
    sandbox: { ...sandbox, ...commands('run_command', sandbox) },
    verifyPlace: {
      ...verifyPlace,
      async open(net, signal) {
        const opening = () => act(() => verifyPlace.open(net, signal));
        const opened = await progress.during({ label: OPENING[verifyPlace.kind] }, opening);
        return opened.status === 'ok' ? { ...opened, sandbox: commands('verify', opened.sandbox) } : opened;
      },
    },
    workspace: {
      ...workspace,
      capture: (scope) =>
        typeof scope === 'string' ? look(() => workspace.capture(scope)) : workspace.capture(scope),
      writeFile: (path, bytes) => act(() => workspace.writeFile(path, bytes)),
      putBack: (changes, all) => look(() => act(() => workspace.putBack(changes, all))),
    },
    // What a tool to the outside does, it does through no other port.
    tools: tools.map((tool) =>
      tool.isOutside === true
        ? { ...tool, execute: (input, context) => act(() => tool.execute(input, context)) }
        : tool,
    ),
  };
}

const WAITING_FOR = {
  turn: 'waiting for the model',
  summary: 'waiting for a summary',
  compaction: 'waiting for a summary',
  review: 'waiting for the review',
};

const LOOKING = 'looking for changes in the work tree';

const OPENING = {
  worktree: 'preparing the verify commands',
  checkout: 'checking out the base with the patch',
};
