/**
 * Files of Git LFS: a run makes their pointers, and a branch with a pointer to nothing cannot be checked out. Protocol: git-lfs,
 * docs/api/batch.md.
 */

import * as z from 'zod';
import { fetchByEnvironment } from '../../adapters/network/machine-proxy.ts';
import { publishFailed } from '../../domain/run/outcome.ts';
import { listed } from '../../domain/text/words.ts';
import { warning } from '../../domain/warnings/warning.ts';
import { timeoutSignal } from '../../files/time-limit.ts';
import type { PublishJob } from './job.ts';
import { stop } from './place.ts';

/** A file that points to content with this SHA-256 and size. */
interface Pointer {
  readonly path: string;
  readonly oid: string;
  readonly size: number;
}

/** Ends the work if contents are not on GitHub. If it could not be asked, that is a warning. */
export async function refuseMissingLfs(
  job: PublishJob,
  files: readonly { readonly path: string; readonly bytes: Buffer | null }[],
): Promise<void> {
  const pointers = files.flatMap(({ path, bytes }) => pointerIn(path, bytes) ?? []);
  if (pointers.length === 0) return;
  const there = await contentsThere(job, pointers);
  job.signal.throwIfAborted();
  const names = (some: readonly Pointer[]) => some.map(({ path }) => path);
  if (typeof there === 'string')
    job.publication.warnings.push(
      warning(
        'WARN_LFS_UNKNOWN',
        `It is unknown whether GitHub has the contents of ${listed(names(pointers), 5)}, which Git LFS stores: ${there}.`,
      ),
    );
  const lacking = typeof there === 'string' ? [] : pointers.filter(({ oid }) => !there.has(oid));
  const [first] = lacking;
  if (first === undefined) return;
  stop(
    publishFailed(
      'ERR_LFS_MISSING',
      `Git LFS stores ${listed(names(lacking), 5, 'file')}, and GitHub does not have the contents: a run only writes the pointers, so no one could check out the branch. In a checkout with the changed files run git add ${JSON.stringify(first.path)} and git lfs push --object-id origin ${first.oid}${lacking.length > 1 ? ', likewise for the others' : ''}; then publish again.`,
    ),
  );
}

/** The largest pointer. */
export const MAX_LFS_POINTER = 1_024;

/** Null for any other content, also for what is larger and was not read. */
function pointerIn(path: string, bytes: Buffer | null): Pointer | null {
  if (bytes === null) return null;
  const [, oid, size] =
    /^version https:\/\/git-lfs\.github\.com\/spec\/v1\n(?:.*\n)*?oid sha256:([0-9a-f]{64})\nsize (\d{1,15})\n/.exec(
      bytes.toString('latin1'),
    ) ?? [];
  return oid === undefined ? null : { path, oid, size: Number(size) };
}

const BatchAnswer = z.object({
  objects: z.array(z.object({ oid: z.string(), error: z.object({ code: z.int() }).nullish() })),
});

/** Objects in one question, as git-lfs asks. */
const BATCH = 100;

/** The ids of those that GitHub has; a text says why it could not be asked. */
async function contentsThere(
  { upstream, settings, token, env, signal }: PublishJob,
  pointers: readonly Pointer[],
): Promise<Set<string> | string> {
  const url = `${settings.githubServerUrl}/${upstream.owner}/${upstream.repo}.git/info/lfs/objects/batch`;
  const type = 'application/vnd.git-lfs+json';
  const basic = Buffer.from(`x-access-token:${token}`).toString('base64');
  const ask = await fetchByEnvironment(env);
  const there = new Set<string>();
  for (let at = 0; at < pointers.length; at += BATCH) {
    const objects = pointers.slice(at, at + BATCH).map(({ oid, size }) => ({ oid, size }));
    try {
      const response = await ask(url, {
        method: 'POST',
        redirect: 'error',
        headers: { accept: type, 'content-type': type, authorization: `Basic ${basic}` },
        body: JSON.stringify({ operation: 'download', transfers: ['basic'], objects }),
        signal: AbortSignal.any([signal, timeoutSignal(60_000)]),
      });
      if (!response.ok) return `it answers ${response.status}`;
      const parsed = BatchAnswer.safeParse(await response.json());
      if (!parsed.success) return 'its answer is not that of an LFS server';
      for (const { oid, error } of parsed.data.objects) if (error == null) there.add(oid);
    } catch (error) {
      // fetch and the parser of its answer throw nothing else.
      return error instanceof Error ? error.message : String(error);
    }
  }
  return there;
}
