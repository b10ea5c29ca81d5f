/** Examines the contents of a patch before it is published. */

import type { FileState, PathChange } from '../../domain/changes/change.ts';
import { pathMatcher } from '../../domain/changes/path-policy.ts';
import { overCaps } from '../../domain/github/publishing/policy.ts';
import { flagsOf, type ReviewedFile } from '../../domain/review/review-flags.ts';
import type { Withheld } from '../../domain/run/decide-outcome.ts';
import type { RunResult } from '../../domain/run/result.ts';
import { addedSecrets, type FindKnown, type FoundSecret } from '../../domain/secrets/secret-scan.ts';
import { listed } from '../../domain/text/words.ts';
import type { ProvenPatch, ReadBlobs } from '../../ports/workspace.ts';
import type { Ready } from '../ready.ts';
import type { Session } from '../session.ts';

/** What the result says about the review. */
export interface ReviewedPart extends Pick<RunResult, 'flags' | 'secrets'> {
  /** Null when the patch may be published. */
  readonly withheld: Withheld | null;
  /** Why `publish` would not take the patch, with the limits known here; null when it would. */
  readonly oversize: string | null;
}

/** What the result says about the contents of a patch, and whether they may be published. */
export async function reviewedPart(
  { findKnown, input }: Session,
  { start }: Ready,
  { patch, ...contents }: Pick<PatchContents, 'net' | 'read'> & { readonly patch: ProvenPatch },
): Promise<ReviewedPart> {
  const { files, repositories } = patch;
  const principles = start.principles.map(({ path }) => path);
  const { acceptSecrets } = start;
  const scan = { ...contents, files, repositories, principles, acceptSecrets, findKnown };
  const { maxPatchFiles: maxFiles, maxPatchBytes: maxBytes } = input.settings;
  const size = { files: files.length, bytes: patch.bytes.length };
  return {
    ...(await scanContents(scan)),
    oversize: overCaps(size, { maxFiles, maxBytes })?.reason ?? null,
  };
}

/** The patch to review, and where its contents are. */
interface PatchContents {
  readonly files: ProvenPatch['files'];
  /** Folders which git takes for repositories and that it adds to. */
  readonly repositories: readonly string[];
  /** The net changes that it was made from. */
  readonly net: readonly PathChange[];
  /** Reads from a repository that has the contents of all states. */
  readonly read: ReadBlobs;
  /** Paths of the principles given to the model. */
  readonly principles: readonly string[];
  /** Globs of paths in which the patch may add what looks like a secret. */
  readonly acceptSecrets: readonly string[];
  readonly findKnown: FindKnown;
}

/** Maximum bytes read at a time. */
const BATCH_BYTES = 32 * 1024 * 1024;

/** Maximum bytes examined of one state; unexamined contents are not published unless explicitly accepted. */
const MAX_STATE_BYTES = 32 * 1024 * 1024;

/** Scans a patch for secrets and for changes that deserve a second look, in bounded batches. */
export async function scanContents(patch: PatchContents): Promise<Omit<ReviewedPart, 'oversize'>> {
  const { files: changed, repositories, net, read, principles, acceptSecrets, findKnown } = patch;
  const flags: RunResult['flags'] = [];
  const secrets: FoundSecret[] = [];
  for (const batch of batchesOf(sidesOf(changed, net))) {
    const ids = batch.flatMap(({ before, after }) =>
      [before, after].flatMap((state) => (isTooLarge(state) ? [] : (blobOf(state) ?? []))),
    );
    const blobs = await read(ids, () => MAX_STATE_BYTES);
    const textOf = (state: FileState | null) => {
      const blob = blobOf(state);
      if (blob === null) return '';
      return blobs.get(blob)?.toString('utf8') ?? null;
    };
    const files = batch.map((side) => ({
      ...side,
      textBefore: textOf(side.before),
      textAfter: textOf(side.after),
    }));
    flags.push(...flagsOf(files, principles));
    for (const file of files) secrets.push(...secretsOf(file, findKnown));
  }
  const isAccepted = pathMatcher(acceptSecrets);
  const withheld =
    repositoriesReason(repositories) ?? withheldReason(secrets.filter(({ path }) => !isAccepted(path)));
  return { flags, secrets, withheld };
}

function secretsOf(
  { path, after, textBefore, textAfter }: ReviewedFile,
  findKnown: FindKnown,
): FoundSecret[] {
  if (textAfter === null)
    return [{ path, line: 0, what: isTooLarge(after) ? 'too large to review' : 'cannot be read' }];
  return addedSecrets({ path, before: textBefore ?? '', after: textAfter }, findKnown);
}

function isTooLarge(state: FileState | null): boolean {
  return state !== null && state.size > MAX_STATE_BYTES;
}

interface FileSide {
  readonly path: string;
  readonly from: string | undefined;
  readonly before: FileState | null;
  readonly after: FileState | null;
}

/** The old side of a renamed file is what its old path held. */
function sidesOf(files: ProvenPatch['files'], net: readonly PathChange[]): FileSide[] {
  const byPath = new Map(net.map((change) => [change.path, change]));
  return files.map(({ path, from }) => ({
    path,
    from,
    before: byPath.get(from ?? path)?.before ?? null,
    after: byPath.get(path)?.after ?? null,
  }));
}

function* batchesOf(sides: readonly FileSide[]): Generator<FileSide[]> {
  let batch: FileSide[] = [];
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

/** Null for a state without contents. */
function blobOf(state: FileState | null): string | null {
  return state === null || state.mode === '160000' ? null : state.blob;
}

/** Maximum number of names in one sentence. */
const MAX_NAMED = 5;

/** Why a patch that adds these secrets is withheld; null when there are none. */
export function withheldReason(secrets: readonly FoundSecret[]): Withheld | null {
  if (secrets.length === 0) return null;
  const places = secrets.map(({ path, line, what }) => `${line > 0 ? `${path}:${line}` : path} (${what})`);
  return {
    code: 'ERR_SECRET_IN_PATCH',
    reason: `The patch is withheld because it would add a secret: ${listed(places, MAX_NAMED, 'place')}. Remove the secret, or accept files with false matches with --accept-secrets GLOB.`,
  };
}

/**
 * Why a patch that creates or changes these folders, which git takes for repositories, is withheld; null when there are
 * none.
 */
export function repositoriesReason(folders: readonly string[]): Withheld | null {
  if (folders.length === 0) return null;
  const named = listed(
    folders.map((folder) => folder || 'the root'),
    MAX_NAMED,
  );
  return {
    code: 'ERR_REPOSITORY_IN_PATCH',
    reason: `The patch is withheld because it adds to a folder that git treats as a repository, whose configuration can name programs that git runs: ${named}. Let tests create such a repository when they run, or commit it by hand.`,
  };
}
