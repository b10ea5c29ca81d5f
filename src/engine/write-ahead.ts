/**
 * Ports whose acts wait for the disk. A request, a write or a command begins only once everything that led to it is durably
 * in the journal; reading a file is not an act.
 */

import type { Workspace } from '../ports/workspace.ts';
import type { LlmProvider, Sandbox, Tool, VerifyPlace } from '../ports.ts';

/** The ports through which a run acts. */
export interface ActingPorts {
  readonly provider: LlmProvider;
  readonly sandbox: Sandbox;
  readonly verifyPlace: VerifyPlace;
  readonly workspace: Workspace;
  readonly tools: readonly Tool[];
}

/** `sync` throws when the journal cannot be written; then nothing is done. */
export function writeAhead(
  sync: () => void,
  { provider, sandbox, verifyPlace, workspace, tools }: ActingPorts,
): ActingPorts {
  return {
    provider: {
      ...provider,
      async complete(request) {
        sync();
        return provider.complete(request);
      },
    },
    sandbox: {
      ...sandbox,
      async run(command) {
        sync();
        return sandbox.run(command);
      },
    },
    verifyPlace: {
      ...verifyPlace,
      async open(net, signal) {
        sync();
        const opened = await verifyPlace.open(net, signal);
        if (opened.status !== 'ok') return opened;
        const { sandbox: inside } = opened;
        return {
          ...opened,
          sandbox: {
            async run(command) {
              sync();
              return inside.run(command);
            },
          },
        };
      },
    },
    workspace: {
      ...workspace,
      async writeFile(path, bytes) {
        sync();
        return workspace.writeFile(path, bytes);
      },
      async putBack(changes, all) {
        sync();
        return workspace.putBack(changes, all);
      },
    },
    tools: tools.map((tool) => (tool.isOutside === true ? afterSync(sync, tool) : tool)),
  };
}

/** What such a tool does, it does through no other port. */
function afterSync(sync: () => void, tool: Tool): Tool {
  return {
    ...tool,
    async execute(input, context) {
      sync();
      return tool.execute(input, context);
    },
  };
}
