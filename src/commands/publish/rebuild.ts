/**
 * Rebuilds the result of a patch on the base as it is now: without a checkout, only with the folders and contents it
 * touches.
 */

import { findBlob } from '../../adapters/github/objects.ts';
import { type PartialTree, readPartialTree } from '../../adapters/github/partial-tree.ts';
import type { OnGitHub } from '../../adapters/github/request.ts';
import type { FileMode } from '../../domain/changes/change.ts';
import type { PatchedPath, PatchedState } from '../../domain/changes/patch-text.ts';
import { isBinary } from '../../domain/github/conflict.ts';
import {
  type ContentFrom,
  type Occupant,
  type RebasedFile,
  rebaseFile,
} from '../../domain/github/publishing/rebase-file.ts';
import { repositoriesAround } from '../../domain/review/git-folder.ts';
import type { ReviewedFile } from '../../domain/review/review-flags.ts';
import type { ScratchRepository } from '../../git/store/scratch-apply.ts';
import type { NewFile } from '../../ports/github.ts';
import type { CheckedPatch } from './read-run.ts';

/**
 * `tree` is the new tree; the base's own if it already contains the whole patch. `reviewed` is the new content and what the
 * base has there now, for the review and the search for secrets.
 */
export type Rebuilt =
  | {
      status: 'ok';
      tree: string;
      files: NewFile[];
      reviewed: ReviewedFile[];
      merged: string[];
      /** Folders that git takes for repositories and that the patch changes. */
      repositories: string[];
    }
  | { status: 'conflict'; files: { path: string; why: string }[] }
  | { status: 'broken'; message: string };

/** Which patch to rebuild, and on which trees. */
export interface RebuildOrder {
  readonly where: OnGitHub;
  readonly patch: CheckedPatch;
  /** Tree of the commit the run began with; null if there is none, or GitHub does not have it. */
  readonly runTree: string | null;
  /** Tree of the base as it is now. */
  readonly baseTree: string;
  readonly bench: ScratchRepository;
}

/** Applies a patch to trees on GitHub without a checkout, merging into files that the base has changed since. */
export async function rebuild(order: RebuildOrder): Promise<Rebuilt> {
  const { where, patch, runTree, baseTree, bench } = order;
  const touched = patch.files.flatMap(({ path, from }) => (from === null ? [path] : [path, from]));
  const base = await readPartialTree(where, baseTree, touched);
  const then =
    runTree === null || runTree === baseTree ? base : await readPartialTree(where, runTree, touched);
  const files = patch.files.map((file) => (runTree === null ? file : completed(file, then)));
  const occupant = occupantWithout(base, files);
  const rebased = files.map((file) => ({ file, now: nameless(file) ?? rebaseFile(file, occupant) }));
  // All conflicts are collected before any is reported, so that people can fix them together.
  const conflicts = rebased.flatMap(({ now }) =>
    now.do === 'conflict' ? [{ path: now.path, why: now.why }] : [],
  );
  const { contents, lost } = await contentsBefore(where, patch.files);
  if (lost.length > 0) return { status: 'conflict', files: [...conflicts, ...lost] };
  const wrong = await bench.apply(patch.bytes, patch.files, contents);
  if (wrong !== null) return { status: 'broken', message: wrong };

  const made = await makeFiles({ where, base, contents, bench }, rebased);
  conflicts.push(...made.conflicts);
  if (conflicts.length > 0) return { status: 'conflict', files: conflicts };
  const after = base.after(made.files);
  if (after.status === 'obstructed')
    return {
      status: 'conflict',
      files: [{ path: after.path, why: 'a file has replaced a folder' }],
    };
  const { files: all, reviewed, merged } = made;
  const paths = all.map(({ path }) => path);
  const repositories = repositoriesAround(paths, after.namesIn);
  return { status: 'ok', tree: after.sha, files: all, reviewed, merged, repositories };
}

interface MadeFiles {
  readonly files: NewFile[];
  readonly reviewed: ReviewedFile[];
  /** Paths that both sides have changed. */
  readonly merged: string[];
  readonly conflicts: { path: string; why: string }[];
}

/** The new states of the files, in the order of the patch. */
async function makeFiles(
  { where, base, contents, bench }: FileSources,
  rebased: readonly { file: PatchedPath; now: RebasedFile }[],
): Promise<MadeFiles> {
  const made: MadeFiles = { files: [], reviewed: [], merged: [], conflicts: [] };
  for (const { file, now } of rebased) {
    if (now.do !== 'delete' && now.do !== 'put') continue;
    const there = base.occupant(file.from ?? file.path);
    const before = there?.kind === 'file' ? there : null;
    if (now.do === 'delete') {
      made.files.push({ path: now.path, state: null });
      made.reviewed.push(reviewedFile({ path: now.path }, before, null, { after: null, content: 'tree' }));
      continue;
    }
    if (now.removed !== null) made.files.push({ path: now.removed, state: null });
    const current = await contentNow(where, now, before, contents);
    const state = await newState(bench, file, now, { contents, current });
    if (typeof state === 'string') {
      made.conflicts.push({ path: now.path, why: state });
      continue;
    }
    if (now.content === 'merge') made.merged.push(now.path);
    made.files.push({ path: now.path, state });
    const name = { path: now.path, from: file.from ?? undefined };
    made.reviewed.push(reviewedFile(name, before, current, { after: state, content: now.content }));
  }
  return made;
}

interface FileSources {
  readonly where: OnGitHub;
  readonly base: PartialTree;
  /** What the patch changes or removes, by id. */
  readonly contents: ReadonlyMap<string, Buffer>;
  readonly bench: ScratchRepository;
}

/** Fills in what the patch leaves out about the previous state, if the commit that the run began with has it. */
function completed(file: PatchedPath, then: PartialTree): PatchedPath {
  const occupant = then.occupant(file.from ?? file.path);
  if (file.before === null || occupant?.kind !== 'file') return file;
  const filledIn = (state: PatchedState): PatchedState => ({
    mode: state.mode ?? occupant.mode,
    blob: state.blob ?? occupant.blob,
  });
  return { ...file, before: filledIn(file.before), after: file.after === null ? null : filledIn(file.after) };
}

/** A folder from which the patch removes files may make room for a file; whether it does shows when the tree is built. */
function occupantWithout(
  base: PartialTree,
  files: readonly PatchedPath[],
): (path: string) => Occupant | null {
  const removed = files.flatMap(({ path, from, after }) => (after === null ? [path] : (from ?? [])));
  return (path) => {
    const occupant = base.occupant(path);
    const makesRoom = occupant?.kind === 'folder' && removed.some((name) => name.startsWith(`${path}/`));
    return makesRoom ? null : occupant;
  };
}

/** Every content that the patch changes or removes, by id, and the files whose content is not available. */
async function contentsBefore(
  where: OnGitHub,
  files: readonly PatchedPath[],
): Promise<{ contents: Map<string, Buffer>; lost: { path: string; why: string }[] }> {
  const wanted = new Map(
    files.flatMap(({ path, before }) =>
      before === null || before.blob === null || before.mode === '160000'
        ? []
        : [[before.blob, path] as const],
    ),
  );
  const found = await Promise.all(
    [...wanted].map(async ([blob, path]) => ({ blob, path, bytes: await findBlob(where, blob) })),
  );
  return {
    contents: new Map(found.flatMap(({ blob, bytes }) => (typeof bytes === 'string' ? [] : [[blob, bytes]]))),
    lost: found.flatMap(({ path, bytes }) =>
      typeof bytes === 'string' ? [{ path, why: WHY_LOST[bytes] }] : [],
    ),
  };
}

const WHY_LOST = {
  missing: 'its content at the start of the run is not on GitHub, for example because it was not committed',
  'too large': 'it was larger than 32 MiB, and changes to such files are not published',
};

/** A message if the contents cannot be merged. */
async function newState(
  bench: ScratchRepository,
  { before, after }: PatchedPath,
  now: RebasedFile & { do: 'put' },
  known: { contents: ReadonlyMap<string, Buffer>; current: Buffer | null },
): Promise<NonNullable<NewFile['state']> | string> {
  const { mode, content, current } = now;
  if (content === 'tree') return current === null ? 'it is gone' : { mode, blob: current, bytes: null };
  const made = after?.blob ?? '';
  // A nested repository has no content here.
  const bytes = mode === '160000' ? null : ((await bench.read([made])).get(made) ?? null);
  if (content === 'patch') return { mode, blob: made, bytes };
  const then = known.contents.get(before?.blob ?? '');
  const there = known.current;
  if (!then || !there || !bytes) return 'both sides changed it, and it is too large to merge';
  if ([then, there, bytes].some(isBinary)) return 'both sides changed it, and it is binary';
  const merged = await bench.merge({ before: then, now: there, after: bytes });
  return merged === null ? 'both sides changed the same lines' : { mode, ...merged };
}

type FileNow = Occupant & { kind: 'file' };

/** Null if the base has no content for the file, or none that is available or may be read. */
async function contentNow(
  where: OnGitHub,
  { content, current, mode }: RebasedFile & { do: 'put' },
  before: FileNow | null,
  contents: ReadonlyMap<string, Buffer>,
): Promise<Buffer | null> {
  // Of unchanged contents, only a link's target can mean something else than before.
  const isLeft = content === 'tree' && mode !== '120000';
  if (isLeft || current === null || before?.mode === '160000') return null;
  const known = contents.get(current) ?? (await findBlob(where, current));
  return typeof known === 'string' ? null : known;
}

/** Contents that are not changed are given as empty, and so are nested repositories. */
function reviewedFile(
  name: Pick<ReviewedFile, 'path' | 'from'>,
  before: FileNow | null,
  current: Buffer | null,
  { after, content }: { after: NewFile['state']; content: ContentFrom },
): ReviewedFile {
  const isLeft = content === 'tree' && after?.mode !== '120000';
  const textOf = (state: { mode: FileMode } | null, bytes: Buffer | null) =>
    isLeft || state === null || state.mode === '160000' ? '' : (bytes?.toString('utf8') ?? null);
  return {
    ...name,
    before: before === null ? null : { mode: before.mode, blob: before.blob, size: 0 },
    after: after === null ? null : { mode: after.mode, blob: after.blob, size: 0 },
    textBefore: textOf(before, current),
    textAfter: textOf(after, content === 'tree' ? current : (after?.bytes ?? null)),
  };
}

/** The result for a file whose name the API cannot carry; null for any other. */
function nameless({ path, after }: PatchedPath): RebasedFile | null {
  // A byte that is not UTF-8 is represented as a lone surrogate.
  if (after === null || !/\p{Cs}/u.test(path)) return null;
  return { do: 'conflict', path, why: 'its name is not UTF-8, and such files are not published' };
}
