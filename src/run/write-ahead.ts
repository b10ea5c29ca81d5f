/**
 * Ports whose acts wait for the disk. A request, a write or a command begins only when everything that led to it is in the
 * journal for good; to look at a file is no act.
 */

import type { LlmProvider, Sandbox, VerifyPlace, Workspace } from '../ports.ts';

export interface ActingPorts {
  readonly provider: LlmProvider;
  readonly sandbox: Sandbox;
  readonly verifyPlace: VerifyPlace;
  readonly workspace: Workspace;
}

/** `sync` throws when the journal cannot be written; then nothing is done. */
export function writeAhead(
  sync: () => void,
  { provider, sandbox, verifyPlace, workspace }: ActingPorts,
): ActingPorts {
  return {
    provider: {
      name: provider.name,
      model: provider.model,
      async complete(request) {
        sync();
        return provider.complete(request);
      },
    },
    sandbox: {
      level: sandbox.level,
      limits: sandbox.limits,
      async run(command) {
        sync();
        return sandbox.run(command);
      },
      close: () => sandbox.close(),
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
      root: workspace.root,
      get base() {
        return workspace.base;
      },
      agentGit: workspace.agentGit,
      readFile: (path) => workspace.readFile(path),
      async writeFile(path, bytes) {
        sync();
        return workspace.writeFile(path, bytes);
      },
      listFiles: (path, glob) => workspace.listFiles(path, glob),
      search: (query) => workspace.search(query),
      drawLine: () => workspace.drawLine(),
      capture: (scope) => workspace.capture(scope),
      async putBack(changes, all) {
        sync();
        return workspace.putBack(changes, all);
      },
      hidden: () => workspace.hidden(),
      removedGitDirs: () => workspace.removedGitDirs(),
      sweep: () => workspace.sweep(),
      repositoriesAround: (paths, added) => workspace.repositoriesAround(paths, added),
      ignoredWrites: () => workspace.ignoredWrites(),
      exceeded: () => workspace.exceeded(),
      nestedChanges: () => workspace.nestedChanges(),
      warnings: () => workspace.warnings(),
      rebase: (changes) => workspace.rebase(changes),
      makePatch: (net) => workspace.makePatch(net),
    },
  };
}
