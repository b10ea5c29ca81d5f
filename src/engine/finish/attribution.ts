/** Attributes the patch of a run to the changes that made it, within bounds that keep the end of a run short. */

import { diffLines } from '../../adapters/workspace/patch/line-diff.ts';
import { linesWithin, patchedFiles } from '../../adapters/workspace/patch/patch-files.ts';
import { type AttributedFile, attribute } from '../../domain/changes/attribution.ts';
import type { ChangeSource, CodeChange } from '../../domain/changes/change.ts';
import type { ChangedFile } from '../../domain/changes/changed-file.ts';
import { LineHistory } from '../../domain/changes/line-history.ts';
import type { FileProvenance, Provenance } from '../../domain/changes/provenance.ts';
import { pathsBehind } from '../../domain/changes/recorded-steps.ts';
import { listed } from '../../domain/text/listed.ts';
import { type Warning, warning } from '../../domain/warnings/warning.ts';
import { textLines } from '../../git/store/blobs.ts';
import type { ReadBlobs } from '../../ports/workspace.ts';
import { MAX_STATE_BYTES, statesToRead } from './states-to-read.ts';

/** Maximum lines of one state, and of all states together: each line is a separate object. */
const MAX_STATE_LINES = 50_000;
const MAX_STATES_LINES = 500_000;

/** Maximum number of single-file changes that are followed line by line. */
const MAX_CHANGES = 5_000;

/** Maximum number of files in `result.json`; `patchsmith blame` shows the rest. */
const MAX_FILES = 1_000;
const MAX_HUNKS = 5_000;

/** The patch of a run and the changes that led to it. */
export interface PatchedRun {
  /** Bytes of the patch. */
  readonly patch: Uint8Array;
  readonly files: readonly ChangedFile[];
  /** All recorded changes in order, including those before the first turn. */
  readonly changes: readonly CodeChange[];
  readonly takesIn: (source: ChangeSource) => boolean;
  /** True when there is no time to follow lines: every hunk then names all changes of its file. */
  readonly inHurry: boolean;
  /** Reads from the shadow repository, which has the contents of all states. */
  readonly read: ReadBlobs;
}

/** `hunks` is null for a binary file; `cut` says what else is missing or inexact. */
export interface AttributedPatchFile extends AttributedFile {
  readonly cut: string | null;
}

/** Every file of the patch with its changes, and every changed line with those that made it. */
export async function attributePatch(run: PatchedRun): Promise<AttributedPatchFile[]> {
  const patched = patchedFiles(run.patch, run.files);
  const changes = changesBehind(run);
  const isFollowed = patched !== null && changes.length <= MAX_CHANGES && !run.inHurry;
  const blobs = withinLines(await run.read(isFollowed ? statesToRead(changes) : [], () => MAX_STATE_BYTES));
  const history = new LineHistory({
    changes,
    takesIn: run.takesIn,
    contents: (blob) => textLines(blobs.get(blob) ?? null),
    diff: diffLines,
  });
  return run.files.map((file, at) => {
    const attributed = attribute(patched?.[at] ?? { file, hunks: null }, history);
    return {
      ...attributed,
      cut:
        patched === null
          ? PATCH_TOO_LARGE
          : blurOf(attributed, isFollowed ? NOT_FOLLOWED : run.inHurry ? IN_HURRY : TOO_MANY_CHANGES),
    };
  });
}

/** The same without lines, within the limits of `result.json`. */
export function provenanceOf(files: readonly AttributedPatchFile[]): Provenance {
  let left = MAX_HUNKS;
  const shown = files.slice(0, MAX_FILES).map(({ file, sources, hunks, cut }): FileProvenance => {
    const fits = hunks === null || hunks.length <= left;
    if (fits) left -= hunks?.length ?? 0;
    return {
      path: file.path,
      ...(file.from === undefined ? {} : { from: file.from }),
      sources: [...sources],
      hunks: fits
        ? (hunks?.map(({ lines: _, ...hunk }) => ({ ...hunk, sources: [...hunk.sources] })) ?? null)
        : null,
      cut: fits ? cut : HUNKS_LEFT_OUT,
    };
  });
  return { files: shown, filesLeftOut: files.length - shown.length };
}

/** Warnings about parts of the patch that no tool call made. */
export function foreignPartsOf(files: readonly AttributedPatchFile[]): Warning[] {
  const foreign = files.flatMap(({ file, hunks, sources }) => {
    const makers = hunks && hunks.length > 0 ? hunks.flatMap((hunk) => hunk.sources) : sources;
    const by = new Set(makers.flatMap((origin) => (origin.by === 'tool' ? [] : [origin.by])));
    return by.size > 0 ? [`${file.path} (${[...by].join(', ')})`] : [];
  });
  if (foreign.length === 0) return [];
  return [
    warning(
      'WARN_NOT_BY_TOOL_CALLS',
      `In the patch, although not all of it was made by tool calls: ${listed(foreign, 5)}. patchsmith blame shows which lines.`,
    ),
  ];
}

const PATCH_TOO_LARGE =
  'The patch is larger than 8 MiB or has more than 250,000 lines, so changes are not attributed to single hunks.';
const IN_HURRY =
  'The run was stopped, so every hunk lists all changes to its file. patchsmith blame attributes each hunk.';
const TOO_MANY_CHANGES =
  'There are more than 5,000 file changes, so every hunk lists all changes to its file.';
const NOT_FOLLOWED =
  'A state of the file is binary, larger than 1 MiB or 50,000 lines, or unavailable, so lines may list too many changes.';
const HUNKS_LEFT_OUT = 'Left out here: there are more than 5,000 hunks. patchsmith blame shows them.';

function blurOf({ hunks, blurred }: AttributedFile, why: string): string | null {
  return hunks !== null && hunks.length > 0 && blurred ? why : null;
}

function changesBehind({ changes, files }: PatchedRun): CodeChange[] {
  const wanted = files.flatMap(({ path, from }) => (from === undefined ? [path] : [path, from]));
  const behind = pathsBehind(changes, wanted);
  return changes.filter(({ path, from }) => behind.has(path) || (from !== undefined && behind.has(from)));
}

/** The states whose lines can be followed, shortest first. */
function withinLines(blobs: ReadonlyMap<string, Buffer | null>): Map<string, Buffer> {
  const within = new Map<string, Buffer>();
  let left = MAX_STATES_LINES;
  for (const [blob, bytes] of blobs) {
    if (bytes === null) continue;
    const lines = linesWithin(bytes, Math.min(left, MAX_STATE_LINES));
    if (lines === null) continue;
    left -= lines;
    within.set(blob, bytes);
  }
  return within;
}
