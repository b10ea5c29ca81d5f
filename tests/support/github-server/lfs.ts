/** The part of Git LFS that tells which contents are there: docs/api/batch.md of git-lfs. */

import { sees } from './permissions.ts';
import { Refusal } from './refusal.ts';
import type { SeenRequest } from './server.ts';
import type { Token, World } from './state/world.ts';

const TYPE = 'application/vnd.git-lfs+json';

/** Null when the path is not that of a batch. */
export function lfsAnswer(
  world: World,
  token: Token | null,
  { method, path, headers, body }: SeenRequest,
): { status: number; headers: Record<string, string>; body: string } | null {
  const [, name] = /^\/([^/]+\/[^/]+)\.git\/info\/lfs\/objects\/batch$/.exec(path) ?? [];
  if (name === undefined) return null;
  const repository = world.repository(name);
  if (repository === undefined || !sees(token, repository)) throw new Refusal(404, 'Not Found');
  const asked = body as { operation?: string; objects?: { oid: string; size: number }[] } | undefined;
  const isWell =
    method === 'POST' &&
    headers.accept === TYPE &&
    headers['content-type'] === TYPE &&
    asked?.operation === 'download' &&
    (asked.objects ?? []).length <= 100 &&
    (asked.objects ?? []).every(({ oid, size }) => /^[0-9a-f]{64}$/.test(oid) && Number.isInteger(size));
  if (!isWell) throw new Refusal(422, 'Invalid LFS batch');
  const objects = (asked.objects ?? []).map(({ oid, size }) =>
    repository.lfs.has(oid)
      ? { oid, size, actions: { download: { href: `${world.serverUrl}/lfs/${oid}` } } }
      : { oid, size, error: { code: 404, message: 'Object does not exist on the server' } },
  );
  return {
    status: 200,
    headers: { 'content-type': TYPE },
    body: JSON.stringify({ transfer: 'basic', objects }),
  };
}
