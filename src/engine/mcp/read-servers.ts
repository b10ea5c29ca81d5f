/** The MCP servers that a run is given: by its settings, and by the file that they name. */

import { resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { checkoutAround } from '../../adapters/workspace/find-checkout.ts';
import { PROJECT_FILE } from '../../config/resolve.ts';
import type { Settings } from '../../config/schema.ts';
import { readServerFile, serversIn } from '../../config/server-file.ts';
import { readSettingsFile } from '../../config/settings-file.ts';
import { isWithin } from '../../domain/changes/path.ts';
import { type Problem, problem } from '../../domain/errors/problem.ts';
import {
  type FilledEntries,
  filledIn,
  type ServerEntries,
  whyNotInProjectFile,
} from '../../domain/mcp/server-spec.ts';
import { realpathExisting } from '../../files/path-within.ts';
import { openRevision } from '../../git/revision.ts';
import type { HostContext } from '../../host/context.ts';
import { writableMounts } from '../open/sandbox-settings.ts';
import type { Trust } from '../trust/trust.ts';

/** Ready to be started; empty if any has a problem. */
export interface ServersGiven {
  readonly servers: FilledEntries;
  readonly problems: Problem[];
}

/** Fills in the variables of the environment, whose values are hidden from then on. `from` says where the setting was given, `isWorkedIn` that a run has worked in the repository. */
export async function readGivenServers(
  context: HostContext,
  { settings, from }: { settings: Settings; from: { from: string; name: string } },
  trust: Trust | undefined,
  isWorkedIn: boolean,
): Promise<ServersGiven> {
  const { env, cwd } = context;
  const { mcp, mcpConfig: path, repo } = settings;
  const refused = (...problems: Problem[]): ServersGiven => ({ servers: {}, problems });
  const named = serversIn(mcp, from);
  if (named.status === 'failed') return refused(...named.problems);
  const checkout = await checkoutAround(resolve(cwd, repo ?? ''), env);
  if (checkout?.status === 'failed') return refused(problem('ERR_NO_CHECKOUT', checkout.message));
  const root = checkout?.checkout.root ?? null;
  const revision = trust?.revision ?? null;
  const head = async () => (root === null ? null : openRevision(root, 'HEAD', env));
  if (from.from === 'file' && revision === null) {
    const project = await head().then((commit) => commit && readSettingsFile(commit, PROJECT_FILE));
    // An earlier run could write the file of the work tree.
    if (project?.status !== 'ok' || !isDeepStrictEqual(project.file?.values.mcp, mcp))
      return refused(
        problem(
          'ERR_MCP_NOT_COMMITTED',
          `${from.name}: mcp is not as in the checked-out commit, and a model may have written it; commit it, or use --mcp-config`,
        ),
      );
  }
  let servers: ServerEntries = named.servers;
  let uncommitted: string[] = [];
  if (path !== null) {
    const place = { path, cwd, root };
    const read = await readServerFile({ ...place, revision, isWorkedIn });
    if (read.status === 'failed') return refused(...read.problems);
    const mount = await mountAround(resolve(cwd, path), settings);
    if (mount !== null)
      return refused(
        problem(
          'ERR_MCP_FILE',
          `--mcp-config ${path}: a model may have written it, since commands can write to --mount ${mount}; name a copy elsewhere`,
        ),
      );
    const [twice] = Object.keys(read.servers).filter((name) => Object.hasOwn(servers, name));
    if (twice !== undefined)
      return refused(
        problem('ERR_MCP_FILE', `--mcp-config ${path}: there is another server ${twice} in mcp`),
      );
    if (read.inside !== null && root !== null) {
      const commit = await head();
      const committed = commit && (await readServerFile({ ...place, revision: commit }));
      uncommitted = uncommittedIn(read.servers, committed?.status === 'ok' ? committed.servers : {});
    }
    servers = { ...servers, ...read.servers };
  }
  const filled = filledIn(servers, env);
  if (filled.status === 'failed')
    return refused(...filled.problems.map((one) => problem('ERR_MCP_VARIABLE', `MCP server ${one}`)));
  if (uncommitted.length > 0)
    return refused(
      ...uncommitted.map((what) => problem('ERR_MCP_NOT_COMMITTED', `--mcp-config ${path}: ${what}`)),
    );
  for (const { secrets } of Object.values(filled.servers)) for (const secret of secrets) context.hide(secret);
  for (const name of filled.variables) context.hide(env[name] ?? '', name);
  return { servers: filled.servers, problems: [] };
}

/** The mount through which commands can write to this file, as given; null if none. */
async function mountAround(file: string, { mounts }: Settings): Promise<string | null> {
  const names = [file, await realpathExisting(file)];
  const around = writableMounts({ mounts }).find(({ places }) =>
    places.some((place) => names.some((name) => isWithin(name, place))),
  );
  return around?.asked ?? null;
}

/**
 * What is wrong with servers of a file in the work tree, which an earlier run could write like the project file: those that a project
 * file may not have count only as committed.
 */
function uncommittedIn(servers: ServerEntries, committed: ServerEntries): string[] {
  return Object.entries(servers).flatMap(([name, server]) => {
    const why = server.isDisabled ? null : whyNotInProjectFile(server);
    return why === null || isDeepStrictEqual(committed[name], server)
      ? []
      : `the server ${name} is not as in the checked-out commit, and a model may have written it; a file that is not committed ${why}: commit it, or name a copy outside the work tree`;
  });
}
