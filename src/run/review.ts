/** Looks through the contents of a patch before it is published. */

import { readBlobs } from '../adapters/workspace/blobs.ts';
import type { FileState, PathChange } from '../domain/change.ts';
import type { ChangedFile } from '../domain/outcome.ts';
import { type Flag, flagsOf } from '../domain/second-look.ts';

export interface PatchContents {
  readonly files: readonly ChangedFile[];
  /** The net changes that the patch was made from. */
  readonly net: readonly PathChange[];
  /** The shadow repository, which has the contents of all states. */
  readonly shadowGit: string;
  /** Paths of the principles that the model was given. */
  readonly principles: readonly string[];
}

export interface Review {
  readonly flags: readonly Flag[];
}

/** Bytes that are read at once. */
const BATCH_BYTES = 32 * 1024 * 1024;

/** Bytes of one state that flags are looked for in. */
const MAX_FLAGGED_BYTES = 1024 * 1024;

export async function reviewPatch({ shadowGit, principles, ...patch }: PatchContents): Promise<Review> {
  const flags: Flag[] = [];
  for (const batch of batchesOf(sidesOf(patch))) {
    const ids = batch.flatMap(({ before, after }) => [before, after].flatMap((state) => blobOf(state) ?? []));
    const blobs = await readBlobs(shadowGit, [...new Set(ids)]);
    const textOf = (state: FileState | null) => {
      const blob = blobOf(state);
      if (blob === null) return '';
      return state && state.size <= MAX_FLAGGED_BYTES ? (blobs.get(blob)?.toString('utf8') ?? null) : null;
    };
    const files = batch.map((side) => ({
      ...side,
      textBefore: textOf(side.before),
      textAfter: textOf(side.after),
    }));
    flags.push(...flagsOf(files, principles));
  }
  return { flags };
}

interface Side {
  readonly path: string;
  readonly before: FileState | null;
  readonly after: FileState | null;
}

/** A renamed file was what its old path had. */
function sidesOf({ files, net }: Pick<PatchContents, 'files' | 'net'>): Side[] {
  const byPath = new Map(net.map((change) => [change.path, change]));
  return files.map(({ path, from }) => ({
    path,
    before: byPath.get(from ?? path)?.before ?? null,
    after: byPath.get(path)?.after ?? null,
  }));
}

function* batchesOf(sides: readonly Side[]): Generator<Side[]> {
  let batch: Side[] = [];
  let bytes = 0;
  for (const side of sides) {
    const size = (side.before?.size ?? 0) + (side.after?.size ?? 0);
    if (batch.length > 0 && bytes + size > BATCH_BYTES) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(side);
    bytes += size;
  }
  if (batch.length > 0) yield batch;
}

/** Null for what has no content. */
function blobOf(state: FileState | null): string | null {
  return state === null || state.mode === '160000' ? null : state.blob;
}
