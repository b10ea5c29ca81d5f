/**
 * Wraps ports so that people see what is in progress, and for how long: the model, commands, and scans of the whole work tree.
 */

import type { Progress } from '../adapters/sinks/progress/progress.ts';
import type { Workspace } from '../ports/workspace.ts';
import type { Sandbox } from '../ports.ts';
import type { ActingPorts } from './write-ahead.ts';

type Watching = Pick<Progress, 'begin' | 'during'>;

/** The same ports; nothing depends on whether somebody watches. */
export function watched(
  progress: Watching,
  { provider, sandbox, verifyPlace, workspace, tools }: ActingPorts,
): ActingPorts {
  return {
    tools,
    provider: {
      ...provider,
      async complete(request) {
        const { purpose = 'turn' } = request;
        const waiting = progress.begin({ label: WAITING_FOR[purpose], isTurn: purpose === 'turn' });
        try {
          return await provider.complete({
            ...request,
            onProgress(step) {
              if (step.type === 'received') waiting.received(step.bytes);
              if (step.type === 'retry') waiting.waits(step.retry);
              request.onProgress(step);
            },
          });
        } finally {
          waiting.end();
        }
      },
    },
    sandbox: { ...sandbox, ...commandsShown(progress, 'run_command', sandbox) },
    verifyPlace: {
      ...verifyPlace,
      async open(net, signal) {
        const opened = await progress.during({ label: OPENING[verifyPlace.kind] }, () =>
          verifyPlace.open(net, signal),
        );
        if (opened.status !== 'ok') return opened;
        return { ...opened, sandbox: commandsShown(progress, 'verify', opened.sandbox) };
      },
    },
    workspace: looksShown(progress, workspace),
  };
}

function commandsShown(
  progress: Watching,
  what: string,
  sandbox: Pick<Sandbox, 'run'>,
): Pick<Sandbox, 'run'> {
  return {
    run: (command) => {
      const { script, timeoutMs } = command;
      return progress.during({ label: `${what} ${script}`, timeoutMs }, () => sandbox.run(command));
    },
  };
}

function looksShown(progress: Watching, workspace: Workspace): Workspace {
  const look = <Found>(work: () => Promise<Found>) => progress.during({ label: LOOKING }, work);
  return {
    ...workspace,
    capture: (scope) =>
      scope === 'all' || scope === 'after_commands'
        ? look(() => workspace.capture(scope))
        : workspace.capture(scope),
    putBack: (changes, all) => look(() => workspace.putBack(changes, all)),
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
