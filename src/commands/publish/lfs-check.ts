/** Files of Git LFS: a run makes their pointers, and a branch with a pointer to nothing cannot be checked out. */

import { type LfsObject, lfsObjectIn, missingLfsObjects } from '../../adapters/github/lfs.ts';
import { fetchByEnvironment } from '../../adapters/network/machine-proxy.ts';
import { publishFailed, type RunOutcome } from '../../domain/run/outcome.ts';
import { listed } from '../../domain/text/words.ts';
import { warning } from '../../domain/warnings/warning.ts';
import type { PublishJob } from './job.ts';

/** Null when all contents are on GitHub, or when it could not be asked, which is a warning. */
export async function lackingLfs(
  job: PublishJob,
  files: readonly { readonly path: string; readonly bytes: Buffer | null }[],
): Promise<RunOutcome | null> {
  const pointers = files.flatMap(({ path, bytes }) => {
    const object = bytes === null ? null : lfsObjectIn(bytes);
    return object === null ? [] : [{ path, ...object }];
  });
  if (pointers.length === 0) return null;
  const { upstream, settings, token, env, signal, publication } = job;
  const missing = await missingLfsObjects(
    {
      url: `${settings.githubServerUrl}/${upstream.owner}/${upstream.repo}.git`,
      token,
      fetch: await fetchByEnvironment(env),
      signal,
    },
    pointers.map(({ oid, size }): LfsObject => ({ oid, size })),
  );
  signal.throwIfAborted();
  if (typeof missing === 'string') {
    publication.warnings.push(
      warning(
        'WARN_LFS_UNKNOWN',
        `It is unknown whether GitHub has the contents of ${listed(paths(pointers), 5)}, which Git LFS stores: ${missing}.`,
      ),
    );
    return null;
  }
  const gone = new Set(missing.map(({ oid }) => oid));
  const lacking = pointers.filter(({ oid }) => gone.has(oid));
  const [first] = lacking;
  if (first === undefined) return null;
  return publishFailed(
    'ERR_LFS_MISSING',
    `Git LFS stores ${listed(paths(lacking), 5, 'file')}, and GitHub does not have the contents: a run only writes the pointers, so no one could check out the branch. In a checkout with the changed files run git add ${JSON.stringify(first.path)} and git lfs push --object-id origin ${first.oid}${lacking.length > 1 ? ', likewise for the others' : ''}; then publish again.`,
  );
}

function paths(files: readonly { path: string }[]): string[] {
  return files.map(({ path }) => path);
}
