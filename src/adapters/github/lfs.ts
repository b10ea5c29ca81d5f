/** Whether GitHub has the contents behind Git LFS pointers. Protocol: git-lfs, docs/api/batch.md. */

import * as z from 'zod';
import { timeoutSignal } from '../../files/time-limit.ts';

/** Content that a pointer names. */
export interface LfsObject {
  /** SHA-256 in hex. */
  readonly oid: string;
  /** Bytes. */
  readonly size: number;
}

/** Where to ask, and as whom. */
export interface LfsPlace {
  /** `https://github.com/owner/name.git`; http only for this machine. */
  readonly url: string;
  readonly token: string;
  readonly fetch: typeof fetch;
  readonly signal: AbortSignal;
}

/** The object that a pointer names; null for any other content. */
export function lfsObjectIn(bytes: Buffer): LfsObject | null {
  if (bytes.length > 1024) return null;
  const [, oid, size] =
    /^version https:\/\/git-lfs\.github\.com\/spec\/v1\n(?:.*\n)*?oid sha256:([0-9a-f]{64})\nsize (\d{1,15})\n/.exec(
      bytes.toString('latin1'),
    ) ?? [];
  return oid === undefined ? null : { oid, size: Number(size) };
}

const BatchAnswer = z.object({
  objects: z.array(z.object({ oid: z.string(), error: z.object({ code: z.int() }).nullish() })),
});

/** Objects in one question, as git-lfs asks. */
const BATCH = 100;

/** Those that GitHub does not have; a text says why it could not be asked. */
export async function missingLfsObjects(
  place: LfsPlace,
  objects: readonly LfsObject[],
): Promise<LfsObject[] | string> {
  const missing: LfsObject[] = [];
  for (let at = 0; at < objects.length; at += BATCH) {
    const some = objects.slice(at, at + BATCH);
    const answer = await ask(place, some);
    if (typeof answer === 'string') return answer;
    const there = new Set(answer.objects.flatMap(({ oid, error }) => (error == null ? [oid] : [])));
    missing.push(...some.filter(({ oid }) => !there.has(oid)));
  }
  return missing;
}

async function ask(
  { url, token, fetch, signal }: LfsPlace,
  objects: readonly LfsObject[],
): Promise<z.infer<typeof BatchAnswer> | string> {
  const type = 'application/vnd.git-lfs+json';
  const basic = Buffer.from(`x-access-token:${token}`).toString('base64');
  try {
    const response = await fetch(`${url}/info/lfs/objects/batch`, {
      method: 'POST',
      redirect: 'error',
      headers: { accept: type, 'content-type': type, authorization: `Basic ${basic}` },
      body: JSON.stringify({ operation: 'download', transfers: ['basic'], objects }),
      signal: AbortSignal.any([signal, timeoutSignal(60_000)]),
    });
    if (!response.ok) return `it answers ${response.status}`;
    const parsed = BatchAnswer.safeParse(await response.json());
    return parsed.success ? parsed.data : 'its answer is not that of an LFS server';
  } catch (error) {
    // fetch and the parser of its answer throw nothing else.
    return error instanceof Error ? error.message : String(error);
  }
}
