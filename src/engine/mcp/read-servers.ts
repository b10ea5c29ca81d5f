/** The MCP servers that a run is given: by its settings, and by the file that they name. */

import { resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { checkoutAround } from '../../adapters/workspace/find-checkout.ts';
import { PROJECT_FILE } from '../../config/resolve.ts';
import type { Settings } from '../../config/schema.ts';
import { readServerFile, serversIn } from '../../config/server-file.ts';
import { readSettingsAt } from '../../config/settings-file.ts';
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
  {
    settings: { mcp, mcpConfig, repo, mounts },
    from,
  }: { settings: Settings; from: { from: string; name: string } },
  trust: Trust | undefined,
  isWorkedIn: boolean,
): Promise<ServersGiven> {
  const { env, cwd } = context;
  const refused = (...problems: Problem[]): ServersGiven => ({ servers: {}, problems });
  const named = serversIn(mcp, from);
  if (named.status === 'failed') return refused(...named.problems);
  const checkout = await checkoutAround(resolve(cwd, repo ?? ''), env);
  if (checkout?.status === 'failed') return refused(problem('ERR_NO_CHECKOUT', checkout.message));
  const root = checkout?.checkout.root ?? null;
  const isFromWorkTree = from.from === 'file' && (trust?.revision ?? null) === null;
  if (isFromWorkTree && !(await isCommitted(mcp, root, env)))
    return refused(
      problem(
        'ERR_MCP_NOT_COMMITTED',
        `${from.name}: mcp is not as in the checked-out commit, and a model may have written it; commit it, or use --mcp-config`,
      ),
    );
  const read =
    mcpConfig === null
      ? { status: 'ok' as const, servers: {}, inside: null }
      : await readServerFile({ path: mcpConfig, cwd, root, revision: trust?.revision ?? null, isWorkedIn });
  if (read.status === 'failed') return refused(...read.problems);
  if (mcpConfig !== null) {
    const mount = await mountAround(resolve(cwd, mcpConfig), mounts);
    if (mount !== null)
      return refused(
        problem(
          'ERR_MCP_FILE',
          `--mcp-config ${mcpConfig}: a model may have written it, since commands can write to --mount ${mount}; name a copy elsewhere`,
        ),
      );
  }
  const twice = Object.keys(read.servers).filter((name) => Object.hasOwn(named.servers, name));
  if (twice.length > 0)
    return refused(
      problem('ERR_MCP_FILE', `--mcp-config ${mcpConfig}: there is another server ${twice[0]} in mcp`),
    );
  const filled = filledIn({ ...named.servers, ...read.servers }, env);
  if (filled.status === 'failed')
    return refused(...filled.problems.map((one) => problem('ERR_MCP_VARIABLE', `MCP server ${one}`)));
  const uncommitted =
    mcpConfig === null || read.inside === null
      ? []
      : await uncommittedIn({ path: mcpConfig, cwd, root, env }, read.servers);
  if (uncommitted.length > 0) return refused(...uncommitted);
  for (const { secrets } of Object.values(filled.servers)) for (const secret of secrets) context.hide(secret);
  for (const name of filled.variables) context.hide(env[name] ?? '', name);
  return { servers: filled.servers, problems: [] };
}

/** The mount through which commands can write to this file, as given; null if none. */
async function mountAround(file: string, mounts: Settings['mounts']): Promise<string | null> {
  const names = [file, await realpathExisting(file)];
  const around = writableMounts({ mounts }).find(({ places }) =>
    places.some((place) => names.some((name) => isWithin(name, place))),
  );
  return around?.asked ?? null;
}

/** Whether the project file of the checked-out commit names the same servers. That of the work tree is one that an earlier run could write. */
async function isCommitted(
  mcp: Settings['mcp'],
  root: string | null,
  env: HostContext['env'],
): Promise<boolean> {
  const revision = root === null ? null : await openRevision(root, 'HEAD', env);
  if (revision === null) return false;
  const committed = await readSettingsAt(revision, PROJECT_FILE);
  return committed.status === 'ok' && isDeepStrictEqual(committed.file?.values.mcp, mcp);
}

/**
 * What is wrong with servers of a file in the work tree, which an earlier run could write like the project file: those that a project
 * file may not have count only as committed.
 */
async function uncommittedIn(
  { path, cwd, root, env }: { path: string; cwd: string; root: string | null; env: HostContext['env'] },
  servers: ServerEntries,
): Promise<Problem[]> {
  const refused = Object.entries(servers).flatMap(([name, server]) => {
    const why = server.isDisabled ? null : whyNotInProjectFile(server);
    return why === null ? [] : [{ name, why }];
  });
  if (root === null || refused.length === 0) return [];
  const revision = await openRevision(root, 'HEAD', env);
  const committed = revision === null ? null : await readServerFile({ path, cwd, root, revision });
  const known = committed?.status === 'ok' ? committed.servers : {};
  return refused
    .filter(({ name }) => !isDeepStrictEqual(known[name], servers[name]))
    .map(({ name, why }) =>
      problem(
        'ERR_MCP_NOT_COMMITTED',
        `--mcp-config ${path}: the server ${name} is not as in the checked-out commit, and a model may have written it; a file that is not committed ${why}: commit it, or name a copy outside the work tree`,
      ),
    );
}
